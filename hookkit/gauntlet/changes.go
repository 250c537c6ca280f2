package gauntlet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// Mode says which changes count.
type Mode string

// The modes.
const (
	Local       Mode = "local"       // since the last passed run, else since the base: committed, staged, unstaged, untracked
	OneCommit   Mode = "commit"      // -c: what one commit changed
	Uncommitted Mode = "uncommitted" // -u: staged, unstaged, untracked
	CI          Mode = "ci"          // what the commits since the base changed
)

// Scope is what a command line asks for.
type Scope struct {
	Mode       Mode
	Commit     string // of OneCommit
	Base       string // the name to start from
	FromGitHub bool   // Base is GITHUB_BASE_REF, a branch's name without its remote
	FromBase   bool   // -b was given: count from the base whatever has passed before
}

// Changes is what differs between two trees.
type Changes struct {
	Mode      Mode
	Base      string // the name that the base was found by; "" where none is used
	From      string // the tree or commit counted from
	To        string // the tree counted to
	SincePass bool   // From is the last passed run, or where the runs that failed since began
	Head      string // the commit checked out; "" in a repository without commits
	Branch    string // "" when detached
	Files     []Change
	Notes     []string
	unnamed   bool // in Files is something that To does not hold
}

// ends are the two trees of a scope.
type ends struct {
	base, from, to string
	notes          []string // on the base
	omitted        []string // on files that do not count
}

// worktree reports whether a scope ends at the work tree, and not at a commit.
func (m Mode) worktree() bool { return m == Local || m == Uncommitted }

// locate finds where a scope begins, and its end unless that is the work tree, which is staged instead: that takes longest.
func locate(ctx context.Context, s *snapshotter, scope Scope) (e ends, err error) {
	var notes []string
	var stageErr error
	var wait sync.WaitGroup
	if scope.Mode.worktree() {
		wait.Go(func() { notes, stageErr = s.stage(ctx) })
	}
	facts, err := s.repo.ask()
	if err == nil {
		e, err = s.repo.refs(ctx, scope, facts)
	}
	wait.Wait()
	e.omitted = notes
	if err == nil {
		err = s.repo.learn()
	}
	if err != nil {
		return e, err
	}
	return e, stageErr
}

// refs finds what names decide: where a scope begins, and where it ends unless that is the work tree.
func (r *repository) refs(ctx context.Context, scope Scope, facts gitFacts) (e ends, err error) {
	if facts.head == "" {
		if scope.Mode == OneCommit || scope.Mode == CI {
			return e, errors.New("the repository has no commits yet")
		}
		e.notes = append(e.notes, "no commits yet: every file counts as changed")
		e.from, err = r.emptyTree(ctx)
		return e, err
	}
	switch scope.Mode {
	case Uncommitted:
		e.from = facts.head
		return e, nil
	case OneCommit:
		return r.commitEnds(ctx, scope.Commit, e)
	case CI:
		e.to = facts.head
		return r.baseEnds(ctx, scope, e, facts)
	default:
		if !scope.FromGitHub {
			// The usual case in one call.
			if out, err := r.git(ctx, "merge-base", "--end-of-options", scope.Base, facts.head); err == nil {
				return ends{base: scope.Base, from: strings.TrimSpace(string(out))}, nil
			}
		}
		return r.baseEnds(ctx, scope, e, facts)
	}
}

// commitEnds are the two sides of one commit; the first parent counts.
func (r *repository) commitEnds(ctx context.Context, name string, e ends) (ends, error) {
	commit, ok, err := r.commit(ctx, name)
	if err != nil {
		return e, err
	}
	if !ok {
		return e, fmt.Errorf("there is no commit %q", name)
	}
	e.base, e.to = name+"^", commit
	parent, ok, err := r.commit(ctx, commit+"^")
	if err != nil {
		return e, err
	}
	if e.from = parent; !ok {
		e.base = ""
		e.from, err = r.emptyTree(ctx)
	}
	return e, err
}

// baseEnds finds the base, and where the work left it.
func (r *repository) baseEnds(ctx context.Context, scope Scope, e ends, facts gitFacts) (ends, error) {
	wanted := []string{scope.Base}
	if scope.FromGitHub {
		wanted = []string{"origin/" + scope.Base, scope.Base}
	}
	var base string
	for i, name := range slices.Concat(wanted, []string{"origin/HEAD", "main", "master", "HEAD"}) {
		id, ok, err := r.commit(ctx, name)
		if err != nil {
			return e, err
		}
		if !ok {
			continue
		}
		base, e.base = id, name
		if i >= len(wanted) {
			e.notes = append(e.notes, fmt.Sprintf("base branch %s not found, using %s instead", scope.Base, name))
		}
		break
	}
	if scope.Mode == CI && base == facts.head {
		// A push to the base itself: what came with its last commit.
		if parent, ok, err := r.commit(ctx, "HEAD^"); err != nil || ok {
			e.base, e.from = "HEAD^", parent
			e.notes = append(e.notes, "HEAD is the base itself, so the last commit counts")
			return e, err
		}
	}
	out, err := r.git(ctx, "merge-base", base, facts.head)
	if failed, ok := errors.AsType[*gitError](err); ok && failed.exit == 1 {
		why := "has no common commit with HEAD"
		if facts.shallow {
			why += ", in a shallow clone"
		}
		e.notes = append(e.notes, fmt.Sprintf("base %s %s: everything that differs from it counts", e.base, why))
		e.from = base
		return e, nil
	}
	e.from = strings.TrimSpace(string(out))
	return e, err
}

// between lists the files that differ between two trees, below the project's root, sorted by path.
func (s *snapshotter) between(ctx context.Context, from, to string) ([]Change, error) {
	// Git takes a repository whose object folder is not there for none; without a snapshot nothing has made it.
	if err := os.MkdirAll(s.objects(), 0o700); err != nil {
		return nil, err
	}
	return s.raw(ctx, s.env(), "diff-tree", "-r", "-z", "--raw", "--no-renames", "--relative", "--end-of-options", from, to)
}

// since lists the files that differ between a tree and what is staged.
func (s *snapshotter) since(ctx context.Context, from string) ([]Change, error) {
	return s.raw(ctx, s.staged(), "diff-index", "--cached", "-z", "--raw", "--no-renames", "--relative", "--end-of-options", from)
}

func (s *snapshotter) raw(ctx context.Context, env []string, args ...string) ([]Change, error) {
	out, err := s.repo.gitWith(ctx, env, args...)
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

// parseRaw reads git's raw format: ":mode mode object object status NUL path NUL", again and again.
func parseRaw(out []byte) ([]Change, error) {
	var list []Change
	for len(out) > 0 {
		head, rest, ok := bytes.Cut(out, []byte{0})
		name, rest, found := bytes.Cut(rest, []byte{0})
		fields := strings.Fields(strings.TrimPrefix(string(head), ":"))
		if !ok || !found || len(fields) != 5 || fields[4] == "" {
			return nil, fmt.Errorf("git answered %.80q, which is not its raw format", out)
		}
		list = append(list, Change{Path: string(name), Status: fields[4][0], mode: fields[1], object: fields[3]})
		out = rest
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// continues reports whether the history that a run has seen goes on to the commit that is checked out now.
func (r *repository) continues(ctx context.Context, before, now string) bool {
	if before == now || before == "" {
		return true
	}
	if now == "" {
		return false
	}
	_, err := r.git(ctx, "merge-base", "--is-ancestor", before, now)
	return err == nil
}
