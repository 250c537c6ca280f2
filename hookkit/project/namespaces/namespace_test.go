package namespaces

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"(ns a.b)":                            "a.b:",
		"":                                    "",
		"(def x 1)":                           "",
		"#!/usr/bin/env bb\n;; hello\n(ns a)": "a:",
		"(ns ^:dev ^{:doc \"x\"} a \"doc\" {:a 1})":                                                              "a:",
		"(ns a (:require b [c :as d] [e.f :refer [g]]) (:use h) (:gen-class))":                                   "a: b c e.f h",
		"(ns a (:require (x [y :as z] w) [p q [r :as s]]))":                                                      "a: x.y x.w p.q p.r",
		"(ns a (:import java.util.Date (my_app.core Rec Other) [b.c D]))":                                        "a: java.util my-app.core b.c",
		"(ns a (:require #?(:clj [b :as c] :cljs [d :as c]) #?@(:clj [[e] f])) #?(:cljs (:require-macros [g])))": "a: b d e f g",
		"(ns a (:require [a :as self] [\"react\" :as r] b b))":                                                   "a: b",
		"(comment (ns x))\n(set! *warn-on-reflection* true)\n(ns a (:require b))":                                "a: b",
		"(ns a (:require [b":              "a: b",
		"(ns":                             "",
		"(ns \"a\")":                      "",
		"(\"ns\" a) (ns b)":               "b:",
		"[(ns x)] (ns b)":                 "b:",
		"(ns b) (ns c)":                   "b:",
		"(ns a (:require 'b ['c :as d]))": "a: b",
		"(clojure.core/ns a (require b))": "a:",
	} {
		ns, ok := Read([]byte(text))
		got := ""
		if ok {
			got = strings.TrimSuffix(ns.Name+": "+strings.Join(ns.Requires, " "), " ")
		}
		assert.Equal(t, got, want, text)
	}
}

// Nothing in a file can make reading its ns form panic.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"(ns a (:require [b :as c]))", "#?(:clj (ns a))", "(ns ^a #_b c (:use))", "(ns a (:import (b)))"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ns, ok := Read([]byte(text))
		assert.Assert(t, ok == (ns.Name != ""))
	})
}

func file(path, name string, requires ...string) File {
	return File{Path: path, Namespace: Namespace{Name: name, Requires: requires}}
}

func order(files []File) string {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return strings.Join(paths, " ")
}

func TestLoadOrder(t *testing.T) {
	t.Parallel()
	for want, files := range map[string][]File{
		"":               nil,
		"a b c":          {file("c", "c"), file("a", "a"), file("b", "b")},
		"c b a":          {file("a", "a", "b"), file("b", "b", "c", "elsewhere"), file("c", "c")},
		"b a c":          {file("a", "a", "b"), file("b", "b", "a"), file("c", "c", "c")},
		"u v":            {file("v", ""), file("u", "")},
		"l.clj l.cljs m": {file("m", "m", "l"), file("l.cljs", "l"), file("l.clj", "l")},
	} {
		assert.Equal(t, order(LoadOrder(files)), want)
	}
}

// Each file once, and after what it requires wherever nothing goes in a circle.
func TestLoadOrderProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		var files []File
		for i := range n {
			f := file(string(rune('a'+rapid.IntRange(0, 25).Draw(t, "path")))+string(rune('a'+i)), string(rune('A'+i)))
			for j := range i { // of earlier ones only: no circle
				if rapid.Bool().Draw(t, "requires") {
					f.Namespace.Requires = append(f.Namespace.Requires, string(rune('A'+j)))
				}
			}
			files = append(files, f)
		}
		at := map[string]int{}
		got := LoadOrder(files)
		for i, f := range got {
			at[f.Namespace.Name] = i
		}
		assert.Equal(t, len(got), n)
		assert.Equal(t, len(at), n)
		for _, f := range got {
			for _, name := range f.Namespace.Requires {
				assert.Assert(t, at[name] < at[f.Namespace.Name], "%v", got)
			}
		}
	})
}
