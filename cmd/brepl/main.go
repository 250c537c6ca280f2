// Command brepl evaluates Clojure in a running REPL, and gives coding agents hooks for Clojure projects.
package main

import (
	"os"
	"slices"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/client"
	"github.com/hookkit/brepl/hookkit/edit"
	"github.com/hookkit/brepl/hookkit/install"
	"github.com/hookkit/brepl/hookkit/stop"
	"github.com/hookkit/brepl/hookkit/tests"
)

func main() {
	hook := cli.Command{Name: "hook", Aliases: []string{"hooks"}, Short: "Hooks for the agent's host, and their installation"}
	hook.Sub = slices.Concat(stop.Commands(), edit.Commands(), install.Commands(install.Brepl(stop.TimeNeeded)))
	os.Exit(cli.Main("brepl", client.Command(slices.Concat([]cli.Command{hook, tests.Command()}, edit.ToolCommands(), install.SkillCommands())...)))
}
