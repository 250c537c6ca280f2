package failure

import (
	"context"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// askLimit bounds all questions about one failure. A server that is well answers each in some milliseconds.
const askLimit = 3 * time.Second

// The questions are written with % for clojure.core/, so that a namespace that excludes or redefines core names can be asked too.
// They print their answer, because a value would become *1, and end by throwing *e, which sets nothing but *e to itself.

// dataFunction tells an exception as data: a map per exception from the outermost inwards, and the stack of the root. "{frames}" bounds
// the stack.
const dataFunction = `(%fn [e] (%let [
  cut (%fn [n x] (%when-not (%nil? x) (%let [s (%str x)] (if (%< n (%count s)) (%str (%subs s 0 n) "…") s))))
  show (%fn [x] (%binding [%*print-length* 8 %*print-level* 4 %*print-meta* false %*print-readably* true]
    (cut 400 (try (%pr-str x) (catch Throwable t "(not printable)")))))
  sci? (%fn [d] (%contains? #{:sci/error :sci.error/parse :edamame/error} (:type d)))
  one (%fn [x] (%let [d (%ex-data x)
                      p (%first (:clojure.spec.alpha/problems d))
                      s (sci? d)
                      y (%dissoc d :clojure.error/phase :clojure.error/line :clojure.error/column :clojure.error/source :clojure.error/symbol)]
    {:class (%str (%class x)) :message (cut 4000 (.getMessage ^Throwable x))
     :phase (cut 40 (if s (if (%= :sci/error (:type d)) (:phase d) "parse") (:clojure.error/phase d)))
     :line (if s (:line d) (:clojure.error/line d)) :column (if s (:column d) (:clojure.error/column d))
     :file (cut 500 (if s (:file d) (:clojure.error/source d))) :symbol (cut 200 (:clojure.error/symbol d))
     :sci s
     :spec (%when p {:val (show (:val p)) :pred (show (:pred p)) :reason (cut 400 (:reason p)) :in (show (:in p)) :path (show (:path p))})
     :data (%when (%and (%not s) (%not p) (%seq y)) (show y))}))
  frames (try (%when-let [f (%resolve (quote %Throwable->map))]
           (%mapv (%fn [[c m f l]] [(%str c) (%str m) f l]) (%take {frames} (:trace (f e)))))
         (catch Throwable t nil))
  calls (try (%when-let [s (:sci.impl/callstack (%ex-data e))]
          (%mapv (%fn [s] [(cut 200 (:ns s)) (cut 200 (:ns (:f-meta s))) (cut 200 (:name (:f-meta s))) (cut 500 (:file s)) (:line s)]) (%take-last {frames} (%deref s))))
        (catch Throwable t nil))]
  {:via (%mapv one (%take 16 (%take-while %some? (%iterate (%fn [x] (.getCause ^Throwable x)) e)))) :frames frames :calls calls}))`

// errorQuestion prints *e as data.
const errorQuestion = `(%let [e %*e]
  (%when e
    (%let [data (` + dataFunction + ` e)]
      (%binding [%*print-length* nil %*print-level* nil %*print-meta* false %*print-readably* true]
        (%print (%pr-str data))
        (%flush)))
    (throw e)))`

// askError asks for *e. It is taken for the failure at hand if it has the class that ex names, or if its message was printed: where the
// JVM went on after an error and failed again, ex is of the first one and *e the last. babashka names the class of the cause, or none.
func (x *explainer) askError(ctx context.Context, res nrepl.Result) (report, bool) {
	frames := "200"
	if x.src.Trace {
		frames = "2000"
	}
	answer := x.ask(ctx, errorQuestion, "{frames}", frames)
	r, ok := dataReport(answer)
	if !ok {
		return report{}, false
	}
	outer := answer.Get("via").Children[0]
	sci, _ := outer.Get("sci").Bool()
	first, _, _ := strings.Cut(r.message, "\n")
	printed := first != "" && strings.Contains(res.Err.Text, first)
	if !sci && !printed && res.Ex != "class " && res.Ex != textAt(outer, "class") {
		return report{}, false
	}
	r.asks = true
	return r, true
}

// dataReport reads what dataFunction gives.
func dataReport(answer *clj.Node) (report, bool) {
	via := answer.Get("via")
	if via == nil || len(via.Children) == 0 {
		return report{}, false
	}
	r := triage(via.Children)
	r.trace = jvmFrames(answer.Get("frames"))
	if calls := askedCalls(answer.Get("calls")); len(calls) > 0 {
		r.trace = sciFrames(calls)
		// Newer versions of sci have no better name for the function.
		if last := calls[len(calls)-1]; strings.Contains(r.message, "passed to: sci.impl.") && last.callee != "" {
			r.message, _, _ = strings.Cut(r.message, "sci.impl.")
			r.message += last.calleeNs + "/" + last.callee
		}
	}
	return r, true
}

// ask evaluates a question, with each of the words replaced by the text after it, and reads what it prints; nil if there is no answer
// that can be read.
func (x *explainer) ask(ctx context.Context, question string, words ...string) *clj.Node {
	if ctx.Err() != nil {
		return nil
	}
	code := strings.NewReplacer(append(words, "%", "clojure.core/")...).Replace(question)
	res, err := x.session.Eval(ctx, nrepl.Request{Code: code}, nil)
	if err != nil {
		x.session = nil
		return nil
	}
	nodes, errs := clj.ReadAll("", []byte(res.Out.Text), clj.Options{Dialect: clj.EDN})
	if len(nodes) == 0 || len(errs) > 0 {
		return nil
	}
	return nodes[len(nodes)-1]
}

// textAt gives the string under a key, "" if there is none.
func textAt(n *clj.Node, key string) string {
	s, _ := n.Get(key).Str()
	return s
}

// number gives the number under a key, 0 if there is none.
func number(n *clj.Node, key string) int {
	i, _ := n.Get(key).Int()
	return int(i)
}
