package namespaces

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"
)

// in makes a folder with these files, and returns its real path.
func in(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(fs.NewDir(t, "project").Path())
	assert.NilError(t, err)
	for name, text := range files {
		path := filepath.Join(dir, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

func TestSourcePaths(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no build file":           {nil, "src test"},
		"deps without paths":      {map[string]string{"deps.edn": "{:deps {a/b {:mvn/version \"1\"}}}"}, "src test"},
		"deps":                    {map[string]string{"deps.edn": `{:paths ["src/main" "resources"]}`}, "src/main resources"},
		"deps, aliases":           {map[string]string{"deps.edn": `{:paths [:all "gen"] :aliases {:all ["a" "b"] :test {:extra-paths ["test" "gen"]} :build {:replace-paths ["."] :paths ["build"]}}}`}, "a b gen test"},
		"deps, everything":        {map[string]string{"deps.edn": `{:paths ["."]}`}, ""},
		"lein":                    {map[string]string{"project.clj": `(defproject a/b "1.0" :description "x")`}, "src test"},
		"lein, own":               {map[string]string{"project.clj": ";; c\n(def v 1)\n(defproject a \"1\" :source-paths ^:replace [\"src/clj\" ~extra] :profiles {:dev {:test-paths [\"it\"] :source-paths [\"dev\"]}})"}, "src/clj dev test it"},
		"lein that says too much": {map[string]string{"project.clj": `(defproject a)`}, "src test"},
		"shadow-cljs":             {map[string]string{"shadow-cljs.edn": `{:source-paths ["src/cljs"] :builds {}}`}, "src/cljs"},
		"bb":                      {map[string]string{"bb.edn": `{:paths ["script"] :tasks {}}`}, "script"},
		"several":                 {map[string]string{"bb.edn": `{:paths ["bb" "src"]}`, "deps.edn": `{:paths ["src"]}`, "shadow-cljs.edn": "{:deps true}"}, "src bb"},
		"broken":                  {map[string]string{"deps.edn": `{:paths ["sr`}, "src test"},
		"wrong types":             {map[string]string{"deps.edn": `{:paths "src" :aliases [1 2]}`, "bb.edn": "[]"}, "src test"},
		"empty":                   {map[string]string{"deps.edn": ""}, "src test"},
		"too large":               {map[string]string{"deps.edn": `{:paths ["x"]} ;` + strings.Repeat("x", maxBuildFile)}, "src test"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := in(t, c.files)
			var want []string
			for p := range strings.SplitSeq(c.want, " ") {
				want = append(want, filepath.Join(dir, p))
			}
			assert.DeepEqual(t, SourcePaths(dir), want)
		})
	}
}
