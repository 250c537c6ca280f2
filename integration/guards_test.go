package integration

import (
	"bytes"
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"
	"gotest.tools/v3/assert"
)

// The guards keep what no reviewer looks at every time: what is linked, who imports whom, what is in the tree.

const module = "github.com/hookkit/brepl"

// root is the checkout as seen from this package's tests.
const root = ".."

// linked says what third-party modules a program may link, and which packages it must never link, because each costs
// start-up time of every hook call or belongs to the harness. A trailing "/" stands for all packages below.
var linked = map[string]struct{ modules, never []string }{
	"cmd/brepl": {
		modules: []string{
			"github.com/tailscale/hujson", "github.com/gofrs/flock", "github.com/bmatcuk/doublestar/v4",
			"github.com/rogpeppe/go-internal", "golang.org/x/sys", "golang.org/x/term",
		},
		never: []string{
			"net/http", "crypto/", "encoding/gob", "regexp", "testing", "html/template", "text/template",
			module + "/hookkit/config", module + "/fakes", module + "/fakes/",
		},
	},
	"cmd/agent-gauntlet": {
		modules: []string{
			"github.com/bmatcuk/doublestar/v4", "github.com/gofrs/flock", "github.com/tailscale/hujson",
			"github.com/rogpeppe/go-internal", "golang.org/x/sys", "golang.org/x/term",
			// viper, and what viper needs.
			"github.com/spf13/viper", "github.com/spf13/afero", "github.com/spf13/cast", "github.com/spf13/pflag",
			"github.com/fsnotify/fsnotify", "github.com/go-viper/mapstructure/v2", "github.com/pelletier/go-toml/v2",
			"github.com/sagikazarmark/locafero", "github.com/sourcegraph/conc", "github.com/subosito/gotenv", "go.yaml.in/yaml/v3",
			"golang.org/x/text",
		},
		never: []string{"testing", module + "/fakes", module + "/fakes/"},
	},
	"cmd/memory-triage": {
		modules: []string{
			"github.com/tailscale/hujson", "github.com/gofrs/flock", "github.com/rogpeppe/go-internal",
			"golang.org/x/sys", "golang.org/x/term",
		},
		never: []string{"testing", module + "/fakes", module + "/fakes/", module + "/hookkit/clj", module + "/hookkit/config"},
	},
	"cmd/hookkit": {
		modules: []string{
			"github.com/tailscale/hujson", "github.com/gofrs/flock", "github.com/rogpeppe/go-internal",
			"golang.org/x/sys", "golang.org/x/term",
		},
		never: []string{"testing", module + "/hookkit/config"},
	},
}

// standardInternal are packages such as crypto/internal/boring that the standard library links for itself; what they
// cost at start cannot be avoided.
func standardInternal(pkg string) bool { return strings.Contains(pkg, "/internal/") }

func TestGuardLinkedPackages(t *testing.T) {
	t.Parallel()
	commands, err := filepath.Glob(root + "/cmd/*")
	assert.NilError(t, err)
	assert.Assert(t, len(commands) > 0, "no program in cmd")
	for _, dir := range commands {
		name := "cmd/" + filepath.Base(dir)
		row, known := linked[name]
		if !known {
			t.Errorf("%s is not in the table of programs", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for _, goos := range []string{"linux", "darwin", "windows"} {
				cmd := exec.CommandContext(t.Context(), "go", "list", "-deps",
					"-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", "./"+name)
				cmd.Dir = root
				cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
				out, err := cmd.Output()
				assert.NilError(t, err, "%s", stderrOf(err))
				for line := range strings.Lines(string(out)) {
					pkg, mod, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
					seen[mod] = true
					if mod != "" && mod != module && !slices.Contains(row.modules, mod) {
						t.Errorf("%s for %s links %s of module %s, which it may not", name, goos, pkg, mod)
					}
					if matchesAny(row.never, pkg) && !standardInternal(pkg) {
						t.Errorf("%s for %s links %s, which it must never do", name, goos, pkg)
					}
				}
			}
			for _, mod := range row.modules {
				if !seen[mod] {
					t.Errorf("the table says that %s links %s, which it does not", name, mod)
				}
			}
		})
	}
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return p == pkg || strings.HasSuffix(p, "/") && strings.HasPrefix(pkg, p)
	})
}

