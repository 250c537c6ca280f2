//go:build unix

package proc

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

func TestMergeEnv(t *testing.T) {
	// Fault 32: variables with line feeds and with empty names.
	tests := []struct {
		name string
		base []string
		vars []Var
		want []string
		err  string
	}{
		{"nothing", nil, nil, []string{}, ""},
		{"later wins, at the first place", []string{"A=1", "B=2", "A=3"}, []Var{{"B", "4"}, {"C", "5"}, {"C", "6"}}, []string{"A=3", "B=4", "C=6"}, ""},
		{"values are taken as they are", []string{"E="}, []Var{{"A", "x=y\nz"}}, []string{"E=", "A=x=y\nz"}, ""},
		{"case matters", []string{"a=1"}, []Var{{"A", "2"}}, []string{"a=1", "A=2"}, ""},
		{"what nobody could read is left out", []string{"novalue", "=x", "", "A=1", "N=\x00"}, nil, []string{"A=1"}, ""},
		{"empty name", []string{"A=1"}, []Var{{"", "v"}, {"B", "2"}}, []string{"A=1", "B=2"}, `variable with an empty name (value "v"): invalid argument or variable`},
		{
			"all errors at once", nil,
			[]Var{{"A=B", "1"}, {"C\x00", "2"}, {"D", "\x00"}},
			[]string{},
			"variable \"A=B\": its name contains '=' or NUL: invalid argument or variable\n" +
				"variable \"C\\x00\": its name contains '=' or NUL: invalid argument or variable\n" +
				"variable \"D\": its value contains NUL: invalid argument or variable",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := MergeEnv(tt.base, tt.vars...)
			assert.DeepEqual(t, got, tt.want)
			if tt.err == "" {
				assert.NilError(t, err)
				return
			}
			assert.Error(t, err, tt.err)
			assert.ErrorIs(t, err, ErrInvalid)
		})
	}
}

func TestGetenv(t *testing.T) {
	env := []string{"A=1", "AB=2", "A=3", "X"}
	assert.Equal(t, Getenv(env, "A"), "3")
	assert.Equal(t, Getenv(env, "AB"), "2")
	assert.Equal(t, Getenv(env, "X"), "")
	assert.Equal(t, Getenv(env, ""), "")
}

// program puts an executable file into dir.
func program(t *testing.T, dir, name, text string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
}

func TestShell(t *testing.T) {
	// Fault 30: no shell.
	both, only, none := t.TempDir(), t.TempDir(), t.TempDir()
	program(t, both, "bash", "")
	program(t, both, "sh", "")
	program(t, only, "sh", "")
	assert.NilError(t, os.WriteFile(filepath.Join(only, "bash"), nil, 0o600)) // not executable
	assert.NilError(t, os.Mkdir(filepath.Join(none, "bash"), 0o700))          // not a file

	for _, tt := range []struct{ path, want string }{{both, "bash"}, {only, "sh"}, {none + ":" + only, "sh"}, {none + "::" + both, "bash"}} {
		got, err := Shell([]string{"PATH=" + tt.path})
		assert.NilError(t, err)
		assert.DeepEqual(t, got, []string{tt.want, "-c"})
	}
	_, err := Shell([]string{"PATH=" + none})
	assert.ErrorIs(t, err, ErrNoShell)
	assert.Error(t, err, "neither bash nor sh is on the PATH ("+none+"): no shell")
	_, err = Shell([]string{"PATH="})
	assert.ErrorIs(t, err, ErrNoShell)
	_, err = Shell(nil) // no PATH at all: the usual folders
	assert.NilError(t, err)
}

func TestLookPath(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(first, "x"), nil, 0o600)) // not executable
	assert.NilError(t, os.Mkdir(filepath.Join(first, "y"), 0o700))          // not a file
	program(t, second, "x", "")
	t.Chdir(second)
	for _, tt := range []struct {
		name, path, want string
		err              error
	}{
		{"x", first + ":" + second, filepath.Join(second, "x"), nil},
		{"x", first, "", ErrPermission},
		{"y", first, "", ErrNotFound},
		{"x", "", "", ErrNotFound},
		{"x", ".::rel", "", ErrNotFound}, // it is in the current directory
		{"./x", "", "./x", nil},
	} {
		got, err := LookPath(tt.name, []string{"PATH=" + tt.path})
		assert.Equal(t, got, tt.want, "%s in %s", tt.name, tt.path)
		assert.ErrorIs(t, err, tt.err)
	}
}

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "here", "#!/bin/sh\n")
	tests := []struct {
		word string
		env  []string
		want bool
	}{
		{"ls", testEnv(), true},
		{"no-such-program", testEnv(), false},
		{"./here", testEnv(), true},
		{"./not-here", testEnv(), false},
		{"here", testEnv(), false},
		{"here", []string{"PATH=" + dir + ":/usr/bin:/bin"}, true},
		{"if", testEnv(), true},
		{"cd", testEnv(), true},
		{"", testEnv(), false},
		{"-v", testEnv(), false},
		{"$(touch pwned)", testEnv(), false},
		{"'; touch pwned; '", testEnv(), false},
	}
	for _, shell := range [][]string{{"bash", "-c"}, {"sh", "-c"}} {
		for _, tt := range tests {
			got, err := Probe(t.Context(), shell, tt.word, dir, tt.env)
			assert.NilError(t, err)
			assert.Equal(t, got, tt.want, "%s %s", shell[0], tt.word)
		}
	}
	_, err := os.Stat(filepath.Join(dir, "pwned"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = Probe(t.Context(), []string{"bash", "-c"}, "ls", "/no/such", testEnv())
	assert.ErrorIs(t, err, ErrNoDir)
	_, err = Probe(t.Context(), []string{"bash", "-c"}, "a\x00", dir, testEnv())
	assert.ErrorIs(t, err, ErrInvalid)
	_, err = Probe(t.Context(), []string{"bash", "-c", "kill -9 $$;"}, "ls", dir, testEnv())
	assert.Error(t, err, `looking for command "ls": killed by SIGKILL`)
}
