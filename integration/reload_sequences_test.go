//go:build unix

package integration

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/nrepl"
)

// sequence is a story of edits of one project. Where it calls agrees, what a stop says of the REPL is compared with what a JVM says that is
// started fresh on the files.
type sequence struct {
	title string
	quick bool // one of those of the normal run
	play  func(p *player)
}

// player plays a sequence. Names of namespaces begin with shop; on disk and in the server another word stands for it, so that many can play
// on one server.
type player struct {
	*world
	t      *testing.T
	word   string
	server *replServer
	told   []string // by the hook after edits
}

func (p *player) own(text string) string { return strings.ReplaceAll(text, "shop", p.word) }

// put writes a file as a command of the agent's shell would: no hook hears of it.
func (p *player) put(name, text string) { p.project.Write(p.own(name), p.own(text)) }

// write is the agent's tool, with the hook after it.
func (p *player) write(name, text string) {
	p.t.Helper()
	p.put(name, text)
	r := p.evals(p.own(name))
	assert.Equal(p.t, r.exit, 0)
	p.told = append(p.told, strings.ReplaceAll(r.stdout, p.word, "shop"))
}

func (p *player) read(name string) string {
	return strings.ReplaceAll(p.project.Read(p.own(name)), p.word, "shop")
}

func (p *player) changed(name string, oldNew []string) string {
	p.t.Helper()
	text := p.read(name)
	for i := 0; i < len(oldNew); i += 2 {
		assert.Assert(p.t, strings.Contains(text, oldNew[i]), "%s in %s", oldNew[i], text)
		text = strings.ReplaceAll(text, oldNew[i], oldNew[i+1])
	}
	return text
}

// edit replaces text everywhere in a file, with the hook; sed is the same in the shell.
func (p *player) edit(name string, oldNew ...string) {
	p.t.Helper()
	p.write(name, p.changed(name, oldNew))
}

func (p *player) sed(name string, oldNew ...string) {
	p.t.Helper()
	p.put(name, p.changed(name, oldNew))
}

func (p *player) rm(name string) { assert.NilError(p.t, os.Remove(p.project.Path(p.own(name)))) }

func (p *player) mv(from, to string) {
	p.t.Helper()
	to = p.project.Path(p.own(to))
	assert.NilError(p.t, os.MkdirAll(filepath.Dir(to), 0o755))
	assert.NilError(p.t, os.Rename(p.project.Path(p.own(from)), to))
}

// byHand evaluates in the REPL, as the user would.
func (p *player) byHand(code string) string {
	p.t.Helper()
	session, err := jvmConn(p.t, p.server).Clone(p.t.Context())
	assert.NilError(p.t, err)
	r, err := session.Eval(p.t.Context(), nrepl.Request{Code: p.own(code)}, nil)
	assert.NilError(p.t, err)
	assert.Assert(p.t, !r.Failed && len(r.Values) > 0, "%+v", r)
	return r.Values[len(r.Values)-1]
}

// agrees compares the verdicts. want is what both must be: "passes" or "fails".
func (p *player) agrees(want string) {
	p.t.Helper()
	r := p.stop()
	ours := map[bool]string{true: "passes", false: "fails"}[r.exit == 0]
	fresh, out := p.fresh()
	assert.Check(p.t, ours == fresh && fresh == want, "in step: %s, fresh: %s, wanted: %s\n%s%s\n%s", ours, fresh, want, r.stdout, r.stderr, out)
}

