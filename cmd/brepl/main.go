// Command brepl gives coding agents hooks for Clojure projects.
package main

import (
	"os"
	"slices"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/edit"
	"github.com/hookkit/brepl/hookkit/install"
	"github.com/hookkit/brepl/hookkit/stop"
)

func main() {
	hooks := slices.Concat(stop.Commands(), edit.Commands(), install.Commands(stop.TimeNeeded))
	hook := cli.Command{Name: "hook", Aliases: []string{"hooks"}, Short: "Hooks for the agent's host, and their installation", Sub: hooks}
	os.Exit(cli.Main("brepl", cli.Command{
		Short: "brepl gives coding agents hooks for Clojure projects.", Sub: append([]cli.Command{hook}, edit.ToolCommands()...),
	}))
}
