package nrepl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// tree makes files and folders (names that end in a slash) in a folder without symbolic links.
func tree(t *testing.T, names ...string) (root string) {
	t.Helper()
	root = physical(t.TempDir())
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		content := ""
		if at, text, ok := strings.Cut(path, "="); ok {
			path, content = at, text
		}
		if strings.HasSuffix(name, "/") {
			assert.NilError(t, os.MkdirAll(path, 0o700))
		} else {
			assert.NilError(t, os.WriteFile(path, []byte(content), 0o600))
		}
	}
	return root
}

// The folders around one, up to the project's root.
func TestAround(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		dir   string
		top   string // "-": none
		want  string
	}{
		{"the folder alone", []string{"a/b/"}, "a/b", "-", "a/b"},
		{"up to a project file", []string{"a/deps.edn", "a/b/c/"}, "a/b/c", "-", "a/b/c a/b a"},
		{"up to the nearest project file", []string{"project.clj", "a/bb.edn", "a/b/"}, "a/b", "-", "a/b a"},
		{"up to the repository, past a project file", []string{".git/HEAD", "a/deps.edn", "a/b/"}, "a/b", "-", "a/b a ."},
		{"a .git folder that is no repository's", []string{".git/HEAD", "a/.git/", "a/b/"}, "a/b", "-", "a/b a ."},
		{"a worktree's .git is a file", []string{"a/.git=gitdir: x", "a/b/"}, "a/b", "-", "a/b a"},
		{"up to where the user stands", []string{"a/b/deps.edn", "a/b/c/"}, "a/b/c", "a", "a/b/c a/b a"},
		{"beside where the user stands", []string{"a/", "x/deps.edn", "x/y/"}, "x/y", "a", "x/y x"},
		{"a name that only begins alike", []string{"a/", "ab/"}, "ab", "a", "ab"},
	} {
		root := tree(t, tt.files...)
		top := ""
		if tt.top != "-" {
			top = filepath.Join(root, tt.top)
		}
		var got []string
		for _, dir := range around(filepath.Join(root, tt.dir), top) {
			name, err := filepath.Rel(root, dir)
			assert.NilError(t, err)
			got = append(got, filepath.ToSlash(name))
		}
		assert.Equal(t, strings.Join(got, " "), tt.want, tt.name)
	}
	for _, dir := range []string{"/", "", "."} { // ends, whatever is there
		assert.Assert(t, len(around(dir, "")) > 0)
	}
}

// Which places are looked at, and in which order.
func TestTargetsForFile(t *testing.T) {
	root := tree(t, "one/.nrepl-port=1001", "one/.shadow-cljs/nrepl.port=1002", "one/src/.nrepl-port=1003", "one/src/app/core.clj",
		"two/deps.edn", "two/.nrepl-port=2001", "two/src/a.clj", "two/src/.nrepl-port=abc")
	env := func(name string) string { return map[string]string{"BREPL_PORT": "3001"}[name] }
	one, two := filepath.Join(root, "one"), filepath.Join(root, "two")
	for _, tt := range []struct {
		name   string
		lookup Lookup
		want   string
		wrong  string
	}{
		{"an expression", Lookup{Dir: one}, "1001 .nrepl-port, 3001 BREPL_PORT", ""},
		{"an expression, with discovery", Lookup{Dir: one, Discover: true}, "1001 .nrepl-port, 1002 .shadow-cljs/nrepl.port, 3001 BREPL_PORT", ""},
		{"a file, as given", Lookup{Dir: one, File: "src/app/core.clj"}, "1003 ROOT/one/src/.nrepl-port, 1001 .nrepl-port, 1002 .shadow-cljs/nrepl.port, 3001 BREPL_PORT", ""},
		{"a file, in full", Lookup{Dir: one, File: filepath.Join(one, "x.clj")}, "1001 .nrepl-port, 1002 .shadow-cljs/nrepl.port, 3001 BREPL_PORT", ""},
		{
			"another project's file",
			Lookup{Dir: one, File: "../two/src/a.clj"},
			"2001 ROOT/two/.nrepl-port, 1001 .nrepl-port, 1002 .shadow-cljs/nrepl.port, 3001 BREPL_PORT",
			`ROOT/two/src/.nrepl-port: "abc" is not a port number`,
		},
		{"in a folder that is not there", Lookup{Dir: two, File: "no/such/a.clj"}, "2001 .nrepl-port, 3001 BREPL_PORT", ""},
		{"in what is no folder", Lookup{Dir: two, File: "deps.edn/a.clj"}, "2001 .nrepl-port, 3001 BREPL_PORT", ""},
	} {
		tt.lookup.Getenv = env
		targets, problems := tt.lookup.Targets()
		var got []string
		for _, target := range targets {
			assert.Equal(t, target.Host, "localhost")
			got = append(got, strings.TrimPrefix(target.Address(), "localhost:")+" "+target.Source)
		}
		clean := func(s string) string { return filepath.ToSlash(strings.ReplaceAll(s, root, "ROOT")) }
		assert.Equal(t, clean(strings.Join(got, ", ")), tt.want, tt.name)
		said := ""
		if err := errors.Join(problems...); err != nil {
			said = clean(err.Error())
		}
		assert.Equal(t, said, tt.wrong, tt.name)
	}
}