// fresh runs the tests in a process of their own.
func (p *player) fresh() (verdict, output string) {
	var names []string
	assert.NilError(p.t, filepath.WalkDir(p.project.Path("test"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			rel, _ := filepath.Rel(p.project.Path("test"), strings.TrimSuffix(path, filepath.Ext(path)))
			names = append(names, strings.NewReplacer("/", ".", "_", "-").Replace(rel))
		}
		return err
	}))
	code := fmt.Sprintf("(require 'clojure.test) (let [names '[%s]] (apply require names) (let [r (apply clojure.test/run-tests names)] (System/exit (if (and (pos? (:test r)) (clojure.test/successful? r)) 0 1))))",
		strings.Join(names, " "))
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	jars := "/usr/share/java/clojure.jar:/usr/share/java/spec.alpha.jar:/usr/share/java/core.specs.alpha.jar"
	cmd := exec.CommandContext(ctx, "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", jars+":"+p.project.Path("src")+":"+p.project.Path("test"), "clojure.main", "-e", code)
	out, err := cmd.CombinedOutput()
	exit, isExit := errors.AsType[*exec.ExitError](err)
	assert.Assert(p.t, err == nil || isExit && exit.ExitCode() == 1, "%v\n%s", err, out)
	if err == nil {
		return "passes", string(out)
	}
	return "fails", string(out)
}

// The project that each sequence starts with.
const (
	cart    = "src/shop/cart.clj"
	invoice = "src/shop/invoice.clj"
	cartT   = "test/shop/cart_test.clj"
	invT    = "test/shop/invoice_test.clj"
)

var shopFiles = map[string]string{
	cart:    "(ns shop.cart\n  (:require [clojure.string :as str]))\n\n(defn line-total [item]\n  (* 2 item))\n\n(defn total [items]\n  (reduce + (map line-total items)))\n\n(defn label [s]\n  (str/upper-case s))\n",
	invoice: "(ns shop.invoice\n  (:require [shop.cart :as cart :refer [total]]))\n\n(defn bill [items]\n  (total items))\n\n(defn line [item]\n  (cart/line-total item))\n",
	cartT:   "(ns shop.cart-test\n  (:require [clojure.test :refer [deftest is]]\n            [shop.cart :as cart]))\n\n(deftest totals\n  (is (= 6 (cart/total [1 2]))))\n",
	invT:    "(ns shop.invoice-test\n  (:require [clojure.test :refer [deftest is]]\n            [shop.invoice :as invoice]))\n\n(deftest bills\n  (is (= 6 (invoice/bill [1 2]))))\n",
}

