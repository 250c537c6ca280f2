package failure

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/clj"
)

func TestJVMFrames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		frames string // [class method file line] of each call
		want   string // symbol, and "!" where it is the code that was sent
	}{
		{`["shop.core$total_BANG_" "invokeStatic" "core.clj" 3]["shop.core$total_BANG_" "invoke" "core.clj" 2]`, "shop.core/total!"},
		{`["shop.my_core$__GT_map_QMARK_$fn__12" "invoke" "my_core.clj" 3]`, "shop.my-core/->map?/fn"},
		{`["user$eval12" "invokeStatic" "NO_SOURCE_FILE" 1]["user$eval12" "invoke" "NO_SOURCE_FILE" 1]`, "user!"},
		{`["user$eval12$f__13" "invoke" "NO_SOURCE_FILE" 1]`, "user/f!"},
		{`["shop.core$eval1$loading__6789__auto____2" "invoke" "core.clj" 1]`, "shop.core!"},
		{`["shop.core.Cart" "price_of" "core.clj" 9]`, "shop.core.Cart/price-of"},
		{`["shop.core$reify__9" "price" "core.clj" 9]`, "shop.core/reify"},
		{`["shop.core$fn__1$G__2__3" "invoke" "core.clj" 9]`, ""},
		{`["java.lang.Long" "parseLong" "Long.java" 600]`, "java.lang.Long.parseLong"},
		{`["clojure.core$eval" "invokeStatic" "core.clj" 3215]`, "clojure.core/eval"},
		{`["shop.core$rec" "invoke" "core.clj" 3]["shop.core$rec" "invoke" "core.clj" 3]`, "shop.core/rec shop.core/rec"},
		{`["a" "b"] 1 nil [1 2 3 4]`, "."},
	} {
		nodes, _ := clj.ReadAll("", []byte("["+tt.frames+"]"), clj.Options{})
		var got []string
		for _, f := range jvmFrames(nodes[0]) {
			symbol := f.symbol
			if f.here {
				symbol += "!"
			}
			got = append(got, symbol)
		}
		assert.Equal(t, strings.Join(got, " "), tt.want, "%s", tt.frames)
	}
}

// sci tells where calls were made, which says in which function the next place is only if no function of the host is between.
func TestSCIFrames(t *testing.T) {
	t.Parallel()
	calls := []sciCall{
		{ns: "user", line: 1, calleeNs: "shop.core", callee: "go"},
		{ns: "shop.core", file: "a.clj", line: 9, calleeNs: "clojure.core", callee: "mapv"},
		{ns: "shop.core", file: "a.clj", line: 5, calleeNs: "shop.core", callee: "half"},
		{ns: "shop.core", file: "a.clj", line: 3, calleeNs: "clojure.core", callee: "/"},
	}
	assert.DeepEqual(t, sciFrames(calls), []rawFrame{
		{symbol: "shop.core/half", ns: "shop.core", file: "a.clj", line: 3},
		{symbol: "shop.core", ns: "shop.core", file: "a.clj", line: 5},
		{symbol: "shop.core/go", ns: "shop.core", file: "a.clj", line: 9},
		{symbol: "user", ns: "user", line: 1, here: true},
	}, cmp.AllowUnexported(rawFrame{}))
}

func TestOutline(t *testing.T) {
	t.Parallel()
	const src = `(ns ^:dev shop.core (:require [clojure.string :as str]))
(def ^:private rate 2)
(defn ^String total "Sum." {:added "1"} [items & {:keys [currency] :or {currency :eur}}]
  (let [{[first-item] :items, n :count} items]
    (for [x items :let [y x]] (fn ([a] a) ([a b] b)))))
(defprotocol Priced (price [this]))
(defmulti kind :type)
(do (defonce state (atom {})))
(comment (defn tried [] 1))
(defn broken [x`
	o := outlineOf([]byte(src), 4)
	assert.Equal(t, o.ns, "shop.core")
	var names []string
	for _, d := range o.definitions {
		names = append(names, d.name+d.arglists)
	}
	assert.DeepEqual(t, names, []string{
		"rate", "total[items & {:keys [currency] :or {currency :eur}}]", "Priced", "price", "kind", "state", "tried[]", "broken[x",
	})
	slices.Sort(o.locals)
	assert.DeepEqual(t, o.locals, []string{"a", "b", "currency", "first-item", "items", "n", "x", "y"})
}

func TestImportable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Date": "java.util.Date", "Date.": "java.util.Date", "File": "java.io.File", "SimpleDateFormat": "java.text.SimpleDateFormat",
		"Dat": "", "util": "", "": "", "-": "",
	} {
		assert.Equal(t, importable(name), want, "%q", name)
	}
}
