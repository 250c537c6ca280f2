// Command agent-gauntlet runs quality gates over what a coding agent has changed, before it stops.
package main

import (
	"os"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/gauntlet"
)

func main() {
	os.Exit(cli.Main("agent-gauntlet", cli.Command{
		Short: "agent-gauntlet runs quality gates over what a coding agent has changed, before it stops.", Sub: gauntlet.Commands(),
	}))
}
