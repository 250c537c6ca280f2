package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/settings"
)

// scratchName stands for the scratch folder in environments and in compared streams.
const scratchName = "/scratch"

// scratch is a copy of the recorded project in a folder of its own. Paths of the recording are mapped into it, and back in what hooks print.
type scratch struct {
	root, project, home string
	rewrite             []string // pairs for streams: what varies, and what stands for it
}

func newScratch(parent string, rewrite []string) (*scratch, error) {
	root, err := makeTempDir(parent, "replay")
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	s := &scratch{root: root, project: filepath.Join(root, "project"), home: filepath.Join(root, "home"), rewrite: rewrite}
	for _, dir := range []string{s.project, s.home, filepath.Join(root, "tmp")} {
		if err := os.Mkdir(dir, ourDirMode); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *scratch) remove() error { return os.RemoveAll(s.root) }

// in maps the recording's paths into the scratch folder. The text may be JSON.
func (s *scratch) in(text string) string {
	for _, p := range []pair{{ProjectDir, s.project}, {HomeDir, s.home}, {scratchName, s.root}} {
		p.standIn = filepath.ToSlash(p.standIn) // a backslash would need an escape in JSON
		text = replaceAt(text, p, false, func(before, after byte) bool {
			return !continuesPath(before) && before != '/' && !continuesPath(after)
		})
	}
	return text
}

func continuesPath(c byte) bool { return isWordByte(c) || c == '_' || c == '-' || c == '.' }

// out maps them back.
func (s *scratch) out(text string) string {
	for _, p := range []pair{{s.project, ProjectDir}, {s.home, HomeDir}, {s.root, scratchName}} {
		text = strings.ReplaceAll(text, p.raw, p.standIn)
		text = strings.ReplaceAll(text, filepath.ToSlash(p.raw), p.standIn)
	}
	for i := 0; i+1 < len(s.rewrite); i += 2 {
		text = strings.ReplaceAll(text, s.rewrite[i], s.rewrite[i+1])
	}
	return text
}

// write writes a file of the recording. A path outside of the scratch folder is refused: a recording must not reach the user's files.
func (s *scratch) write(path, content string) error {
	path, err := s.inside(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), ourDirMode); err != nil {
		return err
	}
	if strings.HasPrefix(content, "#!") { // a recording does not tell modes
		if err := fakes.WriteProgram(path, content); err != nil {
			return err
		}
		return os.Chmod(path, ourDirMode)
	}
	return os.WriteFile(path, []byte(content), ourMode)
}

func (s *scratch) inside(path string) (string, error) {
	mapped := filepath.Clean(filepath.FromSlash(s.in(path)))
	if mapped != s.root && !strings.HasPrefix(mapped, s.root+string(filepath.Separator)) {
		return "", fmt.Errorf("the recorded path %s is outside of %s and %s", path, ProjectDir, HomeDir)
	}
	return mapped, nil
}

// toolFile is what an event tells of a file.
type toolFile struct {
	path          string
	before, after *string // nil: not known, or not there
	created       bool
	changed       bool
}

// file reads a tool's response.
func (c Call) file() (toolFile, bool) {
	f := c.fields()
	if c.Event != "PostToolUse" {
		return toolFile{}, false
	}
	var response struct {
		Type         string
		FilePath     string
		Content      *string
		OldString    string
		NewString    string
		OriginalFile *string
		ReplaceAll   bool
		File         struct {
			FilePath                        string
			Content                         *string
			NumLines, StartLine, TotalLines int
		}
	}
	if json.Unmarshal(f.ToolResponse, &response) != nil {
		return toolFile{}, false
	}
	switch f.ToolName {
	case "Read":
		whole := response.File.StartLine == 1 && response.File.NumLines == response.File.TotalLines
		return toolFile{path: response.File.FilePath, before: response.File.Content}, whole && response.File.Content != nil
	case "Write":
		return toolFile{
			path: response.FilePath, before: response.OriginalFile, after: response.Content,
			created: response.OriginalFile == nil, changed: true,
		}, response.Content != nil
	case "Edit":
		if response.OriginalFile == nil {
			return toolFile{}, false
		}
		n := 1
		if response.ReplaceAll {
			n = -1
		}
		after := strings.Replace(*response.OriginalFile, response.OldString, response.NewString, n)
		return toolFile{path: response.FilePath, before: response.OriginalFile, after: &after, changed: true}, true
	}
	return toolFile{}, false
}

// prepare writes what the project held at the start, as far as the recording tells: the first time that a file is read or changed shows
// what was in it.
func (s *scratch) prepare(r *Recording, e *Expect) error {
	if r.Settings != nil {
		if err := s.write(settings.Local.PathIn(ProjectDir), string(r.Settings)); err != nil {
			return err
		}
	}
	known := map[string]bool{}
	for _, c := range r.Calls {
		f, ok := c.file()
		if !ok || known[f.path] {
			continue
		}
		known[f.path] = true
		if f.before == nil {
			continue
		}
		if err := s.write(f.path, *f.before); err != nil {
			return err
		}
	}
	if e != nil {
		for path, content := range e.Project {
			if err := s.write(filepath.Join(ProjectDir, path), content); err != nil {
				return err
			}
		}
	}
	return nil
}

// advance does to the files what the tool has done when its PostToolUse fires.
func (s *scratch) advance(c Call) error {
	f, ok := c.file()
	if !ok || !f.changed {
		return nil
	}
	return s.write(f.path, *f.after)
}

// missingLines says that the hook had more of the transcript than was copied, "" if not: the copy ends with the session, or the recorder.
func (r *Recording) missingLines(c Call) string {
	if has := len(r.transcripts[c.fields().SessionID]); c.Transcript.Exists && has < c.Transcript.Lines {
		return fmt.Sprintf("transcript incomplete: %d of %d lines", has, c.Transcript.Lines)
	}
	return ""
}

// transcript writes the transcripts as they were when the hook started.
func (s *scratch) transcript(r *Recording, c Call) error {
	f := c.fields()
	if f.TranscriptPath != "" {
		lines := r.transcripts[f.SessionID]
		if err := s.cut(f.TranscriptPath, lines, c.Transcript); err != nil {
			return err
		}
	}
	if lines := r.transcripts["agent-"+filepath.Base(f.AgentID)]; f.AgentTranscriptPath != "" && lines != nil {
		return s.write(f.AgentTranscriptPath, s.in(strings.Join(lines, "")))
	}
	return nil
}

func (s *scratch) cut(path string, lines []string, mark TranscriptMark) error {
	if !mark.Exists {
		mapped, err := s.inside(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(mapped), ourDirMode); err != nil {
			return err
		}
		return os.RemoveAll(mapped)
	}
	return s.write(path, s.in(strings.Join(lines[:min(mark.Lines, len(lines))], "")))
}
