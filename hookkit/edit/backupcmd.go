package edit

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/settings"
)

// backupCommand is `brepl backup`.
func backupCommand() cli.Command {
	return cli.Command{
		Name:  "backup",
		Short: "Files as they were before the agent's edits: list, diff, restore",
		Sub: []cli.Command{
			backupRow("list", "[FILE]", "List the backups, oldest first", listBackups),
			backupRow("diff", "[FILE]", "Show what has changed since the last backup", diffBackups),
			backupRow("restore", "[--id N] [FILE]", "Put a file back as it was in its last backup that differs", restoreBackup),
		},
	}
}

// backups is one call of a `brepl backup` command.
type backups struct {
	program *cli.Program
	file    string // absolute; "" for all
	id      int    // of restore; 0: the last that differs
	session string
	list    []backup
	several bool // the list may have backups of several sessions, each with its own numbers
	all     bool // of all projects
	others  int  // backups of other projects, which are not in the list
}

func backupRow(name, usage, short string, run func(*backups) error) cli.Command {
	var b backups
	return cli.Command{
		Name: name, Usage: "[--session ID] " + usage, Short: short,
		Long: short + ".\nBackups are made before each edit of a Clojure file, belong to the agent's session and go when it ends.\n" +
			"Without --session: the session that CLAUDE_CODE_SESSION_ID names, else all sessions, and without FILE this project's files.",
		Mixed: true,
		Options: func(flags *flag.FlagSet) {
			flags.StringVar(&b.session, "session", "", "the agent's session `ID`")
			if name == "list" {
				flags.BoolVar(&b.all, "all", false, "of other projects too")
			}
			if name == "restore" {
				flags.IntVar(&b.id, "id", 0, "`N`umber of the backup, as list shows it")
			}
		},
		Run: func(_ context.Context, p *cli.Program, args []string) int {
			b.program = p
			if len(args) > 1 {
				return p.UsageError(fmt.Errorf("unexpected argument %q", args[1]))
			}
			if len(args) == 1 && args[0] != "" {
				b.file = absolute(p.Dir, args[0])
			}
			err := b.find()
			if err == nil {
				err = run(&b)
			}
			if err != nil {
				_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", p.Path(), err)
				return 1
			}
			return 0
		},
	}
}

// find gathers the backups that the call is about, oldest first.
func (b *backups) find() error {
	id := session.HostID(b.program.Getenv, b.program.Dir)
	if b.session != "" {
		id = session.IDIn(b.session, b.program.Getenv, b.program.Dir)
	}
	var err error
	if id != "" {
		var s *store
		if s, err = openStore(b.program, id); err == nil {
			b.list, err = s.list()
		}
	} else {
		b.list, err = allBackups(b.program)
		b.several = true
	}
	if err != nil {
		return err
	}
	if b.file != "" {
		b.list = slices.DeleteFunc(b.list, func(one backup) bool { return !sameFile(one.path, b.file) })
		for i := range b.list {
			b.list[i].path = b.file // one file, by whatever link it was edited
		}
	} else if b.several && !b.all {
		b.keepProject()
	}
	switch {
	case len(b.list) > 0:
		return nil
	case b.file != "":
		return fmt.Errorf("there is no backup of %s", shown(b.program.Dir, b.file))
	case b.others > 0:
		return fmt.Errorf("there are no backups of this project; `brepl backup list --all` shows %d of others", b.others)
	}
	return errors.New("there are no backups")
}

// keepProject leaves the backups of the project where the person stands.
func (b *backups) keepProject() {
	root, ok := project.GitRoot(b.program.Dir)
	if !ok {
		if root, ok = project.Root(b.program.Dir); !ok {
			root = b.program.Dir
		}
	}
	found := len(b.list)
	b.list = slices.DeleteFunc(b.list, func(one backup) bool { return !project.Contains([]string{root}, one.path) })
	b.others = found - len(b.list)
}

// sameFile also takes a path for the same that differs in symbolic links.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	resolved := func(path string) string {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			return filepath.Join(dir, filepath.Base(path))
		}
		return path
	}
	return resolved(a) == resolved(b)
}

