// Package install is the commands install and uninstall of all programs: their flags, what they report, and their exit codes. Each
// main.go passes what its feature exports, and package settings does the work.
//
// What brepl alone has is in brepl.go, template.go and skill.go: its entries, the first .brepl/hooks.edn of a project, the agent's skill.
//
// The package is public because its folder is; its API may change.
package install
