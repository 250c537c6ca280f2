package clj

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestRepairOfEditsThatAgentsMake(t *testing.T) {
	// The file before decides much of what the text alone leaves open. Where want is empty, it is open still, and refused.
	tests := []struct{ name, before, text, want string }{
		{
			"a wrapper is put around, and not closed", "(defn save [x]\n  (validate x)\n  (store x))\n\n(defn load [] 1)\n",
			"(defn save [x]\n  (when (ok? x)\n    (validate x)\n    (store x))\n\n(defn load [] 1)\n",
			"(defn save [x]\n  (when (ok? x)\n    (validate x)\n    (store x)))\n\n(defn load [] 1)\n",
		},
		{
			"a wrapper is taken away, and its closer stays", "(defn save [x]\n  (when (ok? x)\n    (validate x)\n    (store x)))\n",
			"(defn save [x]\n  (validate x)\n  (store x)))\n", "(defn save [x]\n  (validate x)\n  (store x))\n",
		},
		{
			"a clause is added, open", "(defn kind [x]\n  (cond\n    (neg? x) :neg\n    :else :pos))\n",
			"(defn kind [x]\n  (cond\n    (neg? x) :neg\n    (zero? x :zero\n    :else :pos))\n",
			"(defn kind [x]\n  (cond\n    (neg? x) :neg\n    (zero? x) :zero\n    :else :pos))\n",
		},
		{
			"a binding is added after the bracket", "(defn sum [m]\n  (let [a (:a m)]\n    (inc a)))\n",
			"(defn sum [m]\n  (let [a (:a m)]\n        b (:b m)]\n    (+ a b)))\n",
			"",
		},
		{
			"a key is added in a map on one line", "(def m {:a {:b 1} :c {:d 2}})\n", "(def m {:a {:b 1 :x 2 :c {:d 2}})\n",
			"(def m {:a {:b 1 :x 2} :c {:d 2}})\n",
		},
		{
			"an argument changes on one line", "(foo (bar a) (baz b c))\n", "(foo (bar a x (baz b c))\n", "",
		},
		{
			"an argument changes, one too many", "(foo (bar a) (baz b c))\n", "(foo (bar a x)) (baz b c))\n", "(foo (bar a x) (baz b c))\n",
		},
		{
			"an argument changes, the wrong kind", "(foo [bar a] (baz b c))\n", "(foo [bar a x) (baz b c))\n", "(foo [bar a x] (baz b c))\n",
		},
		{
			"an opener is lost", "(defn total [xs]\n  (reduce + (map :n xs)))\n", "(defn total [xs]\n  (reduce + 0 map :n xs)))\n",
			"(defn total [xs]\n  (reduce + 0 (map :n xs)))\n",
		},
		{
			"code that is not indented", "(defn f [x]\n(println x)\n(inc x))\n\n(def a 1)\n",
			"(defn f [x]\n(println (str x)\n(inc x))\n\n(def a 1)\n", "",
		},
		{
			"a function is added at the end, cut off", "(ns a)\n\n(defn f [x] x)\n", "(ns a)\n\n(defn f [x] x)\n\n(defn g [x]\n  (let [y 1]\n    (f y",
			"(ns a)\n\n(defn f [x] x)\n\n(defn g [x]\n  (let [y 1]\n    (f y)))",
		},
		{
			"the last line is replaced without the closers", "(deftest t\n  (testing \"a\"\n    (is (= 1 1))\n    (is (= 2 2))))\n\n(deftest u)\n",
			"(deftest t\n  (testing \"a\"\n    (is (= 1 1))\n    (is (= 3 3)\n\n(deftest u)\n",
			"(deftest t\n  (testing \"a\"\n    (is (= 1 1))\n    (is (= 3 3))))\n\n(deftest u)\n",
		},
		{
			"a threading step is added", "(-> m (assoc :a 1) (dissoc :b))\n", "(-> m (assoc :a 1) (update :c inc (dissoc :b))\n",
			"(-> m (assoc :a 1) (update :c inc) (dissoc :b))\n",
		},
		{
			"hiccup, a row is added", "[:ul\n [:li 1]\n [:li 3]]\n", "[:ul\n [:li 1]\n [:li [:b 2]\n [:li 3]]\n", "[:ul\n [:li 1]\n [:li [:b 2]]\n [:li 3]]\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := Repair([]byte(test.text), RepairOptions{Before: []byte(test.before)})
			if test.want == "" {
				assert.Assert(t, r.Refused != "", "became\n%s", r.Text)
				return
			}
			assert.Equal(t, r.Refused, "", "%v", r.Places)
			assert.Equal(t, string(r.Text), test.want)
		})
	}
}
