package failure

import (
	"testing"

	"gotest.tools/v3/assert"
)

// Issue 14: an exception in a function of a heredoc was told at the line that called it.
func TestPlaceInExpression(t *testing.T) {
	t.Parallel()
	const text = "(defn f [m]\n  (let [a (:a m)]\n    (map (fn [_]\n           (inc a)) [1])))\n\n(doall (f {}))\n"
	call := func(symbol string, line int) rawFrame {
		return rawFrame{symbol: symbol, ns: "user", file: "NO_SOURCE_FILE", line: line}
	}
	top := func(line int) rawFrame {
		return rawFrame{symbol: "user", ns: "user", file: "NO_SOURCE_FILE", line: line, here: true}
	}
	java := rawFrame{symbol: "clojure.lang.Numbers.inc", file: "Numbers.java", line: 139}
	for _, row := range []struct {
		name, text string
		trace      []rawFrame
		want       int
		excerpt    string
	}{
		{"in a function in the function", text, []rawFrame{java, call("user/f/fn", 4), top(6)}, 4, "4 |            (inc a)) [1])))\n"},
		{"at the top", text, []rawFrame{java, top(6)}, 6, "6 | (doall (f {}))\n"},
		{"in a function from before", text, []rawFrame{java, call("user/g", 2), top(6)}, 6, "6 | (doall (f {}))\n"},
		{"in one from before that called the text's", text, []rawFrame{java, call("user/g", 9), call("user/f", 2), top(6)}, 2, "2 |   (let [a (:a m)]\n"},
		{"in one from before, of the same name and line", "(g 1)\n(defn g [x]\n  1)\n", []rawFrame{java, call("user/g", 3), top(1)}, 1, "1 | (g 1)\n"},
		{"in one from before, of the same name", text, []rawFrame{java, call("user/f", 5), top(6)}, 6, "6 | (doall (f {}))\n"},
	} {
		x, f := &explainer{src: Source{Text: row.text}, files: map[string][]byte{}}, &Failure{}
		x.locate(f, report{phase: phaseExecution, trace: row.trace})
		assert.Equal(t, f.Line, row.want, row.name)
		assert.Equal(t, f.Excerpt, row.excerpt, row.name)
	}
}