// allBackups are those of all sessions of this user.
func allBackups(p *cli.Program) ([]backup, error) {
	root, below := p.Getenv("BREPL_HOOK_BACKUP_DIR"), ""
	if root == "" {
		s, err := session.Open(p.Getenv, session.IDIn("", p.Getenv, p.Dir))
		if err != nil {
			return nil, err
		}
		dir, err := s.Dir() // checks that the folder above is ours alone
		if err != nil {
			return nil, err
		}
		root, below = filepath.Dir(dir), backupFolder
	}
	folders, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []backup
	for _, folder := range folders {
		list, err := storeIn(filepath.Join(root, folder.Name(), below)).list()
		if err != nil {
			continue // not a folder of backups
		}
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b backup) int { return a.taken().Compare(b.taken()) })
	return all, nil
}

func listBackups(b *backups) error {
	for _, one := range b.list {
		from := ""
		if b.several {
			from = "  (session " + one.session() + ")"
		}
		_, _ = fmt.Fprintf(b.program.Stdout, "%4d  %s  %9d bytes  %s%s\n",
			one.id, one.taken().Format(time.DateTime), one.size, shown(b.program.Dir, one.path), from)
	}
	if b.others > 0 {
		_, _ = fmt.Fprintf(b.program.Stdout, "%d more of other projects: brepl backup list --all\n", b.others)
	}
	return nil
}

// files are the files that have backups, in order of their last one.
func (b *backups) files() []string {
	var paths []string
	for _, one := range slices.Backward(b.list) {
		if !slices.Contains(paths, one.path) {
			paths = append(paths, one.path)
		}
	}
	slices.Reverse(paths)
	return paths
}

func diffBackups(b *backups) error {
	for _, path := range b.files() {
		last, _ := newest(b.list, path)
		old, err := last.content()
		if err != nil {
			return err
		}
		disk, err := load(path)
		if err != nil {
			return err
		}
		name := shown(b.program.Dir, path)
		_, _ = b.program.Stdout.Write(diff.Diff(fmt.Sprintf("%s (backup %d)", name, last.id), old, name, []byte(disk.text)))
	}
	return nil
}

func restoreBackup(b *backups) error {
	paths := b.files()
	if len(paths) > 1 {
		return fmt.Errorf("there are backups of %d files; name the one to restore (`brepl backup list` shows them)", len(paths))
	}
	path := paths[0]
	name := shown(b.program.Dir, path)
	disk, err := load(path)
	if err != nil {
		return err
	}
	one, content, err := b.choose(path, disk)
	if err != nil {
		return err
	}
	if content == nil {
		_, _ = fmt.Fprintf(b.program.Stdout, "%s is as in its backups\n", name)
		return nil
	}
	moment := one.taken().Format(time.DateTime) // before it may be thinned out
	opts := session.WriteOptions{Mode: one.mode, Sync: true, Absent: !disk.exists}
	kept := ""
	if disk.exists {
		opts.Expect = []byte(disk.text)
		now, saveErr := storeIn(one.dir).save(path, []byte(disk.text), disk.mode)
		if saveErr != nil {
			return fmt.Errorf("what is in %s now cannot be kept, so it stays: %w", name, saveErr)
		}
		kept = fmt.Sprintf("; what was there is backup %d", now.id)
	} else if err = os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a folder of the project, as git makes it
		return err
	}
	if err = session.WriteFile(path, content, opts); err == nil {
		err = os.Chmod(path, one.mode)
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(b.program.Stdout, "%s is restored from backup %d, as it was on %s%s\n", name, one.id, moment, kept)
	return nil
}

// choose finds the backup to restore, all of the list being of one file; the content is nil where every backup is what the file holds now.
func (b *backups) choose(path string, disk onDisk) (backup, []byte, error) {
	if b.id != 0 && b.several {
		return backup{}, nil, errors.New("--id needs --session: each session has its own numbers (`brepl backup list` shows them)")
	}
	for _, one := range slices.Backward(b.list) {
		if b.id != 0 && one.id != b.id {
			continue
		}
		content, err := one.content()
		if err != nil {
			return one, nil, err
		}
		if b.id != 0 || !disk.exists || !bytes.Equal(content, []byte(disk.text)) {
			return one, append([]byte{}, content...), nil
		}
	}
	if b.id != 0 {
		return backup{}, nil, fmt.Errorf("there is no backup %d of %s; %s lists them", b.id, shown(b.program.Dir, path), "`brepl backup list "+settings.ShellQuote(path)+"`")
	}
	return backup{}, nil, nil
}
