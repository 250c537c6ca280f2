package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"

	"github.com/hookkit/brepl/hookkit/hooksedn"
)

func suiteOf(t *testing.T, files map[string]string) *Suite {
	t.Helper()
	dir := fs.NewDir(t, "tests")
	for name, text := range files {
		path := dir.Join(filepath.FromSlash(name))
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	s, err := Find(t.Context(), dir.Path(), nil)
	assert.NilError(t, err)
	return s
}

func namesOf(list []Namespace) string {
	var all []string
	for _, n := range list {
		all = append(all, n.Name)
	}
	return strings.Join(all, " ")
}

var shop = map[string]string{
	"deps.edn":                    `{:paths ["src"] :aliases {:test {:extra-paths ["test"]} :it {:extra-paths ["it/test"]}}}`,
	"src/shop/cart.clj":           "(ns shop.cart)",
	"src/shop/inline.clj":         "(ns shop.inline (:require [clojure.test :refer [deftest]]))\n(deftest x)",
	"src/shop/tools.clj":          "(ns shop.tools (:require [clojure.test :as t]))\n(defn report [])",
	"test/shop/cart_test.clj":     "(ns shop.cart-test (:require [shop.cart]))",
	"test/shop/slow_test.cljc":    "(ns shop.slow-test)",
	"test/shop/props.clj":         "(ns shop.props (:require [clojure.test.check.clojure-test :refer [defspec]] clojure.test))\n(defspec p 10)",
	"test/shop/browser_test.cljs": "(ns shop.browser-test)",
	"test/shop/helper.clj":        "(ns shop.helper)",
	"it/test/shop/db_test.clj":    "(ns shop.db-test (:require shop.inline))",
	"other/shop/other_test.clj":   "(ns shop.other-test)",
	"test/shop/no_ns_test.clj":    "(in-ns 'shop.none-test)",
}

func TestFind(t *testing.T) {
	t.Parallel()
	s := suiteOf(t, shop)
	for _, c := range []struct {
		title   string
		options hooksedn.TestOptions
		names   string
	}{
		{"all", hooksedn.TestOptions{}, "shop.cart-test shop.db-test shop.inline shop.props shop.slow-test"},
		{"a folder", hooksedn.TestOptions{Paths: []string{"test"}}, "shop.cart-test shop.props shop.slow-test"},
		{"without a file", hooksedn.TestOptions{Paths: []string{"test/**"}, Exclude: []string{"**/slow_*"}}, "shop.cart-test shop.props"},
		{"a regex is the server's", hooksedn.TestOptions{Namespaces: "x", Paths: []string{"test"}}, "shop.cart-test shop.helper shop.props shop.slow-test"},
	} {
		assert.Equal(t, namesOf(s.Tests(c.options)), c.names, c.title)
	}
	assert.Equal(t, s.Scripts, 1)
	all := s.Tests(hooksedn.TestOptions{})
	assert.Equal(t, all[1].Folder, "it/test")
	assert.Equal(t, all[1].resource(), "shop/db_test.clj")
}

func TestOrder(t *testing.T) {
	t.Parallel()
	s := suiteOf(t, shop)
	now := time.Now()
	for i := range s.Namespaces {
		s.Namespaces[i].Modified = now.Add(-time.Hour)
		if s.Namespaces[i].Name == "shop.cart" { // the test needs what was changed last
			s.Namespaces[i].Modified = now
		}
	}
	chosen := s.Tests(hooksedn.TestOptions{})
	s.sort(chosen, nil)
	assert.Equal(t, namesOf(chosen), "shop.cart-test shop.db-test shop.inline shop.props shop.slow-test")
	s.sort(chosen, []string{"shop.slow-test/x", "shop.props"})
	assert.Equal(t, namesOf(chosen), "shop.props shop.slow-test shop.cart-test shop.db-test shop.inline")
	assert.Equal(t, namesOf(s.Reached(chosen, []string{"src/shop/inline.clj"})), "shop.db-test shop.inline")
	assert.Equal(t, namesOf(s.Reached(chosen, []string{"test/shop/helper.clj"})), "")
}

// Namespaces that need each other have an end.
func TestOrderOfCycles(t *testing.T) {
	t.Parallel()
	s := suiteOf(t, map[string]string{
		"src/a.clj": "(ns a (:require b))", "src/b.clj": "(ns b (:require a))", "test/a_test.clj": "(ns a-test (:require a))",
	})
	assert.Equal(t, namesOf(s.Reached(s.Tests(hooksedn.TestOptions{}), []string{"src/b.clj"})), "a-test")
}

func TestMemory(t *testing.T) {
	t.Parallel()
	s := suiteOf(t, shop)
	state := t.TempDir()
	getenv := func(name string) string { return map[string]string{"BREPL_STATE_DIR": state}[name] }
	recall := func() *Memory { return Recall(getenv, s.Root, "tests") }
	chosen := s.Tests(hooksedn.TestOptions{})

	_, known := recall().Changed(s)
	assert.Assert(t, !known)
	failing := &Result{Failures: 2, Failing: []Case{{Namespace: "shop.cart-test", Test: "total"}, {Namespace: "shop.props"}}}
	assert.NilError(t, recall().Keep(s, chosen, nil, failing, true))
	assert.DeepEqual(t, recall().Failed, []string{"shop.cart-test/total", "shop.props"})
	_, known = recall().Changed(s)
	assert.Assert(t, !known, "nothing has passed yet")

	// A run of one test says nothing about the others.
	assert.NilError(t, recall().Keep(s, chosen[:1], map[string][]string{"shop.cart-test": {"other"}}, &Result{Tests: 1}, false))
	assert.DeepEqual(t, recall().Failed, []string{"shop.cart-test/total", "shop.props"})
	assert.NilError(t, recall().Keep(s, chosen[:1], nil, &Result{Tests: 1}, false))
	assert.DeepEqual(t, recall().Failed, []string{"shop.props"})

	assert.NilError(t, recall().Keep(s, chosen, nil, &Result{Tests: 5, Partial: "not all"}, true))
	_, known = recall().Changed(s)
	assert.Assert(t, !known, "a part that passed is not all")
	assert.NilError(t, recall().Keep(s, chosen, nil, &Result{Tests: 5}, true))
	files, known := recall().Changed(s)
	assert.Assert(t, known && len(files) == 0)
	assert.Equal(t, len(recall().Failed), 0)

	path := filepath.Join(s.Root, "src/shop/cart.clj")
	assert.NilError(t, os.WriteFile(path, []byte("(ns shop.cart)\n(def x 1)"), 0o600))
	s, err := Find(t.Context(), s.Root, nil)
	assert.NilError(t, err)
	files, known = recall().Changed(s)
	assert.Assert(t, known)
	assert.DeepEqual(t, files, []string{"src/shop/cart.clj"})
	assert.NilError(t, os.Remove(path))
	s, err = Find(t.Context(), s.Root, nil)
	assert.NilError(t, err)
	_, known = recall().Changed(s)
	assert.Assert(t, !known, "who needed a file that is gone is not known")
}

// What the server sends is bounded and never believed further than its form.
func TestEvents(t *testing.T) {
	t.Parallel()
	run := &Run{Suite: suiteOf(t, shop)}
	r := &reader{run: run, result: &Result{}}
	whole := mark + `{:event :begin :ns "shop.cart-test"}` + "\nnoise\n" + mark + "{:event\n" + mark + "nil\n" + mark + "17\n" + mark + "{:event :test :failures 3 :ns nil}\n" +
		"before it " + mark + `{:event :ns :ns "shop.cart-test" :test 2 :pass 1 :fail 1 :ms 12}` + "\n"
	for i := range len(whole) { // in pieces, as servers send it
		r.out(whole[i : i+1])
	}
	assert.Equal(t, r.result.Tests, 2)
	assert.Equal(t, r.result.Failures, 1)
	r.out(mark + strings.Repeat("x", maxLine+1) + "\n")
	for i := range maxCases + 10 {
		r.out(fmt.Sprintf("%s{:event :test :ns \"a\" :test \"t%d\" :failures [{:type :fail :expected \"%s\"}]}\n", mark, i, strings.Repeat("x", 3000)))
	}
	assert.Equal(t, len(r.result.Failing), maxCases)
	for _, limit := range []int{500, 2000, 8000} {
		told := r.result.Text(limit)
		assert.Assert(t, len(told) <= limit && strings.Contains(told, " more failed: "), "%d: %d", limit, len(told))
	}
	assert.Assert(t, len(r.result.Failing[1].Text()) < 2500)
}

// Pins that the request hands a pattern over as it is, and keywords as keywords.
func TestRequest(t *testing.T) {
	r := Run{Options: hooksedn.TestOptions{Namespaces: "shop[:].*", Focus: []string{"fast", "db/none"}}}
	assert.Equal(t, r.request(nil), `(quote {:mark "brepl-tests " :pattern "shop[:].*" :focus [:fast :db/none ] :skip [] :only {} :namespaces []})`)
}
