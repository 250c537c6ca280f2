package gauntlet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// projectWith makes a folder with these files; a name that ends in a slash is a folder.
func projectWith(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			assert.NilError(t, os.MkdirAll(path, 0o755))
			continue
		}
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// TestProposals: only commands that the project itself shows to have are proposed.
func TestProposals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":             {map[string]string{"README.md": "x"}, ""},
		"go":                  {map[string]string{"go.mod": "module x"}, "go vet ./...|go test ./..."},
		"go, linted":          {map[string]string{"go.mod": "module x", ".golangci.yml": ""}, "go vet ./...|go test ./...|golangci-lint run"},
		"clojure -X":          {map[string]string{"deps.edn": `{:aliases {:test {:exec-fn cognitect.test-runner.api/test}}}`}, "clojure -X:test"},
		"clojure -M":          {map[string]string{"deps.edn": `{:aliases {:test {:main-opts ["-m" "kaocha.runner"]}}}`}, "clojure -M:test"},
		"clojure, no runner":  {map[string]string{"deps.edn": `{:aliases {:test {:extra-paths ["test"]}}}`}, ""},
		"deps.edn, broken":    {map[string]string{"deps.edn": `{:aliases {:test`}, ""},
		"lein":                {map[string]string{"project.clj": "(defproject x \"1\")"}, "lein test"},
		"babashka":            {map[string]string{"bb.edn": `{:tasks {:init (def x 1) test (shell "x") lint {:doc "y"} deploy 1}}`}, "bb test|bb lint"},
		"clj-kondo":           {map[string]string{".clj-kondo/": "", "src/": "", "test/": ""}, "clj-kondo --lint src test"},
		"clj-kondo, src":      {map[string]string{".clj-kondo/": "", "src/": ""}, "clj-kondo --lint src"},
		"node":                {map[string]string{"package.json": `{"scripts":{"test":"jest","lint":"eslint .","start":"x"}}`}, "npm run test|npm run lint"},
		"node, npm's default": {map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}, ""},
		"node, pnpm":          {map[string]string{"package.json": `{"scripts":{"typecheck":"tsc"}}`, "pnpm-lock.yaml": ""}, "pnpm run typecheck"},
		"node, broken":        {map[string]string{"package.json": `{"scripts":`}, ""},
		"python":              {map[string]string{"pyproject.toml": "[project]\nname='x'\n[tool.pytest.ini_options]\n[tool.ruff]\n"}, "pytest|ruff check ."},
		"python, uv":          {map[string]string{"pytest.ini": "", "uv.lock": "", "mypy.ini": ""}, "uv run pytest|uv run mypy ."},
		"python, tools only":  {map[string]string{"pyproject.toml": "[tool.ruffian]\n"}, ""},
		"rust":                {map[string]string{"Cargo.toml": "", "clippy.toml": "", "rustfmt.toml": ""}, "cargo test|cargo clippy -- -D warnings|cargo fmt --check"},
		"maven":               {map[string]string{"pom.xml": ""}, "mvn -q test"},
		"maven, wrapped":      {map[string]string{"pom.xml": "", "mvnw": ""}, "./mvnw -q test"},
		"gradle":              {map[string]string{"build.gradle.kts": "", "gradlew": ""}, "./gradlew test"},
		"make":                {map[string]string{"Makefile": "all: x\ntest:\n\tx\nchecked:\n"}, "make test"},
		"make beside go":      {map[string]string{"Makefile": "test:\n", "go.mod": ""}, "go vet ./...|go test ./..."},
		"two kinds":           {map[string]string{"go.mod": "", "package.json": `{"scripts":{"lint":"x"}}`}, "go vet ./...|go test ./...|npm run lint"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range propose(folder(projectWith(t, tt.files))) {
				got = append(got, p.command)
				assert.Assert(t, p.why != "" && p.name != "")
			}
			assert.Equal(t, strings.Join(got, "|"), tt.want)
		})
	}
}

// What init writes is a configuration that loads, whatever the project is.
func TestScaffoldLoads(t *testing.T) {
	t.Parallel()
	claude := fakes.NewTool(t, "claude")
	none := []string{"PATH=" + t.TempDir()}
	for name, tt := range map[string]struct {
		files map[string]string
		env   []string
		gates string
	}{
		"nothing":                 {map[string]string{}, none, ""},
		"a tool alone":            {map[string]string{}, claude.Env(none), "code-quality"},
		"go and a tool":           {map[string]string{"go.mod": ""}, claude.Env(none), "go-test go-vet code-quality"},
		"folders":                 {map[string]string{"api/go.mod": "", "web/package.json": `{"scripts":{"test":"x"}}`, ".hidden/go.mod": ""}, none, "api-go-test api-go-vet web-npm-test"},
		"folders and a tool":      {map[string]string{"api/go.mod": ""}, claude.Env(none), "api-go-test api-go-vet code-quality"},
		"the remote's own branch": {map[string]string{".git/refs/remotes/origin/HEAD": "ref: refs/remotes/origin/trunk\n"}, none, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := projectWith(t, tt.files)
			s := scaffoldOf(root, tt.env)
			assert.NilError(t, s.write(root))
			c, err := loadConfig(root, source{env: func(string) (string, bool) { return "", false }})
			assert.NilError(t, err)
			var names []string
			for _, g := range c.Gates {
				names = append(names, g.Name)
			}
			assert.Equal(t, strings.Join(names, " "), tt.gates)
			want := "origin/main"
			if name == "the remote's own branch" {
				want = "origin/trunk"
			}
			assert.Equal(t, c.BaseBranch, want)
			assert.Equal(t, c.StopHook.OnActive, "rerun")
		})
	}
}
