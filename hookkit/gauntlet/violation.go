package gauntlet

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/text"
)

// Violations of a job live in a folder of their own, from the run that found them to the run that passes. Each has a JSON file, in which
// the agent sets its status. foundName keeps them all a second time, as they were found: an agent that deletes or breaks a file has not
// mended anything.
const foundName = ".found.json"

// record is a violation with what it was found in.
type record struct {
	Violation
	Gate   string `json:"gate"`
	Object string `json:"object"` // the content's id, in git, of the file it is in
	Inputs string `json:"inputs"` // a hash of what was reviewed
	Code   string `json:"code"`   // its line in the diff
}

// violations is the folder of one job.
type violations struct {
	dir     string
	records []record // in the order in which they were found
	notes   []string // what is wrong with the files, for the user
}

// loadViolations reads a job's folder. A folder that is not there has none.
func loadViolations(dir string) (*violations, error) {
	v := &violations{dir: dir}
	data, err := os.ReadFile(filepath.Join(dir, foundName))
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	if err = json.Unmarshal(data, &v.records); err != nil {
		v.note("%s cannot be read (%v); the violations are those that have files", filepath.Join(dir, foundName), err)
		v.records = v.fromFiles()
	}
	for i := range v.records {
		v.readStatus(&v.records[i])
	}
	return v, nil
}

// fromFiles makes records of the violations' own files.
func (v *violations) fromFiles() (list []record) {
	entries, _ := os.ReadDir(v.dir) // what cannot be read holds nothing
	for _, entry := range entries {
		id, isOne := strings.CutSuffix(entry.Name(), ".json")
		if !isOne || entry.Name() == foundName {
			continue
		}
		r := record{}
		data, err := os.ReadFile(v.file(id))
		if err != nil || json.Unmarshal(data, &r.Violation) != nil || r.File == "" || r.Issue == "" {
			continue
		}
		r.ID = id
		list = append(list, r)
	}
	return list
}

// readStatus takes over what the agent wrote into a violation's file. Only the status and its reason count there.
func (v *violations) readStatus(r *record) {
	r.Path = v.file(r.ID)
	r.Status, r.Reason = ViolationNew, ""
	var said struct {
		Status ViolationStatus `json:"status"`
		Reason string          `json:"reason"`
	}
	data, err := os.ReadFile(r.Path)
	if err == nil {
		err = json.Unmarshal(data, &said)
	}
	said.Reason = paragraph(said.Reason)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.note("%s is gone; the violation counts as new", r.Path)
	case err != nil:
		v.note("%s cannot be read (%v); the violation counts as new", r.Path, err)
	case said.Status == ViolationSkipped && said.Reason == "":
		v.note("%s: a skipped violation needs a \"reason\"; it counts as new", r.Path)
	case said.Status == ViolationNew, said.Status == ViolationFixed, said.Status == ViolationSkipped:
		r.Status, r.Reason = said.Status, said.Reason
	default:
		v.note("%s: the status %q is none of new, fixed, skipped; the violation counts as new", r.Path, text.CutBytes(string(said.Status), 40))
	}
}

// takeSkips takes over what was skipped since the records were read.
func (v *violations) takeSkips() {
	again := violations{dir: v.dir}
	for i := range v.records {
		r := v.records[i]
		if again.readStatus(&r); r.Status == ViolationSkipped {
			v.records[i] = r
		}
	}
}

func (v *violations) note(format string, args ...any) {
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

func (v *violations) file(id string) string { return filepath.Join(v.dir, id+".json") }

// save writes every violation, and removes the files of those that are gone.
func (v *violations) save() error {
	if err := os.MkdirAll(v.dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(v.dir)
	if err != nil {
		return err
	}
	all := v.records
	if all == nil {
		all = []record{}
	}
	if err = writeJSON(filepath.Join(v.dir, foundName), all); err != nil {
		return err
	}
	for i := range v.records {
		if err = writeJSON(v.file(v.records[i].ID), v.records[i].forFile()); err != nil {
			return err
		}
	}
	for _, entry := range entries {
		id, isOne := strings.CutSuffix(entry.Name(), ".json")
		if isOne && entry.Name() != foundName && !slices.ContainsFunc(v.records, func(r record) bool { return r.ID == id }) {
			_ = os.Remove(filepath.Join(v.dir, entry.Name())) // a stray file has no meaning: only what is in foundName counts
		}
	}
	return nil
}

// forFile is the violation without the path of the file that it is written to.
func (v Violation) forFile() Violation {
	v.Path = ""
	return v
}

func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return session.WriteFile(path, append(data, '\n'), session.WriteOptions{Mode: 0o600})
}

// skip marks one violation as skipped.
func (v *violations) skip(id, reason string) error {
	i := slices.IndexFunc(v.records, func(r record) bool { return r.ID == id })
	if i < 0 {
		return fmt.Errorf("there is no violation %s", id)
	}
	v.records[i].Status, v.records[i].Reason = ViolationSkipped, reason
	return writeJSON(v.file(id), v.records[i].forFile())
}

// newID names a violation by what it says, so that the same finding of two runs has one name. taken are those in use.
func newID(job string, f finding, taken []record) string {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s\x00%s\x00%s\x00%d", job, f.file, f.issue, f.line)
	sum := fmt.Sprintf("%016x", h.Sum64())
	for n := 6; ; n++ {
		id := sum[:min(n, len(sum))]
		if n > len(sum) {
			id += fmt.Sprintf("-%d", n-len(sum))
		}
		if !slices.ContainsFunc(taken, func(r record) bool { return r.ID == id }) {
			return id
		}
	}
}
