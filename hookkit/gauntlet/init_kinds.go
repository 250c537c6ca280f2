package gauntlet

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// proposal is a check that init proposes: a command that the project itself shows to be one of its own.
type proposal struct {
	name, command string
	why           string // the file, and what in it, that shows it
}

// folder is a folder of the project as init looks at it.
type folder string

func (f folder) has(name string) bool {
	info, err := os.Stat(filepath.Join(string(f), name))
	return err == nil && info.Mode().IsRegular()
}

func (f folder) hasDir(name string) bool {
	info, err := os.Stat(filepath.Join(string(f), name))
	return err == nil && info.IsDir()
}

// first is the first of some files that is there, "" for none.
func (f folder) first(names ...string) string {
	i := slices.IndexFunc(names, f.has)
	if i < 0 {
		return ""
	}
	return names[i]
}

// maxManifest bounds the files that are read, in bytes.
const maxManifest = 1 << 20

// read is the text of a file, "" if it cannot be read or is too long.
func (f folder) read(name string) string {
	path := filepath.Join(string(f), name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxManifest {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

// kinds are the kinds of projects, each with what it proposes in a folder; nothing where the folder is not of the kind.
var kinds = []func(folder) []proposal{goChecks, clojureChecks, nodeChecks, pythonChecks, rustChecks, javaChecks}

// propose looks at one folder.
func propose(f folder) []proposal {
	var list []proposal
	for _, kind := range kinds {
		list = append(list, kind(f)...)
	}
	if len(list) == 0 {
		list = makeChecks(f)
	}
	return list
}

func goChecks(f folder) []proposal {
	if !f.has("go.mod") {
		return nil
	}
	list := []proposal{{"go-vet", "go vet ./...", "go.mod"}, {"go-test", "go test ./...", "go.mod"}}
	if config := f.first(".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"); config != "" {
		list = append(list, proposal{"golangci-lint", "golangci-lint run", config})
	}
	return list
}

func clojureChecks(f folder) []proposal {
	var list []proposal
	if alias := form(f.read("deps.edn")).Get("aliases").Get("test"); alias != nil {
		switch {
		case alias.Get("exec-fn") != nil:
			list = append(list, proposal{"clojure-test", "clojure -X:test", "deps.edn, alias :test"})
		case alias.Get("main-opts") != nil:
			list = append(list, proposal{"clojure-test", "clojure -M:test", "deps.edn, alias :test"})
		}
	}
	if f.has("project.clj") {
		list = append(list, proposal{"lein-test", "lein test", "project.clj"})
	}
	if tasks := form(f.read("bb.edn")).Get("tasks"); tasks != nil {
		for key := range tasks.Pairs() {
			if key.Kind == clj.Symbol && (key.Text == "test" || key.Text == "lint") {
				list = append(list, proposal{"bb-" + key.Text, "bb " + key.Text, "bb.edn, task " + key.Text})
			}
		}
	}
	if f.hasDir(".clj-kondo") {
		var dirs []string
		for _, dir := range []string{"src", "test"} {
			if f.hasDir(dir) {
				dirs = append(dirs, dir)
			}
		}
		if len(dirs) > 0 {
			list = append(list, proposal{"clj-kondo", "clj-kondo --lint " + strings.Join(dirs, " "), ".clj-kondo"})
		}
	}
	return list
}

// form is the first form of an EDN text, nil for none.
func form(text string) *clj.Node {
	nodes, _ := clj.ReadAll("", []byte(text), clj.Options{})
	if len(nodes) == 0 {
		return nil
	}
	return nodes[0]
}

// nodeScripts are the scripts of a package.json that check something.
var nodeScripts = []string{"test", "lint", "typecheck", "type-check", "check"}

func nodeChecks(f folder) []proposal {
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(f.read("package.json")), &pkg) != nil {
		return nil
	}
	runner := "npm"
	for _, lock := range [][2]string{{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}} {
		if f.has(lock[0]) {
			runner = lock[1]
			break
		}
	}
	var list []proposal
	for _, name := range nodeScripts {
		script := pkg.Scripts[name]
		if script == "" || strings.Contains(script, "no test specified") {
			continue
		}
		list = append(list, proposal{runner + "-" + name, runner + " run " + name, "package.json, script " + name})
	}
	return list
}

func pythonChecks(f folder) []proposal {
	project := f.read("pyproject.toml")
	prefix := ""
	switch {
	case f.has("uv.lock"):
		prefix = "uv run "
	case f.has("poetry.lock"):
		prefix = "poetry run "
	}
	shown := func(table string, files ...string) string {
		if tomlHas(project, table) {
			return "pyproject.toml, [" + table + "]"
		}
		return f.first(files...)
	}
	var list []proposal
	if why := shown("tool.pytest", "pytest.ini", "conftest.py", filepath.Join("tests", "conftest.py")); why != "" {
		list = append(list, proposal{"pytest", prefix + "pytest", why})
	}
	if why := shown("tool.ruff", "ruff.toml", ".ruff.toml"); why != "" {
		list = append(list, proposal{"ruff", prefix + "ruff check .", why})
	}
	if why := shown("tool.mypy", "mypy.ini", ".mypy.ini"); why != "" {
		list = append(list, proposal{"mypy", prefix + "mypy .", why})
	}
	return list
}

// tomlHas reports whether a TOML text has a table of that name or one below it.
func tomlHas(text, table string) bool {
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "[")
		if rest, is := strings.CutPrefix(name, table); ok && is && (strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, ".")) {
			return true
		}
	}
	return false
}

func rustChecks(f folder) []proposal {
	if !f.has("Cargo.toml") {
		return nil
	}
	list := []proposal{{"cargo-test", "cargo test", "Cargo.toml"}}
	if config := f.first("clippy.toml", ".clippy.toml"); config != "" {
		list = append(list, proposal{"clippy", "cargo clippy -- -D warnings", config})
	}
	if config := f.first("rustfmt.toml", ".rustfmt.toml"); config != "" {
		list = append(list, proposal{"rustfmt", "cargo fmt --check", config})
	}
	return list
}

func javaChecks(f folder) []proposal {
	var list []proposal
	if f.has("pom.xml") {
		if f.has("mvnw") {
			list = append(list, proposal{"maven-test", "./mvnw -q test", "pom.xml, mvnw"})
		} else {
			list = append(list, proposal{"maven-test", "mvn -q test", "pom.xml"})
		}
	}
	if build := f.first("build.gradle", "build.gradle.kts"); build != "" {
		if f.has("gradlew") {
			list = append(list, proposal{"gradle-test", "./gradlew test", build + ", gradlew"})
		} else {
			list = append(list, proposal{"gradle-test", "gradle test", build})
		}
	}
	return list
}

// makeChecks is for a project that only its Makefile says something about.
func makeChecks(f folder) []proposal {
	name := f.first("GNUmakefile", "makefile", "Makefile")
	var list []proposal
	text := []byte(f.read(name))
	for _, target := range []string{"test", "lint", "check"} {
		if bytes.HasPrefix(text, []byte(target+":")) || bytes.Contains(text, []byte("\n"+target+":")) {
			list = append(list, proposal{"make-" + target, "make " + target, name + ", target " + target})
		}
	}
	return list
}
