package failure

import (
	"context"
	"strconv"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// DataFunction is Clojure code: a function that tells an exception as data for [Of], with so many calls of its stack. It works in any
// namespace.
func DataFunction(frames int) string {
	return strings.NewReplacer("%", "clojure.core/", "{frames}", strconv.Itoa(frames)).Replace(dataFunction)
}

// Of tells an exception by what [DataFunction] made of it, without asking the server anything; nil if the data is of another form.
func Of(data *clj.Node, src Source) *Failure {
	x := &explainer{src: src, files: map[string][]byte{}}
	r, ok := dataReport(data)
	if !ok {
		return nil
	}
	return x.tell(context.Background(), r)
}

// Calls tells a stack, given as [class method file line] of each call, innermost first. It is for code that hangs: nothing was thrown.
func Calls(stack *clj.Node, src Source) []Frame {
	x := &explainer{src: src, files: map[string][]byte{}}
	var calls []Frame
	for _, raw := range jvmFrames(stack) {
		calls = append(calls, x.frame(raw))
	}
	return calls
}
