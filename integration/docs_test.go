//go:build unix

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/lab"
)

// A page is kept true by running it. In its text, a block after a line that ends with `NAME`: is that file; a block of the
// language console holds commands after "$ " and what they print, in which a line "…" stands for any number of lines.

// docBlock is a fenced block of a page.
type docBlock struct {
	section  string // the heading above
	line     int    // of the opening fence
	language string // after the fence
	file     string // its name, when the text before the block says that it is a file
	text     string
}

func page(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	assert.NilError(t, err)
	return string(data)
}

func docBlocks(text string) []docBlock {
	var blocks []docBlock
	var open *docBlock
	before, section := "", "" // the last line with text; the last heading
	number := 0
	for line := range strings.Lines(text) {
		number++
		bare := strings.TrimRight(line, "\n")
		switch language, fence := strings.CutPrefix(bare, "```"); {
		case fence && open == nil:
			open = &docBlock{section: section, line: number, language: language, file: namedFile(before)}
		case fence:
			blocks = append(blocks, *open)
			open, before = nil, ""
		case open != nil:
			open.text += line
		case bare != "":
			before = bare
			if strings.HasPrefix(bare, "#") {
				section = bare
			}
		}
	}
	return blocks
}

// namedFile returns NAME of a line that ends with `NAME`:
func namedFile(line string) string {
	head, ok := strings.CutSuffix(line, "`:")
	if !ok {
		return ""
	}
	return head[strings.LastIndex(head, "`")+1:]
}

// docCommand is a command of a console block and what the page says that it prints. Lines that begin with "> " go on with it.
type docCommand struct {
	line         int
	command, out string
}

func docCommands(b docBlock) []docCommand {
	var commands []docCommand
	number := b.line
	for line := range strings.Lines(b.text) {
		number++
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, docCommand{line: number, command: strings.TrimSuffix(command, "\n")})
		} else if more, ok := strings.CutPrefix(line, "> "); ok && len(commands) > 0 && commands[len(commands)-1].out == "" {
			commands[len(commands)-1].command += "\n" + strings.TrimSuffix(more, "\n")
		} else if len(commands) > 0 {
			commands[len(commands)-1].out += line
		}
	}
	return commands
}

