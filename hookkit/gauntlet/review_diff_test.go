package gauntlet

import (
	"maps"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

const someDiff = `diff --git a/till.go b/till.go
index 111..222 100644
--- a/till.go
+++ b/till.go
@@ -1,5 +1,7 @@ package till
 package till
 
-func total() int { return 0 }
+func total(prices []int) int {
+	return 0
+}
 
 // end
@@ -20 +22 @@
-a
+++ b
diff --git "a/d\303\251j\303\240.txt" "b/d\303\251j\303\240.txt"
new file mode 100644
--- /dev/null
+++ "b/d\303\251j\303\240.txt"
@@ -0,0 +1,2 @@
+one
+two
\ No newline at end of file
diff --git a/with space.go b/with space.go
--- a/with space.go	
+++ b/with space.go	
@@ -3,2 +3 @@
 kept
-gone
diff --git a/old.go b/old.go
deleted file mode 100644
--- a/old.go
+++ /dev/null
@@ -1 +0,0 @@
-gone
`

func TestReadDiff(t *testing.T) {
	t.Parallel()
	d := readDiff([]byte(someDiff))
	added := func(file string) []int { return slices.Sorted(maps.Keys(d[file].added)) }
	assert.DeepEqual(t, added("till.go"), []int{3, 4, 5, 22})
	assert.DeepEqual(t, added("déjà.txt"), []int{1, 2})
	assert.Equal(t, len(added("with space.go")), 0)
	assert.Assert(t, d.has("till.go", 4) && d.has("till.go", 0) && !d.has("till.go", 6) && !d.has("old.go", 1) && !d.has("other.go", 0))
	assert.Assert(t, !d.has("with space.go", 0), "nothing was added there")
}

func TestDiffAroundALine(t *testing.T) {
	t.Parallel()
	d := readDiff([]byte(someDiff))
	assert.Equal(t, d.around("till.go", 4), " package till\n \n-func total() int { return 0 }\n+func total(prices []int) int {\n+\treturn 0\n+}\n \n // end\n")
	assert.Equal(t, d.around("till.go", 22), "-a\n+++ b\n")
	assert.Equal(t, d.around("till.go", 100), "")
	assert.Equal(t, d.around("none.go", 1), "")
}

func TestCleanName(t *testing.T) {
	t.Parallel()
	d := readDiff([]byte(someDiff))
	for name, want := range map[string]string{
		"till.go": "till.go", "./till.go": "till.go", "b/till.go": "till.go", "a/till.go": "till.go", "/home/dev/till/till.go": "till.go",
		"`till.go`": "till.go", "\"till.go\"": "till.go", "a/other.go": "a/other.go", "/etc/passwd": "/etc/passwd",
	} {
		assert.Equal(t, d.cleanName(name, "/home/dev/till"), want, "%q", name)
	}
}