// importRule is a row of the table of imports: who may import whom. The table stands in .golangci.yml, as depguard's strict rules.
type importRule struct {
	Files    []string `yaml:"files"` // globs; with "!" before it: not these
	ListMode string   `yaml:"list-mode"`
	Allow    []string `yaml:"allow"` // $gostd, or a path with all below it; with "$" behind it: the path alone
}

func (r *importRule) covers(t *testing.T, file string) bool {
	t.Helper()
	covered := false
	for _, glob := range r.Files {
		bare, not := strings.CutPrefix(glob, "!")
		if bare == "$test" {
			continue // test files are not asked about
		}
		ok, err := doublestar.Match(bare, file)
		assert.NilError(t, err, glob)
		if ok && not {
			return false
		}
		covered = covered || ok
	}
	return covered
}

// allows gives the entry that allows an import, "" if none does.
func (r *importRule) allows(imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	for _, entry := range r.Allow {
		exact, isExact := strings.CutSuffix(entry, "$")
		switch {
		case entry == "$gostd" && !strings.Contains(first, "."),
			isExact && imported == exact,
			!isExact && strings.HasPrefix(imported+"/", entry+"/"):
			return entry
		}
	}
	return ""
}

func importRules(t *testing.T) map[string]*importRule {
	t.Helper()
	data, err := os.ReadFile(root + "/.golangci.yml")
	assert.NilError(t, err)
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]*importRule `yaml:"rules"`
				} `yaml:"depguard"`
			} `yaml:"settings"`
		} `yaml:"linters"`
	}
	assert.NilError(t, yaml.Unmarshal(data, &config))
	rules := config.Linters.Settings.Depguard.Rules
	maps.DeleteFunc(rules, func(_ string, r *importRule) bool { return r.ListMode != "strict" })
	assert.Assert(t, len(rules) > 0, ".golangci.yml has no strict rules of depguard")
	return rules
}

// TestGuardImportDirection reads the imports themselves, so that they do not depend on the system that the test runs on, and finds
// what the lint rule cannot: a package without a row, and a row that nothing uses.
func TestGuardImportDirection(t *testing.T) {
	rules := importRules(t)
	used := map[string]bool{}
	for _, file := range tree(t) {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") ||
			strings.Contains(file, "testdata/") || strings.HasPrefix(file, "scripts/") {
			continue
		}
		var names []string
		for name, rule := range rules {
			if rule.covers(t, file) {
				names = append(names, name)
			}
		}
		if len(names) != 1 {
			t.Errorf("%s: %d rows of .golangci.yml say what it may import, not one: %q", file, len(names), names)
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
		assert.NilError(t, err)
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			assert.NilError(t, err)
			entry := rules[names[0]].allows(imported)
			if entry == "" {
				t.Errorf("%s may not import %s: see %s in .golangci.yml", file, imported, names[0])
			}
			used[names[0]+" "+entry] = true
		}
	}
	for name, rule := range rules {
		for _, entry := range rule.Allow {
			if !used[name+" "+entry] {
				t.Errorf(".golangci.yml: %s allows %s, which none of its files imports", name, entry)
			}
		}
	}
}

func TestGuardGoModIsTidy(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "mod", "tidy", "-diff")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err == nil {
		return
	}
	if !bytes.Contains(out, []byte("\n--- ")) && !bytes.HasPrefix(out, []byte("diff ")) {
		skipOrFail(t, "go mod tidy cannot load modules: %s", out)
	}
	t.Errorf("go.mod is not tidy; run: go mod tidy\n%s", out)
}

func TestGuardMainIsShort(t *testing.T) {
	mains, err := filepath.Glob(root + "/cmd/*/*.go")
	assert.NilError(t, err)
	assert.Assert(t, len(mains) > 0, "no program in cmd")
	for _, file := range mains {
		data, err := os.ReadFile(file)
		assert.NilError(t, err)
		if lines := bytes.Count(data, []byte("\n")); lines > 20 || filepath.Base(file) != "main.go" {
			t.Errorf("%s has %d lines: a program is one main.go of at most 20", file, lines)
		}
	}
}

// maxFile is the size in bytes above which a file has no place in the repository.
const maxFile = 1 << 20