// docTimes are what differs from run to run: durations, and the spaces that align them; ports; sessions.
func docTimes() []rule {
	return []rule{
		{regexp.MustCompile(` *\b\d+(\.\d+)? ms\b`), " N ms"},
		{regexp.MustCompile(`\t\d+\.\d+s\b`), "\tN s"},
		{regexp.MustCompile(`\t\(cached\)`), "\tN s"},
		{regexp.MustCompile(`"ms":\d+`), `"ms":N`},
		{regexp.MustCompile(`localhost:\d+`), "localhost:PORT"},
		{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	}
}

// sameDoc compares what was printed with what a page shows.
func sameDoc(printed, shown string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(normalize(shown, docTimes())) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?s:.*\n)?`)
		} else {
			pattern.WriteString(regexp.QuoteMeta(line))
		}
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(normalize(printed, docTimes()))
}

// endOfCommand stands before the exit code of each command of a page.
const endOfCommand = "== end of command: "

// playPage writes the files and runs the commands of a page, from top to bottom, in one shell in a scratch folder, and compares what is
// printed. skip says which blocks are left out; the folders of path stand before PATH.
func playPage(t *testing.T, name string, skip func(docBlock) bool, path ...string) {
	t.Helper()
	home := realTempDir(t)
	var blocks []docBlock
	for _, b := range docBlocks(page(t, name)) {
		if !skip(b) {
			blocks = append(blocks, b)
		}
	}
	env := append(fakes.WithoutHostEnv(os.Environ()), "HOME="+home, "GOBIN="+filepath.Join(home, "bin"), "BREPL="+checkout(t))
	env = append(env, goPlaces(t)...)
	path = append([]string{filepath.Join(home, "bin")}, path...)
	env = append(env, "PATH="+strings.Join(append(path, os.Getenv("PATH")), ":"))
	for _, c := range playBlocks(t, name, blocks, home, env) {
		assert.Check(t, c.exit == 0, "%s:%d: $ %s\nexit %d", name, c.line, c.command, c.exit)
	}
}

// played is a command of a page that was run.
type played struct {
	docCommand

	exit int
}

// playBlocks writes the files and runs the commands of blocks, in one shell in a folder, and compares what is printed.
func playBlocks(t *testing.T, name string, blocks []docBlock, dir string, env []string) []played {
	t.Helper()
	var script strings.Builder
	var commands []played
	for _, b := range blocks {
		switch {
		case b.language == "console":
			for _, c := range docCommands(b) {
				_, _ = fmt.Fprintf(&script, "%s\necho \"%s$?\"\n", c.command, endOfCommand)
				commands = append(commands, played{docCommand: c})
			}
		case b.file != "":
			_, _ = fmt.Fprintf(&script, "mkdir -p '%s' && cat >'%s' <<'END OF FILE'\n%sEND OF FILE\n", filepath.Dir(b.file), b.file, b.text)
		}
	}
	assert.Assert(t, len(commands) > 0, "%s has no command to run", name)
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	printed := strings.ReplaceAll(string(out), dir, "/home/you")
	for i := range commands {
		c := &commands[i]
		var result string
		result, printed, _ = strings.Cut(printed, endOfCommand)
		exit, rest, _ := strings.Cut(printed, "\n")
		printed = rest
		c.exit, err = strconv.Atoi(exit)
		assert.NilError(t, err)
		if !sameDoc(result, c.out) {
			t.Errorf("%s:%d: $ %s\nexit %d; it prints:\n%s\nthe page says:\n%s", name, c.line, c.command, c.exit, result, c.out)
		}
	}
	return commands
}

// checkout is the absolute path of this module.
func checkout(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(root)
	assert.NilError(t, err)
	return dir
}

// goPlaces are the variables that keep Go's caches where they are when HOME is another.
func goPlaces(t *testing.T) []string {
	t.Helper()
	var env []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		assert.NilError(t, err)
		env = append(env, name+"="+strings.TrimSpace(string(out)))
	}
	return env
}

// Pins issue 3, 7: from nothing to three hooks that are tested, by what the page says and nothing else.
func TestDocsHookAuthors(t *testing.T) {
	fullRun(t)
	t.Parallel()
	interpreter, err := python(t)
	playPage(t, "docs/hook-authors.md", func(b docBlock) bool {
		return err != nil && strings.Contains(b.section, "Python")
	}, filepath.Dir(interpreter))
	if err != nil {
		skipOrFail(t, "no python3: the hook in Python of docs/hook-authors.md was not run: %v", err)
	}
}

// Pins issue 3, 7: the page lists every fault that a check can name, and none besides.
func TestDocsHookAuthorsListsAllFaults(t *testing.T) {
	t.Parallel()
	var listed, known []string
	for _, cells := range docTable(t, page(t, "docs/hook-authors.md"), "| trap | what happens | fault in") {
		listed = append(listed, cells[2])
	}
	for _, f := range lab.Faults() {
		name := "`" + f.ID + "`"
		if f.Warning {
			name += " (warning)"
		}
		known = append(known, name)
	}
	slices.Sort(listed)
	slices.Sort(known)
	assert.DeepEqual(t, listed, known)
}

// docTable returns the cells of the table whose head begins like this.
func docTable(t *testing.T, text, head string) [][]string {
	t.Helper()
	_, after, found := strings.Cut(text, "\n"+head)
	assert.Assert(t, found, "there is no table %q", head)
	var rows [][]string
	for i, line := range strings.Split(after, "\n") {
		if i < 2 { // the rest of the head, the rule below it
			continue
		}
		cells, ok := strings.CutPrefix(line, "| ")
		if !ok {
			break
		}
		rows = append(rows, strings.Split(strings.TrimSuffix(cells, " |"), " | "))
	}
	assert.Assert(t, len(rows) > 0)
	return rows
}
