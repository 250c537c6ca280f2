// Package lab holds the commands of the program hookkit: recording what passes between an agent and its hooks, playing it again,
// checking and simulating. It alone may use the fakes outside of tests.
//
// It serves the programs of this repository and carries no promise of stability.
package lab

import "github.com/hookkit/brepl/hookkit/cli"

// Commands are the rows of the program hookkit; install are those that put the [Recorder] into an agent's settings.
func Commands(install []cli.Command) []cli.Command {
	return []cli.Command{
		recordCommand(install),
		replayCommand(),
		checkCommand(),
		simulateCommand(),
		replCommand(),
	}
}