// A unix-domain socket in every place that names a server.
func TestTargetsUnix(t *testing.T) {
	root := tree(t, "a b", "100%25", "port/.nrepl-port=nrepl+unix:s.sock\n")
	env := map[string]string{"BREPL_PORT": "nrepl+unix:/env.sock", "BREPL_HOST": "devbox"}
	for _, tt := range []struct{ text, want string }{
		{"nrepl+unix:/x/y.sock", "/x/y.sock"},
		{" nrepl+unix:///x/y.sock\n", "/x/y.sock"},
		{"nrepl+unix:a%20b", "ROOT/a b"},
		{"nrepl+unix:a b", "ROOT/a b"},
		{"nrepl+unix:100%25", "ROOT/100%25"}, // there is such a file
		{"nrepl+unix:200%25", "ROOT/200%"},
		{"nrepl+unix:%zz%4", "ROOT/%zz%4"},
	} {
		l := Lookup{Dir: root, Port: 7}
		assert.NilError(t, l.SetPort(tt.text))
		targets, problems := l.Targets()
		assert.Equal(t, len(problems), 0)
		assert.DeepEqual(t, targets, []Target{{Socket: strings.Replace(tt.want, "ROOT", root, 1), Source: "--port"}})
	}
	l := Lookup{Dir: filepath.Join(root, "port"), Getenv: func(name string) string { return env[name] }}
	targets, _ := l.Targets()
	assert.DeepEqual(t, targets, []Target{{Socket: filepath.Join(root, "port", "s.sock"), Source: ".nrepl-port"}, {Socket: "/env.sock", Source: "BREPL_PORT"}})
	l.Host = "nrepl+unix:/h.sock"
	targets, _ = l.Targets()
	assert.DeepEqual(t, targets, []Target{{Socket: "/h.sock", Source: "--host"}})
	assert.Equal(t, targets[0].String(), "nrepl+unix:/h.sock (--host)")

	for text, want := range map[string]string{
		"nrepl+unix:": "nrepl+unix: has no path of a socket after it", "0": "0 is not a port, expected 1 to 65535", "x": `"x" is not a port number`,
		"": "is empty, expected a port number", "unix:/x": `"unix:/x" is not a port number`,
	} {
		assert.Error(t, l.SetPort(text), want)
	}
	l.Host = "nrepl+unix:"
	_, problems := l.Targets()
	assert.Error(t, errors.Join(problems...), "--host: nrepl+unix: has no path of a socket after it")
}

// --port with a port goes on to work beside a host from the environment.
func TestSetPort(t *testing.T) {
	l := Lookup{Socket: "/old"}
	assert.NilError(t, l.SetPort("7888"))
	targets, _ := l.Targets()
	assert.DeepEqual(t, targets, []Target{{Host: "localhost", Port: 7888, Source: "--port"}})
}
