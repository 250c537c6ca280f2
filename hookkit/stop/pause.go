package stop

import (
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/pause"
	"github.com/hookkit/brepl/hookkit/project"
)

// stopHooks are what a pause keeps from running.
func stopHooks() pause.Gate {
	return pause.Gate{
		Program: "brepl", What: "stop hooks", Resume: "brepl hook resume", File: "pause", Kind: "project", Project: projectHere, WithSession: true,
	}
}

// projectHere is the project that somebody in p.Dir means: the one whose hooks would run.
func projectHere(p *cli.Program) (string, error) {
	if dir, ok := hooksedn.Locate(p.Dir, p.Dir); ok {
		return dir, nil
	}
	if root, ok := project.GitRoot(p.Dir); ok {
		return root, nil
	}
	return p.Dir, nil
}
