// Command agent-gauntlet runs quality gates over what a coding agent has changed, before it stops.
package main

import (
	"os"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/gauntlet"
	"github.com/hookkit/brepl/hookkit/install"
)

func main() {
	os.Exit(cli.Main("agent-gauntlet", cli.Command{
		Short: "agent-gauntlet runs quality gates over what a coding agent has changed, before it stops.",
		Sub:   append(gauntlet.Commands(), install.Commands(install.Program{Hooks: gauntlet.Hooks()})...),
	}))
}
