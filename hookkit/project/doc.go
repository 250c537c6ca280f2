// Package project knows the folder of a Clojure project: where it begins, which folders hold its sources, what a file's ns form says,
// in which order files can be loaded, and which files have changed since an earlier look.
//
// Nothing is evaluated: build files and sources are read as data. It serves the programs of this repository and carries no promise of
// stability.
package project
