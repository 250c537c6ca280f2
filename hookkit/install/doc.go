// Package install puts brepl's hooks into an agent's settings, takes them out
// again, and writes the first .brepl/hooks.edn of a project.
//
// Which entries are written is in entries.go, how a settings file is edited is in
// package settings.
//
// The package is public because its folder is; its API may change.
package install
