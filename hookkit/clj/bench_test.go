package clj

import (
	"bytes"
	"testing"
)

// sample is ordinary Clojure, about as dense in tokens as real code.
const sample = `(ns app.core
  "Reads orders (and only orders)."
  (:require [clojure.string :as str]
            [clojure.set :refer [union]]))

;; The limit is per customer; it's (roughly) a month.
(def ^:private limit 1000)

(defn total
  "Sum of the items, with \"escapes\" in the text."
  [{:keys [items discount] :or {discount 0}}]
  (let [sum (reduce + 0 (map :price items))]
    (if (pos? discount)
      (* sum (- 1.0 (/ discount 100)))
      sum)))

(defmethod report :default [order & opts]
  #_(println order)
  (->> order :items (filter #(> (:price %) limit)) (map (comp str/upper-case name :id)) set))
`

func sampleOf(size int) []byte {
	return bytes.Repeat([]byte(sample), size/len(sample)+1)[:size/len(sample)*len(sample)]
}

func BenchmarkCheckDelimiters(b *testing.B) {
	src := sampleOf(10 << 20)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if errs := CheckDelimiters("bench.clj", src); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func BenchmarkScanner(b *testing.B) {
	src := sampleOf(10 << 20)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		s := NewScanner(src)
		for t := s.Next(); t.Kind != TokenEOF; t = s.Next() {
			_ = t
		}
	}
}

func BenchmarkReadAll(b *testing.B) {
	src := sampleOf(10 << 20)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := ReadAll("bench.clj", src, Options{Dialect: Clojure}); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func BenchmarkReadConfig(b *testing.B) {
	src := []byte(`{:stop [{:name "run-tests" :type :repl :code "(run-tests)" :retry-on-failure? true :max-retries 10 :required? true :timeout 120}
 {:name "lint" :type :bash :command "clj-kondo --lint src" :timeout 30 :env {"A" "b"}}]}`)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := ReadAll("hooks.edn", src, Options{}); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func BenchmarkRepair(b *testing.B) {
	// One closer is missing in the first form of 1 MB.
	src := append([]byte("(defn f [x]\n  (inc x)\n\n"), sampleOf(1<<20)...)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if r := Repair(src, RepairOptions{}); r.Refused != "" {
			b.Fatal(r.Refused)
		}
	}
}

func BenchmarkRepairOneForm(b *testing.B) {
	// The damage is in a form of 100 KB, which has to be searched as a whole.
	src := append([]byte("(do (defn f [x]\n  (inc x)\n\n"), bytes.ReplaceAll(sampleOf(100<<10), []byte("\n"), []byte("\n  "))...)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		Repair(src, RepairOptions{})
	}
}
