package reload

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// What a fresh start would not know is hidden before a load; a name that is bound, or defined before, is not.
func TestEarly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"(defn f [] (x 1))":                            true,
		"(defn f [x] (x 1))":                           false,
		"(defn f ([] 1) ([x] x))":                      false,
		"(defn f [] (let [x 1] x))":                    false,
		"(defn f [] (let [y x] y))":                    true,
		"(defn f [] (map g [x]))":                      true,
		"(defn f [] (letfn [(g [x] x)] g))":            false,
		"(defn f [] (reify P (m [_ x] x)))":            false,
		"(defn f [{:keys [x]}] x)":                     false,
		"(defn f [& x] x)":                             false,
		"(defn f [] (x)) (defn x [] 1)":                true,
		"(declare x) (defn f [] (x)) (defn x [] 1)":    false,
		"(defn x [] 1) (defn f [] (x))":                false,
		"(defrecord T [a]) (def y (->T 1))":            false,
		"(let [y 1] (defn x [] y)) (x)":                false,
		"(defn f [] (n.s/x))":                          true,
		"(defn f [] (other/x))":                        false,
		"(comment (x))":                                false,
		"#?(:clj (def x 1) :cljs (def y x)) (def z x)": false,
		"#?(:cljs (def x 1)) (def z x)":                true,
		"(defprotocol P (x [_])) (x 1)":                false,
		"(defmacro m [] `(x))":                         true,
		"(defmulti x :k) (defmethod x 1 [_])":          false,
		"(defmethod x 1 [_])":                          true,
		"(t/deftest x (is 1)) x":                       false,
		"(def ^{:doc \"d\"} x 1) x":                    false,
		"(ns n.s (:require [o :refer [x]]))":           true,
		"(doseq [x [1] y x] y)":                        false,
		"(defn f [] #(x %))":                           true,
	} {
		n := namesOf([]byte("(ns n.s)\n" + text))
		name := "x"
		if strings.Contains(text, "->T") {
			name = "->T"
		}
		assert.Equal(t, n.early(name), want, text)
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int{
		"(ns u (:require [n.s :as s]))\n(s/x)\n(s/y)\n(defn f [] (s/x)\n s/x)": {2, 4, 5},
		"(ns u (:require [n.s\n:refer [x]]))\n(x)\n(defn f [x] x)":             {2, 3},
		"(ns u (:use n.s))\n(x)":                                {2},
		"(ns u (:use [n.s :only [y]]))\n(x)":                    nil,
		"(ns u (:require [n.s :refer [z] :rename {x z}]))\n(x)": nil,
		"(ns u)\n(n.s/x)":                                       {2},
		"(ns n.s)\n(x)":                                         {2},
		"(ns n.s)\n(def x 1)\n(x)":                              nil,
		"(ns u (:require [other :as s]))\n(s/x)":                nil,
		"(ns u (:require #?(:clj [n.s :as s])))\n#'s/x":         {2},
	} {
		var lines []int
		for _, use := range Uses("u.clj", []byte(text), "n.s", []string{"x"}) {
			lines = append(lines, use.Line)
		}
		assert.Assert(t, slices.Equal(lines, want), fmt.Sprint(text, lines))
	}
}

// Forms whose value a load keeps are told apart by their text.
func TestKept(t *testing.T) {
	t.Parallel()
	a, b := namesOf([]byte("(ns n)(defonce x 1)(defmulti m :a)")).kept(), namesOf([]byte("(ns n) (defonce x 1) (defmulti m :b)")).kept()
	assert.Assert(t, a["x"] == b["x"] && a["m"] != b["m"] && len(a) == 2)
}
