// Package clj reads EDN and Clojure source: tokens with byte spans, positions, a delimiter report, and values.
//
// It is built in layers, and each layer uses the one before:
//
//   - [Scanner] cuts text into tokens that cover every byte.
//   - nesting (unexported) follows openers, closers and prefixes such as ' and #_ through the tokens. It is the only place that
//     knows what is open and what is missing.
//   - [CheckDelimiters] runs nesting alone. It builds no values and is the fast path for files that are edited.
//   - [ReadAll] runs the same nesting and builds a [Node] for each form.
//
// A repair of delimiters belongs on top of nesting too: its faults carry byte offsets of the closer and of the opener, [Scan] has the
// tokens between them, and a column of an opener or of the first token of a line (the indentation) comes from the locator.
//
// Nothing is ever evaluated: #=, tagged literals and reader conditionals are data, or errors in EDN. Nesting is kept on an explicit
// stack with a bound, so that no file can exhaust the goroutine's stack. Scanning, the delimiter report and reading take time
// linear in the size of the text.
//
// The rules of reading are those of Clojure's LispReader and EdnReader. Balanced means: Clojure can read it. A prefix right before a
// closer, as in (a #_), is therefore an error.
package clj
