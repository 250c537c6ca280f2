//go:build unix

package integration

import (
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// stepWorld is a project with a REPL on a real JVM that has loaded its files by require, as people's have.
type stepWorld struct {
	*world
	t       *testing.T
	session *nrepl.Session
}

// newStepWorld makes one. The server finds the files on its class path.
func newStepWorld(t *testing.T, files map[string]string) *stepWorld {
	t.Helper()
	needJVM(t)
	w := newWorld(t, "", fakes.WithFile("deps.edn", `{:paths ["src"] :aliases {:test {:extra-paths ["test"]}}}`, 0o644))
	w.mayChange = true
	for name, text := range files {
		w.project.Write(name, text)
	}
	server, err := startJVMWith(w.project.Path("src"), w.project.Path("test"))
	assert.NilError(t, err)
	t.Cleanup(server.Kill)
	w.project.Write(".nrepl-port", strconv.Itoa(server.Port))
	session, err := jvmConn(t, server).Clone(t.Context())
	assert.NilError(t, err)
	return &stepWorld{world: w, t: t, session: session}
}

// value evaluates what must not fail.
func (s *stepWorld) value(code string) string {
	s.t.Helper()
	r, err := s.session.Eval(s.t.Context(), nrepl.Request{Code: code}, nil)
	assert.NilError(s.t, err)
	assert.Assert(s.t, !r.Failed && len(r.Values) > 0, "%s: %+v", code, r)
	return r.Values[len(r.Values)-1]
}

// edits writes a file and runs the hook after it; what the agent is told.
func (s *stepWorld) edits(name, text string) string {
	s.t.Helper()
	s.project.Write(name, text)
	r := s.evals(name)
	assert.Equal(s.t, r.exit, 0)
	return r.stdout
}

// interns are the names in shop.cart.
func (s *stepWorld) interns() string {
	s.t.Helper()
	return strings.Trim(s.value(`(apply str (interpose " " (sort (map str (keys (ns-interns 'shop.cart))))))`), `"`)
}

// Issue 14: what left a file leaves the REPL; what is kept by defonce, made by hand or by other files stays.
func TestReloadUnmaps(t *testing.T) {
	s := newStepWorld(t, map[string]string{
		"src/shop/cart.clj": `(ns shop.cart (:require [clojure.string :as str] [clojure.set :refer [union]]) (:import (java.util Date)))
(defonce state (atom 1))
(defn line-total [x] x)
(defn- hidden [] 1)
(def ^:dynamic *tax* 2)
(declare later)
(defmacro twice [x] (list '+ x x))
(defrecord Item [a])
(defprotocol Priced (price [x]) (cost [x]))
(defmulti ship :kind)
(defmethod ship :post [_] 1)
(defmethod ship :air [_] 2)
(extend-type String Priced (price [_] 1))
(extend-type Long Priced (price [_] 2))
(defn total [x] (str/upper-case (line-total x)))
`,
		"src/shop/invoice.clj": "(ns shop.invoice (:require [shop.cart :as cart :refer [line-total]]))\n(defn f [x]\n  (cart/line-total x))\n(defmethod cart/ship :hand [_] 3)\n(defn g [x] (line-total x))\n",
	})
	s.value("(require 'shop.invoice)")
	s.value("(in-ns 'shop.cart)")
	s.value("(def by-hand 1)")
	s.value("(defmethod ship :repl [_] 4)")
	s.value("(reset! state 7)")
	s.value("(in-ns 'user)")
	assert.Equal(t, s.interns(), "*tax* ->Item Priced by-hand cost hidden later line-total map->Item price ship state total twice")
	told := s.edits("src/shop/cart.clj", `(ns shop.cart)
(defonce state (atom 1))
(defprotocol Priced (price [x]))
(defmulti ship :type)
(defmethod ship :post [_] 1)
(extend-type Long Priced (price [_] 2))
(defn total [x] x)
`)
	assert.Assert(t, cmp.Contains(told, "line-total left src/shop/cart.clj; still used in invoice.clj:1, invoice.clj:3, invoice.clj:5"))
	assert.Equal(t, s.interns(), "Priced by-hand price ship state total")
	assert.Equal(t, s.value("@shop.cart/state"), "7")
	assert.Equal(t, s.value("(sort (keys (methods shop.cart/ship)))"), "(:hand :post :repl)")
	assert.Equal(t, s.value("(shop.cart/ship {:type :post})"), "1")
	assert.Equal(t, s.value("(map str (keys (:impls shop.cart/Priced)))"), `("class java.lang.Long")`)
	assert.Equal(t, s.value("(ns-aliases 'shop.cart)"), "{}")
	assert.Equal(t, s.value("(boolean (or (ns-resolve 'shop.cart 'union) (ns-resolve 'shop.cart 'Date)))"), "false")
}

// Issue 14: a load that needs what left the file fails, as in a fresh process, and takes nothing away.
func TestReloadFails(t *testing.T) {
	s := newStepWorld(t, map[string]string{
		"src/shop/cart.clj": "(ns shop.cart (:require [clojure.string :as str]))\n(defonce state (atom 1))\n(defn line-total [x] (str/upper-case x))\n(defn total [x] (line-total x))\n(deftype T [a])\n",
		"src/shop/use.clj":  "(ns shop.use (:require [shop.cart :as c]))\n(defn f [x] (c/line-total x))\n",
	})
	s.value("(require 'shop.use)")
	all := "->T line-total state total"
	text := s.project.Read("src/shop/cart.clj")
	for edited, want := range map[string]string{
		// renamed, a caller in the file was forgotten
		strings.Replace(text, "(defn line-total", "(defn total-line", 1): "Unable to resolve symbol: line-total",
		// moved below its caller
		"(ns shop.cart (:require [clojure.string :as str]))\n(defn total [x] (line-total x))\n(defn line-total [x] (str/upper-case x))\n":   "line-total is defined later, in line 3",
		strings.Replace(text, " (:require [clojure.string :as str])", "", 1):                                                                "No such namespace: str",
		strings.Replace(text, "(deftype T", "(/ 1 0) (deftype T", 1):                                                                        "Divide by zero",
		strings.Replace(text, "(ns shop.cart (:require [clojure.string :as str]))", "(ns shop.cart (:require [clojure.strin :as str]))", 1): "clojure.strin",
	} {
		assert.Assert(t, cmp.Contains(s.edits("src/shop/cart.clj", edited), want))
		assert.Equal(t, strings.ReplaceAll(s.interns(), " total-line", ""), all)
		assert.Equal(t, s.value("(shop.use/f \"a\")"), `"A"`)
		assert.Equal(t, s.value("(str (get (ns-aliases 'shop.cart) 'str))"), `"clojure.string"`)
		assert.Equal(t, s.edits("src/shop/cart.clj", text), "")
		assert.Equal(t, s.interns(), all)
	}
	// A var that others use is the same one after the file was loaded twice: what a macro makes is hidden first and comes back.
	s.project.Write("src/shop/mac.clj", "(ns shop.mac)\n(defmacro make [n v] (list 'def n v))\n(defmacro named [] (list 'def 'named-by-macro 1))\n")
	s.edits("src/shop/mac.clj", s.project.Read("src/shop/mac.clj"))
	s.edits("src/shop/made.clj", "(ns shop.made (:require [shop.mac :as m]))\n(m/make made 1)\n(m/named)\n(defn f [] [made named-by-macro])\n")
	s.edits("src/shop/user.clj", "(ns shop.user (:require [shop.made :as m]))\n(defn f [] [m/made m/named-by-macro (m/f)])\n")
	assert.Equal(t, s.edits("src/shop/made.clj", "(ns shop.made (:require [shop.mac :as m]))\n(m/make made 2)\n(m/named)\n(defn f [] [made named-by-macro])\n"), "")
	assert.Equal(t, s.value("(shop.user/f)"), "[2 1 [2 1]]")
	// The value of a defonce stays, which is told once.
	edited := strings.Replace(text, "(atom 1)", "(atom 2)", 1)
	assert.Assert(t, cmp.Contains(s.edits("src/shop/cart.clj", edited), "src/shop/cart.clj: state kept its old value"))
	assert.Equal(t, s.edits("src/shop/cart.clj", edited), "")
	assert.Equal(t, s.value("@shop.cart/state"), "1")
	// Told not to.
	s.project.Write(".brepl/hooks.edn", "{:stop [] :eval {:unmap false}}")
	assert.Equal(t, s.edits("src/shop/cart.clj", "(ns shop.cart)\n"), "")
	assert.Equal(t, s.interns(), all)
	// A hint names what is in a file, whatever the REPL still has.
	got := s.edits("src/shop/use.clj", "(ns shop.use (:require [shop.cart :as c]))\n(defn f [x] (c/line-totl x))\n")
	assert.Assert(t, cmp.Contains(got, "No such var: c/line-totl"))
	assert.Assert(t, !strings.Contains(got, "line-total"), got)
}