var sequences = []sequence{
	{"a function renamed, a caller forgotten", true, func(p *player) {
		p.edit(cart, "line-total", "item-total")
		assert.Assert(p.t, strings.Contains(p.told[0], "line-total left src/shop/cart.clj; still used in invoice.clj:8"), "%q", p.told)
		p.agrees("fails")
		p.edit(invoice, "line-total", "item-total")
		p.agrees("passes")
	}},
	{"a test renamed", true, func(p *player) {
		p.edit(cartT, "(= 6", "(= 7")
		p.agrees("fails")
		p.edit(cartT, "totals", "totals-of-items", "(= 7", "(= 6")
		p.agrees("passes")
	}},
	{"a require dropped", true, func(p *player) {
		p.edit(invoice, "\n  (:require [shop.cart :as cart :refer [total]])", "")
		p.agrees("fails")
		p.edit(invoice, "(ns shop.invoice", "(ns shop.invoice (:require [shop.cart :as cart :refer [total]])")
		p.agrees("passes")
	}},
	{"a namespace split, done right", true, func(p *player) {
		p.write("src/shop/item.clj", "(ns shop.item)\n\n(defn line-total [item]\n  (* 2 item))\n")
		p.edit(cart, "(:require [clojure.string :as str])", "(:require [clojure.string :as str] [shop.item :refer [line-total]])", "(defn line-total [item]\n  (* 2 item))\n\n", "")
		p.edit(invoice, "[shop.cart :as cart :refer [total]]", "[shop.cart :refer [total]] [shop.item :as item]", "cart/line-total", "item/line-total")
		p.agrees("passes")
		p.edit("src/shop/item.clj", "* 2", "* 3")
		p.agrees("fails")
	}},
	{"a namespace moved by the shell, a caller forgotten", true, func(p *player) {
		p.mv(cart, "src/shop/basket.clj")
		p.sed("src/shop/basket.clj", "ns shop.cart", "ns shop.basket")
		p.agrees("fails")
		p.sed(invoice, "shop.cart", "shop.basket")
		p.sed(cartT, "shop.cart ", "shop.basket ")
		p.agrees("passes")
	}},
	{"a file deleted by the shell", true, func(p *player) {
		p.agrees("passes")
		p.rm(cart)
		p.agrees("fails")
		p.put(cart, shopFiles[cart])
		p.agrees("passes")
	}},
	{"a circle", true, func(p *player) {
		p.edit(cart, "[clojure.string :as str]", "[clojure.string :as str] [shop.invoice :as inv]")
		p.agrees("fails")
		p.edit(cart, " [shop.invoice :as inv]", "")
		p.agrees("passes")
	}},
	{"a function moved below its caller", true, func(p *player) {
		p.write(cart, "(ns shop.cart)\n\n(defn total [items]\n  (reduce + (map line-total items)))\n\n(defn line-total [item]\n  (* 2 item))\n")
		p.agrees("fails")
		p.edit(cart, "(ns shop.cart)", "(ns shop.cart)\n\n(declare line-total)")
		p.agrees("passes")
	}},
	{"a macro changed under its callers", true, func(p *player) {
		p.write("src/shop/mac.clj", "(ns shop.mac)\n(defmacro twice [x] `(* 2 ~x))\n")
		p.edit(cart, "[clojure.string :as str]", "[clojure.string :as str] [shop.mac :refer [twice]]", "(* 2 item)", "(twice item)")
		p.agrees("passes")
		p.edit("src/shop/mac.clj", "* 2", "* 3")
		p.agrees("fails")
		p.edit("src/shop/mac.clj", "defmacro twice [x] `(* 3 ~x)", "defn twice [x] (* 2 x)")
		p.agrees("passes")
		p.edit("src/shop/mac.clj", "twice", "double")
		p.agrees("fails")
	}},
	{"a branch switched by the shell", true, func(p *player) {
		p.sed(cart, "* 2", "* 3")
		p.agrees("fails")
		p.put(cart, shopFiles[cart])
		p.agrees("passes")
	}},
	{"a protocol's method dropped", false, func(p *player) {
		p.write("src/shop/price.clj", "(ns shop.price)\n(defprotocol Priced (price [x]) (tax [x]))\n(extend-type Long Priced (price [x] (* 2 x)) (tax [x] 0))\n")
		p.edit(cart, "[clojure.string :as str]", "[clojure.string :as str] [shop.price :as price]", "(* 2 item)", "(+ (price/price item) (price/tax item))")
		p.agrees("passes")
		p.edit("src/shop/price.clj", " (tax [x]))", ")", " (tax [x] 0)", "")
		p.agrees("fails")
		p.edit(cart, "(+ (price/price item) (price/tax item))", "(price/price item)")
		p.agrees("passes")
	}},
	{"a protocol implementation dropped", false, func(p *player) {
		p.write("src/shop/price.clj", "(ns shop.price)\n(defprotocol Priced (price [x]))\n")
		p.write("src/shop/impl.clj", "(ns shop.impl (:require [shop.price :as price]))\n(extend-protocol price/Priced Long (price [x] (* 2 x)))\n")
		p.edit(cart, "[clojure.string :as str]", "[clojure.string :as str] [shop.price :as price] shop.impl", "(* 2 item)", "(price/price item)")
		p.agrees("passes")
		p.edit("src/shop/impl.clj", "Long", "String")
		p.agrees("fails")
		p.edit("src/shop/impl.clj", "String", "Number")
		p.agrees("passes")
		p.rm("src/shop/impl.clj")
		p.agrees("fails")
		p.edit(cart, " shop.impl", "")
		p.agrees("fails")
	}},
	{"a record's field renamed", false, func(p *player) {
		p.write("src/shop/item.clj", "(ns shop.item)\n(defrecord Item [amount])\n(defn make [n] (->Item n))\n")
		p.edit(cart, "[clojure.string :as str]", "[clojure.string :as str] [shop.item :as item]", "(* 2 item)", "(* 2 (.-amount ^shop.item.Item (item/->Item item)))")
		p.agrees("passes")
		p.edit("src/shop/item.clj", "amount", "quantity")
		p.agrees("fails")
		p.edit(cart, "amount", "quantity")
		p.agrees("passes")
		p.edit("src/shop/item.clj", "defrecord Item", "defrecord Thing", "->Item", "->Thing")
		p.agrees("fails")
	}},
	{"a record imported", false, func(p *player) {
		p.write("src/shop/item.clj", "(ns shop.item)\n(defrecord Item [amount])\n")
		p.edit(cart, "[clojure.string :as str])", "[clojure.string :as str] shop.item) (:import (shop.item Item))", "(* 2 item)", "(if (instance? Item (shop.item/->Item 1)) (* 2 item) 0)")
		p.agrees("passes")
		p.edit("src/shop/item.clj", "[amount]", "[amount price]")
		p.agrees("fails")
		p.edit(cart, "->Item 1", "->Item 1 2")
		p.agrees("passes")
		p.edit(cart, " (:import (shop.item Item))", "")
		p.agrees("fails")
	}},
	{"a method dropped, a dispatch changed", false, func(p *player) {
		p.write("src/shop/ship.clj", "(ns shop.ship)\n(defmulti cost :kind)\n(defmethod cost :post [_] 2)\n(defmethod cost :air [_] 2)\n")
		p.edit(cart, "[clojure.string :as str]", "[clojure.string :as str] [shop.ship :as ship]", "(* 2 item)", "(* (ship/cost {:kind :air :type :post}) item)")
		p.agrees("passes")
		p.edit("src/shop/ship.clj", "\n(defmethod cost :air [_] 2)", "")
		p.agrees("fails")
		p.edit("src/shop/ship.clj", "cost :kind", "cost :type")
		p.agrees("passes")
	}},
	{"a method in another file dropped", false, func(p *player) {
		p.write("src/shop/ship.clj", "(ns shop.ship)\n(defmulti cost :kind)\n")
		p.write("src/shop/air.clj", "(ns shop.air (:require [shop.ship :as ship]))\n(defmethod ship/cost :air [_] 2)\n")
		p.edit(cart, "[clojure.string :as str]", "[clojure.string :as str] [shop.ship :as ship] shop.air", "(* 2 item)", "(* (ship/cost {:kind :air}) item)")
		p.agrees("passes")
		p.edit("src/shop/ship.clj", "cost :kind", "cost (fn [x] (:kind x))")
		p.agrees("passes")
		p.edit("src/shop/air.clj", "cost :air", "cost :sea")
		p.agrees("fails")
	}},
	{"a function made private", false, func(p *player) {
		p.edit(cart, "defn line-total", "defn- line-total")
		p.agrees("fails")
		p.edit(invoice, "(cart/line-total item)", "(#'cart/line-total item)")
		p.agrees("passes")
	}},
	{"a function moved and referred", false, func(p *player) {
		p.write("src/shop/item.clj", "(ns shop.item)\n\n(defn line-total [item]\n  (* 3 item))\n")
		p.edit(cart, "[clojure.string :as str]", "[clojure.string :as str] [shop.item :refer :all]", "(defn line-total [item]\n  (* 2 item))\n\n", "")
		p.agrees("fails")
		p.edit("src/shop/item.clj", "* 3", "* 2")
		p.agrees("fails") // cart/line-total is gone
		p.edit(invoice, "(cart/line-total item)", "1")
		p.agrees("passes")
	}},
	{"a referred function becomes one's own", false, func(p *player) {
		p.edit(invoice, " :refer [total]", "", "(defn bill [items]", "(defn total [items] (cart/total items))\n\n(defn bill [items]")
		p.agrees("passes")
	}},
	{"a name of core taken and given back", false, func(p *player) {
		p.edit(cart, "(ns shop.cart\n", "(ns shop.cart\n  (:refer-clojure :exclude [get])\n", "(defn line-total", "(defn get [x] 3)\n\n(defn line-total", "(* 2 item)", "(* (get item) item)")
		p.agrees("fails")
		p.edit(cart, "  (:refer-clojure :exclude [get])\n", "", "(defn get [x] 3)\n\n", "", "(get item)", "(get {1 2} 1)")
		p.agrees("passes")
	}},
	{"a file that does not compile, and mended by the shell", false, func(p *player) {
		p.edit(cart, "(* 2 item)", "(* 2 itm)")
		p.agrees("fails")
		p.agrees("fails")
		p.sed(cart, "itm", "item")
		p.agrees("passes")
	}},
	{"a namespace renamed in its file", false, func(p *player) {
		p.edit(cart, "(ns shop.cart", "(ns shop.basket")
		p.agrees("fails")
		p.edit(cart, "(ns shop.basket", "(ns shop.cart")
		p.agrees("passes")
	}},
	{"an import dropped", false, func(p *player) {
		p.edit(cart, "[clojure.string :as str])", "[clojure.string :as str])\n  (:import (java.util ArrayList))", "(* 2 item)", "(do (ArrayList.) (* 2 item))")
		p.agrees("passes")
		p.edit(cart, "\n  (:import (java.util ArrayList))", "")
		p.agrees("fails")
	}},
	{"a test file deleted and a test moved", false, func(p *player) {
		p.edit(cartT, "(= 6", "(= 7")
		p.agrees("fails")
		p.rm(cartT)
		p.agrees("passes")
		p.put("test/shop/more_test.clj", "(ns shop.more-test (:require [clojure.test :refer [deftest is]] [shop.cart :as cart]))\n(deftest totals (is (= 7 (cart/total [1 2]))))\n")
		p.agrees("fails")
	}},
	{"a value kept by defonce, removed", false, func(p *player) {
		p.edit(cart, "(defn line-total", "(defonce factor 2)\n\n(defn line-total", "(* 2 item)", "(* factor item)")
		p.agrees("passes")
		p.edit(cart, "(defonce factor 2)\n\n", "")
		p.agrees("fails")
		p.edit(cart, "(* factor item)", "(* 2 item)")
		p.agrees("passes")
		p.edit(cart, "(defn line-total", "(defonce factor 3)\n\n(defn line-total", "(* 2 item)", "(* factor item)")
		p.agrees("fails")
	}},
	{"a file loaded in parts", false, func(p *player) {
		p.put("src/shop/cart_parts.clj", "(in-ns 'shop.cart)\n(defn part [x] (* 2 x))\n")
		p.edit(cart, "(defn line-total [item]\n  (* 2 item))", "(load \"cart_parts\")\n(defn line-total [item]\n  (part item))")
		p.agrees("passes")
		p.sed("src/shop/cart_parts.clj", "* 2", "* 3")
		p.agrees("fails")
		p.sed("src/shop/cart_parts.clj", "* 3", "* 2", "defn part", "defn piece")
		p.agrees("fails")
		p.sed(cart, "(part item)", "(piece item)")
		p.agrees("passes")
	}},
	{"a constant that callers have compiled in", false, func(p *player) {
		p.write("src/shop/rate.clj", "(ns shop.rate)\n(def ^:const factor 2)\n")
		p.edit(cart, "[clojure.string :as str]", "[clojure.string :as str] [shop.rate :as rate]", "(* 2 item)", "(* rate/factor item)")
		p.agrees("passes")
		p.edit("src/shop/rate.clj", "2", "3")
		p.agrees("fails")
	}},
	{"swapped by the shell, with old times", false, func(p *player) {
		p.put("src/shop/other.clj", strings.ReplaceAll(shopFiles[cart], "* 2", "* 3"))
		old := time.Now().Add(-24 * time.Hour)
		assert.NilError(p.t, os.Chtimes(p.project.Path(p.own("src/shop/other.clj")), old, old))
		p.mv("src/shop/other.clj", cart)
		p.agrees("fails")
	}},
	{"a fixture and a helper in the tests renamed", false, func(p *player) {
		p.put("test/shop/help.clj", "(ns shop.help)\n(defn two [] 2)\n")
		p.sed(cartT, "[shop.cart :as cart]", "[shop.cart :as cart] [shop.help :as help]", "[1 2]", "[1 (help/two)]")
		p.edit(cartT, "(deftest totals", "(clojure.test/use-fixtures :each (fn [f] (f)))\n(deftest totals")
		p.sed("test/shop/help.clj", "defn two", "defn zwei")
		// The namespace has no tests: clojure.test runs it all the same, and nobody needs it but the one that does not compile.
		p.agrees("fails")
		p.sed(cartT, "help/two", "help/zwei")
		p.agrees("passes")
	}},
	{"a dynamic var is none any more", false, func(p *player) {
		p.edit(cart, "(defn line-total [item]\n  (* 2 item))", "(def ^:dynamic *factor* 2)\n\n(defn line-total [item]\n  (binding [*factor* 2] (* *factor* item)))")
		p.agrees("passes")
		p.edit(cart, "^:dynamic ", "")
		p.agrees("fails")
	}},
	{"an alias renamed, a use forgotten", false, func(p *player) {
		p.edit(invoice, ":as cart", ":as c")
		p.agrees("fails")
		p.edit(invoice, "cart/line-total", "c/line-total")
		p.agrees("passes")
	}},
	{"a keyword of an alias that is gone", false, func(p *player) {
		p.edit(cart, "(* 2 item)", "(do ::str/x (* 2 item))")
		p.agrees("passes")
		p.edit(cart, "[clojure.string :as str]", "[clojure.string]", "str/upper-case", "clojure.string/upper-case")
		p.agrees("fails")
	}},
	{"only the declare is left", false, func(p *player) {
		p.edit(cart, "(defn line-total [item]", "(declare line-total)\n\n(defn line-total [item]")
		p.agrees("passes")
		p.edit(cart, "(defn line-total [item]\n  (* 2 item))", "")
		p.agrees("fails")
	}},
	{"a fixture removed", false, func(p *player) {
		p.edit(cartT, "(deftest totals", "(def ^:dynamic *factor* 0)\n(clojure.test/use-fixtures :each (fn [f] (binding [*factor* 1] (f))))\n(deftest totals", "[1 2]", "[1 (* *factor* 2)]")
		p.agrees("passes")
		p.edit(cartT, "(clojure.test/use-fixtures :each (fn [f] (binding [*factor* 1] (f))))\n", "")
		p.agrees("fails")
	}},
	{"a macro three namespaces below", false, func(p *player) {
		p.put("src/shop/a.clj", "(ns shop.a)\n(defmacro two [] 2)\n")
		p.put("src/shop/b.clj", "(ns shop.b (:require [shop.a :as a]))\n(defmacro deux [] `(a/two))\n")
		p.edit(cart, "[clojure.string :as str]", "[clojure.string :as str] [shop.b :as b]", "(* 2 item)", "(* (b/deux) item)")
		p.agrees("passes")
		p.sed("src/shop/a.clj", "[] 2", "[] 3")
		p.agrees("fails")
		p.sed("src/shop/a.clj", "[] 3", "[] 2", "two", "zwei")
		p.agrees("fails")
		p.sed("src/shop/b.clj", "a/two", "a/zwei")
		p.agrees("passes")
	}},
	{"a test namespace renamed by the shell", false, func(p *player) {
		p.edit(cartT, "(= 6", "(= 7")
		p.mv(cartT, "test/shop/basket_test.clj")
		p.sed("test/shop/basket_test.clj", "shop.cart-test", "shop.basket-test")
		p.agrees("fails")
		p.sed("test/shop/basket_test.clj", "(= 7", "(= 6")
		p.agrees("passes")
	}},
	{"a type renamed, its constructor kept", false, func(p *player) {
		p.edit(cart, "(defn line-total [item]\n  (* 2 item))", "(deftype Line [n])\n\n(defn line-total [item]\n  (* 2 (.-n (->Line item))))")
		p.agrees("passes")
		p.edit(cart, "(deftype Line", "(deftype Row")
		p.agrees("fails")
		p.edit(cart, "->Line", "->Row")
		p.agrees("passes")
	}},
	{"reader conditionals", false, func(p *player) {
		p.put("src/shop/both.cljc", "(ns shop.both)\n#?(:clj (defn two [] 2))\n")
		p.edit(cart, "[clojure.string :as str]", "[clojure.string :as str] [shop.both :as both]", "(* 2 item)", "(* (both/two) item)")
		p.agrees("passes")
		p.edit("src/shop/both.cljc", ":clj (", ":cljs (")
		p.agrees("fails")
		p.edit("src/shop/both.cljc", ":cljs (", ":default (")
		p.agrees("passes")
	}},
	{"a use with :only and a prefix list", false, func(p *player) {
		p.edit(invoice, "(:require [shop.cart :as cart :refer [total]])", "(:require (shop [cart :as cart]))\n  (:use [shop.cart :only [total]])")
		p.agrees("passes")
		p.edit(cart, "defn total", "defn sum")
		p.agrees("fails")
		p.edit(cart, "defn sum", "defn total")
		p.agrees("passes")
	}},
	{"two functions take each other's name", false, func(p *player) {
		p.edit(cart, "line-total", "X", "(defn total", "(defn line-total", "X", "total", "(map total", "(map total")
		p.agrees("fails")
	}},
	{"an argument more", false, func(p *player) {
		p.edit(cart, "(defn total [items]", "(defn total [items factor]")
		p.agrees("fails")
		p.edit(invoice, "(total items)", "(total items 1)")
		p.agrees("fails")
		p.edit(cartT, "(cart/total [1 2])", "(cart/total [1 2] 1)")
		p.agrees("passes")
	}},
	{"a function becomes a macro", false, func(p *player) {
		p.edit(cart, "(defn line-total [item]\n  (* 2 item))", "(defmacro line-total [item]\n  `(* 2 ~item))")
		p.agrees("fails")
		p.edit(cart, "(map line-total items)", "(map (fn [i] (line-total i)) items)")
		p.agrees("passes")
	}},
	{"a namespace moved, all done right by the shell", false, func(p *player) {
		p.mv(cart, "src/shop/deep/basket.clj")
		p.sed("src/shop/deep/basket.clj", "ns shop.cart", "ns shop.deep.basket")
		p.sed(invoice, "shop.cart", "shop.deep.basket")
		p.sed(cartT, "[shop.cart", "[shop.deep.basket")
		p.agrees("passes")
		p.sed("src/shop/deep/basket.clj", "* 2", "* 3")
		p.agrees("fails")
	}},
	{"a broken file is required", false, func(p *player) {
		p.write("src/shop/scratch.clj", "(ns shop.scratch)\n(defn f [] (unknown))\n")
		p.edit(invoice, ":refer [total]]", ":refer [total]] shop.scratch")
		p.agrees("fails")
	}},
	{"unbalanced by the shell", false, func(p *player) {
		p.sed(cart, "(* 2 item))", "(* 2 item)")
		p.agrees("fails")
		p.put(cart, shopFiles[cart])
		p.agrees("passes")
	}},
	{"a circle of three, by the shell", false, func(p *player) {
		p.put("src/shop/third.clj", "(ns shop.third (:require [shop.invoice :as i]))\n")
		p.agrees("passes")
		p.sed(cart, "[clojure.string :as str]", "[clojure.string :as str] [shop.third :as third]")
		p.agrees("fails")
		p.sed("src/shop/third.clj", " (:require [shop.invoice :as i])", "")
		p.agrees("passes")
	}},
	{"a var made by hand that the file uses", false, func(p *player) {
		p.byHand("(in-ns 'shop.cart) (def helper 2)")
		p.edit(cart, "(* 2 item)", "(* helper item)")
		p.agrees("fails")
		p.edit(cart, "(* helper item)", "(let [helper 2] (* helper item))")
		p.agrees("passes")
		assert.Equal(p.t, p.byHand("shop.cart/helper"), "2")
	}},
	{"a constant above its parts", false, func(p *player) {
		p.edit(cart, "(defn line-total", "(def b 1)\n(def a (inc b))\n\n(defn line-total", "(* 2 item)", "(* a item)")
		p.agrees("passes")
		p.edit(cart, "(def b 1)\n(def a (inc b))", "(def a (inc b))\n(def b 1)")
		p.agrees("fails")
	}},
	{"a spec's namespace, a print method and a hierarchy stay out of the way", false, func(p *player) {
		p.edit(cart, "(defn line-total", "(defrecord R [n])\n(defmethod print-method R [r w] (.write w \"two\"))\n\n(defn line-total", "(* 2 item)", "(* ({\"two\" 2} (pr-str (->R 1)) 3) item)")
		p.agrees("passes")
		p.edit(cart, "(defmethod print-method R [r w] (.write w \"two\"))\n", "")
		p.agrees("fails")
	}},
	{"edits while a file is broken", false, func(p *player) {
		p.edit(cart, "(defn total", "(defn totl")
		p.edit(invoice, "(total items)", "(cart/totl items)", " :refer [total]", "")
		p.agrees("fails") // the test of the cart
		p.edit(cartT, "cart/total", "cart/totl")
		p.agrees("passes")
	}},
	{"a multimethod becomes a function", false, func(p *player) {
		p.edit(cart, "(defn line-total [item]\n  (* 2 item))", "(defmulti line-total number?)\n(defmethod line-total true [item] (* 2 item))")
		p.agrees("passes")
		p.edit(cart, "(defmulti line-total number?)\n(defmethod line-total true [item] (* 2 item))", "(defn line-total [item] (* 2 item))\n(defmethod line-total false [item] 1)")
		p.agrees("fails")
		p.edit(cart, "\n(defmethod line-total false [item] 1)", "")
		p.agrees("passes")
	}},
}

