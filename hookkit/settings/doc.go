// Package settings knows an agent's settings files: where the host finds them,
// which handlers in them are ours, how long the host lets them run, and how to
// put handlers in and take them out while every other byte stays.
//
// It is shared by programs that install hooks: what a handler of theirs looks
// like (OwnCommand) and which entries they want are parameters.
//
// The package is public because its folder is; its API may change.
package settings
