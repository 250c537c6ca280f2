package namespaces

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// graph reads "a: b c" as the ns form of a that requires b and c.
func graph(lines ...string) (files []File) {
	for _, line := range lines {
		name, requires, _ := strings.Cut(line, ":")
		ns, _ := Read([]byte("(ns " + name + " (:require " + requires + "))"))
		files = append(files, File{Path: name + ".clj", Namespace: ns})
	}
	return files
}

func TestDependents(t *testing.T) {
	t.Parallel()
	files := graph("a:", "b: a", "c: b", "d: x", "e: gone")
	for changed, want := range map[string]string{"a": "a b c", "b": "b c", "c": "c", "x": "d", "gone": "e", "": ""} {
		got := Dependents(files, map[string]bool{changed: true})
		assert.Equal(t, strings.Join(slices.Sorted(maps.Keys(got)), " "), want, changed)
	}
}

func TestCycle(t *testing.T) {
	t.Parallel()
	for want, files := range map[string][]File{
		"":        graph("a: b", "b: c", "c: x"),
		"a b a":   graph("a: b", "b: a"),
		"b c d b": graph("a: b", "b: c", "c: d", "d: b"),
	} {
		assert.Equal(t, strings.Join(Cycle(files), " "), want)
	}
	// An import loads nothing, and neither does what another language requires.
	ns := func(text string) Namespace { n, _ := Read([]byte(text)); return n }
	assert.Equal(t, len(Cycle([]File{
		{Path: "a", Namespace: ns("(ns a (:require b))")}, {Path: "b", Namespace: ns("(ns b (:import (a R)) #?(:cljs (:require a)) (:require [a :as-alias x]))")},
	})), 0)
}

func TestReadNames(t *testing.T) {
	t.Parallel()
	n, _ := Read([]byte("(ns a (:require [b :as c :refer [d e] :rename {e f}] [g :refer :all] [h :as-alias i]) (:use j [k :only [l]]))"))
	assert.DeepEqual(t, n.Aliases, map[string]string{"c": "b", "i": "h"})
	assert.DeepEqual(t, n.Refers, map[string]string{"d": "b", "e": "b", "f": "b", "l": "k"})
	assert.DeepEqual(t, n.All, []string{"g", "j"})
	assert.DeepEqual(t, n.Loads, []string{"b", "g", "j", "k"})
}