// Issue 14: the gate says what a JVM says that is started fresh on the files.
func TestReloadSequences(t *testing.T) {
	var quick []sequence
	for _, s := range sequences {
		if s.quick {
			quick = append(quick, s)
		}
	}
	playSequences(t, quick)
}

// All of them take minutes.
func TestLongReloadSequences(t *testing.T) {
	if os.Getenv("BREPL_TEST_LONG") == "" {
		t.Skip("only in the long run, with BREPL_TEST_LONG")
	}
	playSequences(t, sequences)
}

// playSequences plays them side by side on one server.
func playSequences(t *testing.T, list []sequence) {
	needJVM(t)
	players := make([]*player, len(list))
	var folders []string
	for i := range list {
		w := newWorld(t, hooksEDN(allTests(":retry-on-failure? true", ":max-retries 0")))
		w.mayChange = true
		w.project.Write("deps.edn", `{:paths ["src"] :aliases {:test {:extra-paths ["test"]}}}`)
		players[i] = &player{world: w, word: fmt.Sprintf("sh%02d", i)}
		players[i].t = t
		for name, text := range shopFiles {
			players[i].put(name, text)
		}
		folders = append(folders, w.project.Path("src"), w.project.Path("test"))
	}
	server, err := startJVMWith(folders...)
	assert.NilError(t, err)
	t.Cleanup(server.Kill)
	for i, s := range list {
		p := players[i]
		p.server = server
		p.project.Write(".nrepl-port", strconv.Itoa(server.Port))
		t.Run(s.title, func(t *testing.T) {
			p.t, p.world.t = t, t
			r := p.stop() // everything is loaded, by require
			assert.Equal(t, r.exit, 0, "%s%s", r.stdout, r.stderr)
			s.play(p)
		})
	}
}
