// Package project knows the folder of a project: where it begins, which files are its own, and which of them have changed since an
// earlier look. It reads no file of the project; what its Clojure files say is for [github.com/hookkit/brepl/hookkit/project/namespaces].
//
// It serves the programs of this repository and carries no promise of stability.
package project
