// Package clj reads EDN and Clojure source: tokens with byte spans, positions, a delimiter report, and values.
//
// It is built in layers, and each layer uses the one before:
//
//   - [Scanner] cuts text into tokens that cover every byte.
//   - nesting (unexported) follows openers, closers and prefixes such as ' and #_ through the tokens. It is the only place that
//     knows what is open and what is missing.
//   - [CheckDelimiters] runs nesting alone. It builds no values and is the fast path for files that are edited.
//   - [ReadAll] runs the same nesting and builds a [Node] for each form.
//   - [Repair] restores the balance. nesting says whether there is anything to do, and whether it was done. In between, the text is cut
//     at its top-level forms, and each damaged one is searched once for the likeliest changes: a bounded number of states goes through
//     its tokens, each with what is open and what was changed so far, and pays for errors, for lines that do not stand where lines of
//     such a form stand, and for what is unusual: in Clojure at large (repairhabits.txt) and in the healthy forms of the text. How
//     much all ways with another meaning weigh against the best one is the doubt; with too much of it, Repair refuses.
//
// The files of Repair, in the order of the work: repair.go (the way through), repairrefuse.go, repairtext.go (pieces, top-level forms),
// repairbefore.go (what an edit changed), repairstyle.go (habits and what they cost), repairlearn.go (those of the text), repairhabits.go
// (those at large, which repairhabitswrite.go has counted), repairsearch.go with repairwalk.go (one state over the pieces),
// repairbeam.go (all states) and repaircosts.go.
//
// Nothing is ever evaluated: #=, tagged literals and reader conditionals are data, or errors in EDN. Nesting is kept on an explicit
// stack with a bound, so that no file can exhaust the goroutine's stack. Scanning, the delimiter report and reading take time
// linear in the size of the text.
//
// The rules of reading are those of Clojure's LispReader and EdnReader. Balanced means: Clojure can read it. A prefix right before a
// closer, as in (a #_), is therefore an error.
package clj
