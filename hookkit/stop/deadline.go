package stop

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/settings"
)

// limits are the times within which a stop must give its verdict.
type limits struct {
	host time.Duration // what the host gives our entry; then it kills us and nothing is blocked
	own  time.Duration // what we give ourselves, so that there always is a verdict
}

// hostLimits reads the host's timeout from the settings files that it would have read: those of the folder in which it was
// started, or of the project where no host runs us.
func hostLimits(event hookkit.EventName, p *cli.Program, project string) limits {
	dir := p.Getenv("CLAUDE_PROJECT_DIR")
	if dir == "" {
		dir = project
	}
	return limitsFor(settings.HostTimeout(settings.Files(dir, settings.Home(p.Getenv)), string(event), settings.OwnCommand("brepl", "hook", "hooks")))
}

func limitsFor(host time.Duration) limits { return limits{host: host, own: settings.OwnTime(host)} }

// grace is how long a command has between TERM and KILL: 2 s, but at most half of what is left after our own deadline.
func (l limits) grace() time.Duration { return min(proc.DefaultGrace, (l.host-l.own)/2) }

// cutOff says why a hook was ended by our own deadline.
func (l limits) cutOff() string {
	return fmt.Sprintf("timed out: the host gives the stop hook %g s in all; run `brepl hook install` again, which raises that", l.host.Seconds())
}

func (l limits) noTime() string {
	return fmt.Sprintf("the hooks before it took the %g s that the host gives the stop hook; run `brepl hook install` again, which raises that", l.host.Seconds())
}

// TimeNeeded is the longest time that the stop hooks of the project in dir may take together; 0 without a configuration.
func TimeNeeded(dir string) (time.Duration, error) {
	if !project.Exists(filepath.Join(dir, hooksedn.Path)) {
		return 0, nil
	}
	config, err := hooksedn.Load(dir)
	if err != nil {
		return 0, err
	}
	return config.Budget(), nil
}