// What a build makes, by its first bytes or its name.
var (
	binaryHeads = []string{"\x7fELF", "MZ\x90\x00", "\xcf\xfa\xed\xfe", "\xfe\xed\xfa\xcf", "\xca\xfe\xba\xbe", "!<arch>\n", "PK\x03\x04", "\x1f\x8b\x08"}
	binaryNames = []string{".exe", ".test", ".class", ".jar", ".so", ".o", ".a", ".tar", ".gz", ".zip", ".prof"}
)

// Paths of one machine and hosts of registries. Spelled in two parts, so that this file is not its own finding.
var strangers = []string{
	"/wor" + "k/", "/far" + "m/", "far" + "m-", "/roo" + "t/", "bash" + "_jobs",
	"proxy." + "golang.org", "sum." + "golang.org", "registry." + "npmjs", "deb." + "debian.org", "docker." + "io/", "pypi." + "org",
}

func TestGuardTreeIsClean(t *testing.T) {
	for _, file := range tree(t) {
		info, err := os.Lstat(filepath.Join(root, file))
		assert.NilError(t, err)
		if !info.Mode().IsRegular() {
			continue
		}
		if info.Size() > maxFile {
			t.Errorf("%s has %d bytes, more than %d", file, info.Size(), maxFile)
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, file))
		assert.NilError(t, err)
		if slices.ContainsFunc(binaryHeads, func(head string) bool { return bytes.HasPrefix(data, []byte(head)) }) ||
			slices.Contains(binaryNames, path.Ext(file)) {
			t.Errorf("%s is a generated binary", file)
		}
		for _, stranger := range strangers {
			if before, _, found := bytes.Cut(data, []byte(stranger)); found {
				line := bytes.Count(before, []byte("\n")) + 1
				t.Errorf("%s:%d names %q: a machine's path or a registry's host", file, line, stranger)
			}
		}
	}
}

// TestGuardScripts: every script is executable, parses, and says how it is used.
func TestGuardScripts(t *testing.T) {
	scripts := 0
	for _, file := range tree(t) {
		inScripts := path.Dir(file) == "scripts" && path.Ext(file) == "" || path.Dir(file) == ".ci"
		if !inScripts && file != "scripts/lib.sh" {
			continue
		}
		scripts++
		full := filepath.Join(root, file)
		if out, err := exec.CommandContext(t.Context(), "bash", "-n", full).CombinedOutput(); err != nil {
			t.Errorf("%s does not parse: %s", file, out)
		}
		if !inScripts {
			continue
		}
		info, err := os.Stat(full)
		assert.NilError(t, err)
		if info.Mode().Perm()&0o111 != 0o111 {
			t.Errorf("%s is not executable", file)
		}
		data, err := os.ReadFile(full)
		assert.NilError(t, err)
		if !bytes.HasPrefix(data, []byte("#!/usr/bin/env bash\n# usage: "+file)) {
			t.Errorf("%s does not begin with #!/usr/bin/env bash and a line “# usage: %s …”", file, file)
		}
		if !bytes.Contains(data, []byte("lib.sh\"\n")) && !bytes.Contains(data, []byte("\nset -euo pipefail\n")) {
			t.Errorf("%s neither sources lib.sh nor sets -euo pipefail", file)
		}
	}
	assert.Assert(t, scripts > 1, "no scripts were found")
}

// TestGuardLinksInDocs: a relative link in a Markdown file leads to a file, and its anchor to a heading.
func TestGuardLinksInDocs(t *testing.T) {
	for _, file := range tree(t) {
		if path.Ext(file) != ".md" || strings.Contains(file, "testdata/") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, file))
		assert.NilError(t, err)
		for _, link := range markdownLinks(string(data)) {
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			target, anchor, _ := strings.Cut(link, "#")
			to := file
			if target != "" {
				to = path.Join(path.Dir(file), target)
			}
			info, err := os.Stat(filepath.Join(root, to))
			if err != nil {
				t.Errorf("%s: link %q leads nowhere", file, link)
				continue
			}
			if anchor == "" || info.IsDir() || path.Ext(to) != ".md" {
				continue
			}
			there, err := os.ReadFile(filepath.Join(root, to))
			assert.NilError(t, err)
			if !slices.Contains(markdownAnchors(string(there)), anchor) {
				t.Errorf("%s: link %q: no such heading in %s", file, link, to)
			}
		}
	}
}

