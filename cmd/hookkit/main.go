// Command hookkit is for authors of hooks: it records what passes between a coding agent and its hooks, plays it again, and puts hooks
// through their contract.
package main

import (
	"os"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/install"
	"github.com/hookkit/brepl/hookkit/lab"
)

func main() {
	recorder := install.Commands(install.Program{Hooks: lab.Recorder()})
	os.Exit(cli.Main("hookkit", cli.Command{Short: "hookkit tests hooks of coding agents, in any language.", Sub: lab.Commands(recorder)}))
}
