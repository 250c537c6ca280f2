package stop

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/text"
)

const pauseName = "pause"

// A pause lets stops pass for a while. It belongs to a session, or, when somebody sets it outside of any,
// to a project: see [session.Session.Pause].

// projectPause is the session under which a project's pause is kept.
func projectPause(env func(string) string, dir string) (*session.Session, error) {
	if dir == "" {
		return nil, errNoDirectory // it would be a pause for every project
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved // the agent and its user may have come by different paths
	}
	return session.Open(env, session.ProjectID("project", dir))
}

// pauseLine tells the user of a stop that passed because of a pause.
func pauseLine(until, now time.Time) string {
	if until.IsZero() {
		return "brepl: stop hooks are paused; `brepl hook resume` ends this"
	}
	return fmt.Sprintf("brepl: stop hooks are paused until %s; `brepl hook resume` ends this", text.Clock(until, now))
}
