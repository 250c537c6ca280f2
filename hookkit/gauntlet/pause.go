package gauntlet

import (
	"fmt"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/pause"
)

// gates are what a pause keeps from running.
func gates() pause.Gate {
	return pause.Gate{
		Program: "agent-gauntlet", What: "the gates", Resume: "agent-gauntlet resume", File: "gauntlet-pause", Kind: "gauntlet", Project: projectHere,
	}
}

func projectHere(p *cli.Program) (string, error) {
	root, ok := findRoot(p.Dir)
	if !ok {
		return "", fmt.Errorf("%w in %s or above it", errNoConfig, p.Dir)
	}
	return root, nil
}
