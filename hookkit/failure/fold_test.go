package failure_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/failure"
)

// Two ERRORs with 8 KB of clojure.lang frames become short: the project's calls stay, with what stands between the traces.
func TestFold(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, file := range []string{"src/shop/cart.clj", "test/shop/cart_test.clj"} {
		assert.NilError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(file)), 0o700))
		assert.NilError(t, os.WriteFile(filepath.Join(root, file), nil, 0o600))
	}
	paths := func() []string { return []string{filepath.Join(root, "src"), filepath.Join(root, "test")} }
	one := `ERROR in (total-test) (Numbers.java:188)
Uncaught exception, not in assertion.
expected: nil
  actual: java.lang.ArithmeticException: Divide by zero
 at clojure.lang.Numbers.divide (Numbers.java:188)
    clojure.lang.Numbers.divide (Numbers.java:3901)
    shop.cart$total.invokeStatic (cart.clj:12)
    shop.cart$total.invoke (cart.clj:11)
    shop.cart_test$fn__140.invoke (cart_test.clj:5)
` + strings.Repeat("    clojure.test$test_var$fn__9856.invoke (test.clj:717)\n", 40) + `    user$eval2366.invokeStatic (REPL:1)
	at java.base/java.lang.Thread.run(Thread.java:840)`
	want := `ERROR in (total-test) (Numbers.java:188)
Uncaught exception, not in assertion.
expected: nil
  actual: java.lang.ArithmeticException: Divide by zero
 … 2 calls outside of the project
    shop.cart$total.invokeStatic (cart.clj:12)
    shop.cart$total.invoke (cart.clj:11)
    shop.cart_test$fn__140.invoke (cart_test.clj:5)
    … 42 calls outside of the project`
	assert.Equal(t, failure.Fold(one+"\n\n"+one+"\nRan 2 tests", paths), want+"\n\n"+want+"\nRan 2 tests")
	for _, same := range []string{"", "FAIL in (a) (a.clj:3)\nx", "  (a (b:1)\n  (c (d:2)\n", "see a.b (the docs:12)\nand c (1:2)\n", "one\n at clojure.lang.X.y (X.java:1)\n"} {
		assert.Equal(t, failure.Fold(same, paths), same)
	}
}
