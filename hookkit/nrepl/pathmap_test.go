package nrepl

import (
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

func TestPathMap(t *testing.T) {
	m, err := ParsePathMap([]string{"/home/me/app=/app", "", "/home/me/app/lib/=/opt/lib/", "/=/host", " . = /here "})
	assert.NilError(t, err)
	m = m.In("/user")
	for local, remote := range map[string]string{
		"/home/me/app":             "/app",
		"/home/me/app/":            "/app",
		"/home/me/app/src/a b.clj": "/app/src/a b.clj",
		"/home/me/app/./src/../x":  "/app/x",
		"/home/me/app/lib/x.clj":   "/opt/lib/x.clj", // the longest wins
		"/home/me/apple/x.clj":     "/host/home/me/apple/x.clj",
		"/user/y.clj":              "/here/y.clj",
		"/":                        "/host",
		"relative.clj":             "relative.clj",
	} {
		assert.Equal(t, m.Remote(filepath.FromSlash(local)), remote, local)
	}
	for remote, local := range map[string]string{
		"/app": "/home/me/app", "/app/src/a.clj": "/home/me/app/src/a.clj", "/opt/lib/x": "/home/me/app/lib/x", "/host": "/", "/host/etc/x": "/etc/x",
		"/apple": "/apple", "": "", "NO_SOURCE_FILE": "NO_SOURCE_FILE", "/here/y.clj": "/user/y.clj",
	} {
		assert.Equal(t, m.Local(remote), filepath.FromSlash(local), remote)
	}
	root, err := ParsePathMap([]string{"/a=/"})
	assert.NilError(t, err)
	assert.Equal(t, root.Remote("/a/b"), "/b")
	assert.Equal(t, root.Local("/b"), filepath.FromSlash("/a/b"))

	for _, entry := range []string{"x", "=", "=/app", "/app=", " = "} {
		_, err := ParsePathMap([]string{entry})
		assert.ErrorContains(t, err, "is no path map: write LOCAL=REMOTE, for example ")
	}
	var none PathMap
	assert.Equal(t, none.Remote("/x"), "/x")
	assert.Equal(t, none.Local("/x"), "/x")
}

// What is mapped there comes back, for paths without two ways.
func TestPathMapBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-c .%=-]*[a-c]`)
		m, err := ParsePathMap([]string{"/l/" + strings.ReplaceAll(name.Draw(t, "local"), "=", "") + "=/r/" + name.Draw(t, "remote")})
		assert.NilError(t, err)
		path := filepath.FromSlash(m[0].local + "/" + name.Draw(t, "file"))
		remote := m.Remote(path)
		assert.Assert(t, strings.HasPrefix(remote, m[0].remote+"/"), "%q", remote)
		assert.Equal(t, m.Local(remote), path)
	})
}
