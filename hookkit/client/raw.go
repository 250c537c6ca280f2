package client

import (
	"context"
	"strings"

	"github.com/hookkit/brepl/hookkit/nrepl"
)

// refuses says whether an answer tells of an error: some have a status for each op, as lookup-error.
func refuses(m nrepl.Message) bool {
	for word := range m.Status() {
		if word == "unknown-op" || word == "namespace-not-found" || strings.HasSuffix(word, "error") {
			return true
		}
	}
	return m.Text("ex") != ""
}

// raw sends the message of -m and prints all answers, a line each: as EDN, or as JSON.
func (r *run) raw(ctx context.Context, message nrepl.Message) int {
	failed := false
	err := r.conn.Raw(ctx, message, func(m nrepl.Message) {
		failed = failed || refuses(m)
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
