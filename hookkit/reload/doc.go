// Package reload keeps a running REPL in step with the files of a project: a namespace holds what its file makes, as in a process that
// starts on the files. What is not in a file (values of defonce, what was made by hand, methods that other files add) stays.
//
// It serves the programs of this repository and carries no promise of stability.
package reload
