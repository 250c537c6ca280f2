// Command memory-triage asks a coding agent, when it stops, to save what is worth remembering.
package main

import (
	"os"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/triage"
)

func main() {
	os.Exit(cli.Main("memory-triage", triage.Root()))
}
