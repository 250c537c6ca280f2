package lab

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/fakes"
)

// checkPlace is where the hook runs: a project, and a home and a folder for temporary files that are thrown away.
type checkPlace struct {
	root       string // of all that is thrown away
	project    string
	own        bool // the project is scratch
	home, temp string
	transcript string
	file       string // absolute path of the file that events name
}

// newCheckPlace makes the folders. project "" is a scratch project.
func newCheckPlace(project string) (*checkPlace, error) {
	root, err := makeTempDir("", "check")
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot make a scratch folder: %w", err)
	}
	p := &checkPlace{
		root: root, project: project, home: filepath.Join(root, "home"), temp: filepath.Join(root, "tmp"),
		transcript: filepath.Join(root, "transcript.jsonl"),
	}
	if project == "" {
		p.own, p.project = true, filepath.Join(root, "project")
	}
	p.file = filepath.Join(p.project, filepath.FromSlash(checkFile))
	if err := p.fill(); err != nil {
		_ = p.remove() // the first error says more
		return nil, fmt.Errorf("cannot fill the scratch folder: %w", err)
	}
	return p, nil
}

const checkTranscript = `{"type":"user","message":{"role":"user","content":"Please greet the user."}}
{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"Done."}]}}
`

func (p *checkPlace) fill() error {
	for _, dir := range []string{p.home, p.temp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if p.own {
		if err := os.MkdirAll(filepath.Dir(p.file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(p.file, []byte(checkFileContent), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(p.transcript, []byte(checkTranscript), 0o600)
}

func (p *checkPlace) remove() error { return os.RemoveAll(p.root) }

// env is the environment of the hook: the caller's without what belongs to an agent or leads to the caller's own files.
func (p *checkPlace) env(caller []string, session, marker string) []string {
	scratch := map[string]string{
		"HOME": p.home, "USERPROFILE": p.home, "TMPDIR": p.temp, "TMP": p.temp, "TEMP": p.temp,
		"BREPL_STATE_DIR": p.temp, // else our own hooks keep their state in /tmp
		"CLAUDE_ENV_FILE": filepath.Join(p.root, "env.sh"),
		checkMarker:       marker,
	}
	env := slices.DeleteFunc(fakes.WithoutHostEnv(caller), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, replaced := scratch[name]
		return replaced || strings.HasPrefix(name, "XDG_")
	})
	for _, name := range slices.Sorted(maps.Keys(scratch)) {
		env = append(env, name+"="+scratch[name])
	}
	return append(env, fakes.HostEnv(p.project, session)...)
}

// fileMark is what tells that a file has changed.
type fileMark struct {
	mode fs.FileMode
	size int64
	time int64
}

// listing is the state of a tree, by path.
type listing map[string]fileMark

// listTree reads a tree, without what is in .git. What cannot be read is left out.
func listTree(dir string) listing {
	all := listing{}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // the function returns no error
		if err != nil || path == dir {
			return nil //nolint:nilerr // what goes away while it is listed is none of our business
		}
		if info, err := d.Info(); err == nil {
			mark := fileMark{mode: info.Mode()}
			if info.Mode().IsRegular() {
				mark.size, mark.time = info.Size(), info.ModTime().UnixNano()
			}
			all[path] = mark
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		return nil
	})
	return all
}

// changes names what is different in after: "+ path", "- path", "~ path", the paths relative to dir.
func (l listing) changes(dir string, after listing) []string {
	both := maps.Clone(l)
	maps.Copy(both, after)
	var changes []string
	for _, path := range slices.Sorted(maps.Keys(both)) {
		before, had := l[path]
		now, has := after[path]
		sign := "~"
		switch {
		case !had:
			sign = "+"
		case !has:
			sign = "-"
		case before == now:
			continue
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			name = path
		}
		changes = append(changes, sign+" "+name)
	}
	return changes
}

// resolve makes a command that can run in another folder: its program, and arguments that name files, become absolute. One argument that
// is no file is text for the shell, as a command in settings is.
func resolve(command []string, dir string) (argv []string, shell bool) {
	if len(command) == 1 {
		if path, ok := fileIn(dir, command[0]); ok {
			return []string{path}, false
		}
		return command, true
	}
	argv = slices.Clone(command)
	for i, arg := range argv {
		if i == 0 && !strings.ContainsRune(arg, filepath.Separator) {
			continue // looked up on the PATH
		}
		if path, ok := fileIn(dir, arg); ok {
			argv[i] = path
		}
	}
	return argv, false
}

func fileIn(dir, name string) (path string, ok bool) {
	path = name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular()
}
