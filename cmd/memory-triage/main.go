// Command memory-triage asks a coding agent, when it stops, to save what is worth remembering.
package main

import (
	"os"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/install"
	"github.com/hookkit/brepl/hookkit/triage"
)

func main() {
	root := triage.Root()
	root.Sub = append(root.Sub, install.Commands(install.Program{Hooks: triage.Hooks()})...)
	os.Exit(cli.Main("memory-triage", root))
}
