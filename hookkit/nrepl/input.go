package nrepl

import "context"

// asker answers the need-input of one evaluation. The goroutine that asks is
// there from the first question on, so that reading the server's messages
// never waits for a person.
type asker struct {
	session *Session
	input   Input
	ctx     context.Context //nolint:containedctx // of the one evaluation that this serves
	cancel  context.CancelFunc

	questions chan struct{} // one more may wait while one is being answered
	done      chan struct{}
}

func (s *Session) asker(ctx context.Context, input Input) *asker {
	return &asker{session: s, input: input, ctx: ctx}
}

// ask has the next text sent. Without an Input that is the end of input, at
// once.
func (a *asker) ask() error {
	if a.input == nil {
		return a.session.Stdin("")
	}
	if a.questions == nil {
		a.ctx, a.cancel = context.WithCancel(a.ctx)
		a.questions, a.done = make(chan struct{}, 1), make(chan struct{})
		go a.answer()
	}
	select {
	case a.questions <- struct{}{}:
	default: // a server that asks again before it was answered gets one answer more, not thousands
	}
	return nil
}

func (a *asker) answer() {
	defer close(a.done)
	for {
		select {
		case <-a.questions:
		case <-a.ctx.Done():
			return
		}
		text, err := a.input(a.ctx)
		if a.ctx.Err() != nil {
			return
		}
		if err != nil {
			text = ""
		}
		// A connection that does not take it is broken, which whoever reads finds out.
		_ = a.session.Stdin(text)
	}
}

// end waits until nothing is asked any more.
func (a *asker) end() {
	if a.questions != nil {
		a.cancel()
		<-a.done
	}
}
