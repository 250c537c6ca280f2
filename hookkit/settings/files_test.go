package settings

import (
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"
)

func TestFiles(t *testing.T) {
	dir := fs.NewDir(t, "files", fs.WithDir("repo", fs.WithDir(".git", fs.WithFile("HEAD", "")), fs.WithDir("a")))
	repo, a, home := dir.Join("repo"), dir.Join("repo", "a"), dir.Path()
	assert.DeepEqual(t, Files(a, home), []File{
		{Local, filepath.Join(a, ".claude", "settings.local.json")},
		{Local, filepath.Join(repo, ".claude", "settings.local.json")},
		{Project, filepath.Join(a, ".claude", "settings.json")},
		{User, filepath.Join(home, ".claude", "settings.json")},
	})
	assert.DeepEqual(t, Files(repo, repo), []File{
		{Local, filepath.Join(repo, ".claude", "settings.local.json")},
		{Project, filepath.Join(repo, ".claude", "settings.json")},
	})
	assert.Equal(t, len(Files(repo, "")), 2)
}

// spec/stop-semantics.md "Own deadline" and spec/host-protocol.md "Timeout".
func TestHostTimeout(t *testing.T) {
	one := func(handler string) string { return `{"hooks":{"Stop":[{"hooks":[` + handler + `]}]}}` }
	ours := func(rest string) string { return `{"type":"command","command":"brepl hook stop"` + rest + `}` }
	tests := map[string]struct {
		files []string
		want  time.Duration
	}{
		"no file":               {nil, 600 * time.Second},
		"none said":             {[]string{one(ours(""))}, 600 * time.Second},
		"said":                  {[]string{one(ours(`,"timeout":900`))}, 900 * time.Second},
		"fraction":              {[]string{one(ours(`,"timeout":1.5`))}, 1500 * time.Millisecond},
		"smallest of two":       {[]string{one(ours(`,"timeout":900`)), one(ours(`,"timeout":30`))}, 30 * time.Second},
		"one without":           {[]string{one(ours(`,"timeout":900`)), one(ours(""))}, 600 * time.Second},
		"foreign":               {[]string{one(`{"command":"x; brepl hook stop","timeout":5}`)}, 600 * time.Second},
		"other event":           {[]string{`{"hooks":{"SessionEnd":[{"hooks":[` + ours(`,"timeout":5`) + `]}]}}`}, 600 * time.Second},
		"zero: dropped":         {[]string{one(ours(`,"timeout":0`))}, 600 * time.Second},
		"negative: dropped":     {[]string{one(ours(`,"timeout":-1`))}, 600 * time.Second},
		"string: dropped":       {[]string{one(ours(`,"timeout":"5"`))}, 600 * time.Second},
		"null: dropped":         {[]string{one(ours(`,"timeout":null`))}, 600 * time.Second},
		"dropped and good":      {[]string{one(ours(`,"timeout":0`) + "," + ours(`,"timeout":700`))}, 700 * time.Second},
		"huge":                  {[]string{one(ours(`,"timeout":1e400`))}, maxTimeout},
		"comment: not read":     {[]string{one(ours(`,"timeout":5`)) + " // x"}, 600 * time.Second},
		"trailing comma":        {[]string{one(ours(`,"timeout":5,`))}, 600 * time.Second},
		"trailing garbage":      {[]string{one(ours(`,"timeout":5`)) + "\x00"}, 600 * time.Second},
		"cut off":               {[]string{one(ours(`,"timeout":5`))[:60]}, 600 * time.Second},
		"BOM":                   {[]string{bom + one(ours(`,"timeout":5`))}, 5 * time.Second},
		"escaped names":         {[]string{`{"hook\u0073":{"Sto\u0070":[{"hooks":[` + ours(`,"timeout":5`) + `]}]}}`}, 5 * time.Second},
		"case counts":           {[]string{`{"Hooks":{"Stop":[{"hooks":[` + ours(`,"timeout":5`) + `]}]}}`}, 600 * time.Second},
		"last of two \"hooks\"": {[]string{`{"hooks":{"Stop":[{"hooks":[` + ours(`,"timeout":5`) + `]}]},"hooks":{}}`}, 600 * time.Second},
		"wrong shapes":          {[]string{`{"hooks":{"Stop":[1,{"hooks":2},{"hooks":[3,` + ours(`,"timeout":5`) + `]}]}}`}, 5 * time.Second},
		"args form":             {[]string{one(`{"type":"command","command":"/b/brepl","args":["hook","stop"],"timeout":7}`)}, 7 * time.Second},
		"a million brackets":    {[]string{manyBrackets()}, 600 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := fs.NewDir(t, "timeout")
			files := []File{{Local, dir.Path()}, {Local, dir.Join("missing")}} // a folder, and nothing
			for i, text := range tt.files {
				file := fs.NewFile(t, "settings", fs.WithContent(text))
				files = append(files, File{Scope: []Scope{Local, Project}[i], Path: file.Path()})
			}
			got := HostTimeout(files, "Stop", OwnCommand("brepl", "hook", "hooks"))
			assert.Equal(t, got, tt.want)
		})
	}
}

func manyBrackets() string {
	b := make([]byte, 1_000_000)
	for i := range b {
		b[i] = '['
	}
	return string(b)
}

func TestHandlers(t *testing.T) {
	file := fs.NewFile(t, "settings", fs.WithContent(read(t, "seed-before.json")))
	assert.DeepEqual(t, Handlers(file.Path()), []Handler{
		{Event: "PostToolUse", Matcher: "Write", Type: "command", Command: "prettier --write"},
		{Event: "PostToolUse", Matcher: "Edit", Type: "command", Command: "brepl hook eval"},
	})
	assert.Equal(t, len(Handlers(file.Path()+"x")), 0)
}

// The scan and the parser used for edits agree on every file that both accept.
func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"hooks":{"Stop":[{"matcher":"*","hooks":[{"type":"command","command":"x","args":["a"],"timeout":5,"if":"y"}]}]}}`))
	f.Add([]byte(`{"hooks":{"Stop":[{"hooks":[{"command":"\ud800\n"}]}]},"a":[1e5,-0,null,true]}`))
	f.Add([]byte("{\"hooks\":{\"Stop\":[{\"matcher\":\"\xc5\",\"hooks\":[{}]}]}}")) // invalid UTF-8
	f.Fuzz(func(t *testing.T, data []byte) {
		scanned := scanHandlers(data, "Stop")
		d, err := parse("s", data, []string{"Stop"})
		if err != nil || d.comments {
			return
		}
		var parsed []Handler
		for _, ev := range d.events {
			for _, en := range ev.list {
				if ev.name == "Stop" {
					parsed = append(parsed, en.list...)
				}
			}
		}
		assert.DeepEqual(t, scanned, parsed)
	})
}

func BenchmarkHostTimeout(b *testing.B) {
	file := fs.NewFile(b, "settings", fs.WithContent(`{"permissions":{"allow":["Bash(ls:*)","Edit"]},"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop","timeout":900}]}]}}`))
	files := []File{{Local, file.Path()}, {Project, file.Path() + ".no"}, {User, file.Path() + ".no"}}
	own := OwnCommand("brepl", "hook", "hooks")
	for b.Loop() {
		HostTimeout(files, "Stop", own)
	}
}
