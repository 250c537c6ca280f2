package client

import (
	"context"

	"github.com/hookkit/brepl/hookkit/nrepl"
)

// raw sends the message of -m and prints all answers, a line each: as EDN, or as JSON.
func (r *run) raw(ctx context.Context, message nrepl.Message) int {
	failed := false
	err := r.conn.Raw(ctx, message, func(m nrepl.Message) {
		status := m.Status()
		failed = failed || status["error"] || status["eval-error"] || status["unknown-op"] || m.Text("ex") != ""
		switch {
		case r.verbose: // all of them are shown, this one too
		case r.json:
			r.show.line(jsonLine(map[string]any(m)))
		default:
			r.show.line(appendEDN(nil, map[string]any(m)))
		}
	})
	if err == nil {
		err = r.show.failed()
	}
	switch {
	case err != nil:
		r.tell(ctx, err)
		return r.exit(ctx)
	case failed:
		return exitFailed
	}
	return 0
}
