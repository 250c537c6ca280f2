package gauntlet

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/hookkit/brepl/hookkit/session"
)

// changes are the files that this run is about.
func (a *activity) changes(ctx context.Context) (*Changes, error) {
	repo := a.snaps.repo
	c := &Changes{Mode: a.request.Scope.Mode, Base: a.ends.base, From: a.ends.from, To: a.ends.to, Head: repo.head, Branch: repo.branch}
	if mark := a.mark(ctx, c); mark != nil {
		from := c.From
		c.From, c.SincePass = mark.Tree, true
		err := a.compare(ctx, c)
		if failed := (*gitError)(nil); err == nil || !errors.As(err, &failed) {
			c.Notes = a.ends.omitted // the other notes speak of the base
			return c, err
		}
		c.From, c.SincePass = from, false
		c.Notes = []string{"what passed last is no longer in the repository; everything since the base counts"}
		a.state.Passed, a.state.Anchor, a.state.Jobs = nil, nil, nil
	}
	err := a.compare(ctx, c)
	c.Notes = slices.Concat(c.Notes, a.ends.notes, a.ends.omitted)
	return c, err
}

// compare fills in the files of c, and the tree of the work tree where that is the end.
func (a *activity) compare(ctx context.Context, c *Changes) (err error) {
	if !c.Mode.worktree() {
		c.Files, err = a.snaps.between(ctx, c.From, c.To)
		return err
	}
	var treeErr error
	var wait sync.WaitGroup
	if !a.looking {
		wait.Go(func() { c.To, treeErr = a.snaps.tree(ctx) })
	}
	c.Files, err = a.snaps.since(ctx, c.From)
	wait.Wait()
	return errors.Join(err, treeErr, a.addSubmodules(ctx, c))
}

// mark is the moment from which the run counts instead of the base: where the failing runs began, or the last pass. On another
// branch that does not go on from there it is none: what was left behind there says nothing about the work here.
func (a *activity) mark(ctx context.Context, c *Changes) *Mark {
	if !a.request.remembers() {
		return nil
	}
	mark := a.state.Anchor
	if mark == nil {
		mark = a.state.Passed
	}
	if mark == nil || mark.Branch == c.Branch || a.snaps.repo.continues(ctx, mark.Head, c.Head) {
		return mark
	}
	a.state.Anchor, a.state.Jobs, a.state.Attempts, a.state.FailedTree = nil, nil, 0, ""
	return nil
}

// join takes the verdict of the run that was waited for, if it was about all of what is here now.
func (a *activity) join(id, tree string) bool {
	other := a.state.run(id)
	if other == nil || other.Status == "" || other.Mode != Local || other.Tree != tree || other.Partial {
		return false
	}
	s := a.summary
	s.Status, s.Why, s.RunID, s.Attempt, s.Joined = other.Status, other.Why, other.ID, other.Attempt, true
	if text, err := session.ReadOwned(a.dir.path(logsDir, other.ID, reportName), maxStateBytes); err == nil {
		s.JoinedReport = string(text)
	}
	return true
}