// TestGuardDecisions: a decision is a page of at most 40 lines, and the index lists each.
func TestGuardDecisions(t *testing.T) {
	const folder = "docs/decisions/"
	index, err := os.ReadFile(filepath.Join(root, folder, "README.md"))
	assert.NilError(t, err)
	var pages []string
	for _, file := range tree(t) {
		name, ok := strings.CutPrefix(file, folder)
		if !ok || name == "README.md" {
			continue
		}
		pages = append(pages, name)
		data, err := os.ReadFile(filepath.Join(root, file))
		assert.NilError(t, err)
		if lines := bytes.Count(data, []byte("\n")); lines > 40 {
			t.Errorf("%s has %d lines: a decision is told in 40", file, lines)
		}
	}
	listed := markdownLinks(string(index))
	slices.Sort(listed)
	assert.DeepEqual(t, listed, pages)
}

// TestGuardHouseNamesFiles: the ways through the house lead past files that are there.
func TestGuardHouseNamesFiles(t *testing.T) {
	data, err := os.ReadFile(root + "/docs/house.md")
	assert.NilError(t, err)
	named := regexp.MustCompile(`\b(cmd|hookkit|fakes)/[a-z/_]+\.(go|md)\b`).FindAllString(string(data), -1)
	assert.Assert(t, len(named) > 40, "only %d files are named", len(named))
	for _, file := range named {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Errorf("docs/house.md names %s, which is not there", file)
		}
	}
}

func TestMarkdownLinks(t *testing.T) {
	text := "# A `b` c!\nsee [x](docs/a.md#b-c) and [y](#a-b-c)\n```\n[no](gone.md)\n```\n`[no](gone.md)` ![z](p.png \"title\")\n"
	assert.DeepEqual(t, markdownLinks(text), []string{"docs/a.md#b-c", "#a-b-c", "p.png"})
	assert.DeepEqual(t, markdownAnchors(text), []string{"a-b-c"})
}

// prose gives the lines of a Markdown text without fenced code.
func prose(text string) []string {
	var lines []string
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

func markdownLinks(text string) []string {
	var links []string
	for _, line := range prose(text) {
		// Every second part between backquotes is code.
		for i, part := range strings.Split(line, "`") {
			if i%2 == 1 {
				continue
			}
			for {
				_, rest, ok := strings.Cut(part, "](")
				if !ok {
					break
				}
				link, after, _ := strings.Cut(rest, ")")
				link, _, _ = strings.Cut(link, " ")
				links = append(links, link)
				part = after
			}
		}
	}
	return links
}

// markdownAnchors gives the headings as the hosts of repositories make anchors of them.
func markdownAnchors(text string) []string {
	var anchors []string
	for _, line := range prose(text) {
		level := len(line) - len(strings.TrimLeft(line, "#"))
		if level == 0 || !strings.HasPrefix(line[level:], " ") {
			continue
		}
		anchors = append(anchors, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(strings.TrimSpace(line[level:]))))
	}
	return anchors
}

// tree lists the files that are in the repository or would be added to it, with slashes, from the root on. Outside of
// a repository (an unpacked archive) it lists what is there.
func tree(t *testing.T) []string {
	t.Helper()
	// Whoever owns the checkout, its list of files may be read.
	cmd := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "ls-files", "-z", "-co", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	var files []string
	if err == nil {
		for file := range strings.SplitSeq(strings.Trim(string(out), "\x00"), "\x00") {
			// A file deleted but not yet committed is still listed.
			if _, err := os.Lstat(filepath.Join(root, file)); err == nil {
				files = append(files, file)
			}
		}
	} else {
		err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
			if d != nil && d.IsDir() && (p == ".git" || p == "bin") {
				return fs.SkipDir
			}
			if err == nil && !d.IsDir() {
				files = append(files, p)
			}
			return err
		})
		assert.NilError(t, err)
	}
	assert.Assert(t, slices.Contains(files, "go.mod"), "the list of files has no go.mod")
	return files
}

func stderrOf(err error) []byte {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.Stderr
	}
	return nil
}
