package triage

import (
	"encoding/json"
	"errors"
	"hash/fnv"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/session"
)

// The loop guard: what was asked for is not asked for again.

// flagName is the flag file of the seed, below .claude of the project.
const flagName = ".stop_hook_active"

// openNotes opens the state of the session with that id of [session.IDOf]. It has a name of its own: another hook that ends the session
// removes the folder of the plain one.
func openNotes(env func(string) string, id string) (*session.Session, error) {
	return session.Open(env, programName+"-"+id)
}

// lockWait is how long a stop waits for another one of the same session. Notes are written in some milliseconds, and no model is asked
// meanwhile.
const lockWait = 2 * time.Second

// flagAge is how long a flag says that the agent has just been asked.
const flagAge = 5 * time.Minute

// flags lists where the flag file of a session may be: below .claude of the folders, and in the state folder.
func flagPaths(s *session.Session, dirs ...string) []string {
	var list []string
	for _, dir := range dirs {
		if path := filepath.Join(dir, ".claude", flagName); filepath.IsAbs(dir) && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	if s != nil {
		if dir, err := s.Find(); err == nil {
			list = append(list, filepath.Join(dir, flagName))
		}
	}
	return list
}

// takeFlag says whether the session's flag is up, and takes it down. A flag that is empty, old or another session's says nothing; an
// old one of this session goes too.
func takeFlag(paths []string, id string, now time.Time) bool {
	up := false
	for _, path := range paths {
		const most = 4 << 10
		data, err := session.ReadOwned(path, most)
		if err != nil || !namesSession(string(data), id) {
			continue
		}
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if age := now.Sub(info.ModTime()); age < flagAge && age > -flagAge {
			up = true
		}
		_ = session.RemoveOwned(path) // it is old in five minutes
	}
	return up
}

func namesSession(text, id string) bool {
	return id != "" && slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"',:{}", r) }), id)
}

// raiseFlag writes the session's flag: below .claude where there is one, else in the state folder.
func raiseFlag(s *session.Session, id string, dirs ...string) error {
	text := []byte(id + "\n")
	for _, dir := range dirs {
		claude := filepath.Join(dir, ".claude")
		if info, err := os.Stat(claude); err != nil || !info.IsDir() || !filepath.IsAbs(dir) {
			continue
		}
		if err := session.WriteFile(filepath.Join(claude, flagName), text, session.WriteOptions{State: true}); err == nil {
			return nil
		}
	}
	dir, err := s.Dir()
	if err != nil {
		return err
	}
	return session.WriteFile(filepath.Join(dir, flagName), text, session.WriteOptions{})
}

// asked is what the session was asked for already: hashes of evidence, by category.
type asked map[Category][]string

const askedFile = "memory-triage.json"

func readAsked(s *session.Session) asked {
	dir, err := s.Find()
	if err != nil {
		return asked{}
	}
	const most = 1 << 20
	data, err := session.ReadOwned(filepath.Join(dir, askedFile), most)
	known := asked{}
	if err != nil || json.Unmarshal(data, &known) != nil || known == nil {
		return asked{}
	}
	return known
}

func (a asked) write(s *session.Session) error {
	dir, err := s.Dir()
	if err != nil {
		return err
	}
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return session.WriteFile(filepath.Join(dir, askedFile), data, session.WriteOptions{})
}

// keyOf identifies a piece of evidence without keeping its words.
func keyOf(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.ToLower(strings.Join(strings.Fields(text), " ")))) // never fails
	return strconv.FormatUint(h.Sum64(), 36)
}

// dropAsked takes out the evidence that the session was asked for, and what the agent says of it again.
func (a *analysis) dropAsked(known asked) {
	a.drop("asked for before in this session", func(h *evidence) bool {
		return slices.Contains(known[h.category], a.key(h))
	})
}

// drop takes out the evidence that matches, and what the agent says of it again later, in other words. A question of what to choose is weak
// evidence, and its answer does not repeat it.
func (a *analysis) drop(reason string, match func(*evidence) bool) {
	const sure = 0.5
	gone := map[Category][]int{}
	for _, h := range slices.Concat(a.found, a.spoken) {
		if h.category != SessionSummary && h.weight >= sure && match(&h) && !slices.Contains(gone[h.category], h.sentence) {
			gone[h.category] = append(gone[h.category], h.sentence)
		}
	}
	a.forget(reason, match)
	a.forget(reason+", in other words", func(h *evidence) bool {
		return h.category != SessionSummary && slices.ContainsFunc(gone[h.category], func(i int) bool { return a.repeats(h.sentence, i) })
	})
}

// repeats says whether the agent says in sentence i what was said in an earlier one. What the user says again may be meant anew.
func (a *analysis) repeats(i, earlier int) bool {
	if i <= earlier || !a.sentences[i].agent {
		return false
	}
	return a.sentences[i].resembles(&a.sentences[earlier])
}

// resembles says whether two sentences share two telling words or more, and half of those of one of them.
func (s *sentence) resembles(other *sentence) bool {
	shared := 0
	words, others := s.telling(), other.telling()
	for w := range words {
		if others[w] {
			shared++
		}
	}
	return shared >= 2 && 2*shared >= min(len(words), len(others))
}

// telling are the words of a sentence that two sentences about the same thing share, without a plural's s.
func (s *sentence) telling() map[string]bool {
	words := map[string]bool{}
	for i := range s.words {
		if w := s.words[i].word; len(w) >= 4 && !commonWord(w) {
			words[strings.TrimSuffix(w, "s")] = true
		}
	}
	return words
}

func (a *analysis) key(h *evidence) string {
	if h.category == SessionSummary {
		return string(SessionSummary) // once a session
	}
	return keyOf(a.sentences[h.sentence].text)
}

// dropSaved takes out the evidence after which the agent wrote to a memory file, and what it says of that.
func (a *analysis) dropSaved() {
	reports := a.reports()
	a.forget("the agent's report of what it saved", func(h *evidence) bool {
		return h.category != SessionSummary && reports[a.sentences[h.sentence].message]
	})
	saved := noPlace
	for _, t := range a.conv.tools {
		if t.memory {
			saved = t.at
		}
	}
	a.drop("saved to a memory file since", func(h *evidence) bool { return a.placeOf(h) < saved })
}

// reports says of each message whether it reports what was saved: what the agent says after it got a list of ours, or what tells of saving after
// it wrote to a memory file on its own, until the user speaks or it changes a file of the work.
func (a *analysis) reports() []bool {
	var saves, ends []int
	for _, t := range a.conv.tools {
		if t.memory {
			saves = append(saves, t.at)
		} else if t.works() {
			ends = append(ends, t.at)
		}
	}
	list := make([]bool, len(a.conv.messages))
	if len(saves)+len(a.conv.asks) == 0 {
		return list
	}
	for _, m := range a.conv.messages {
		if !m.agent {
			ends = append(ends, m.at)
		}
	}
	told := make([]bool, len(list))
	for i := range a.sentences {
		s := &a.sentences[i]
		told[s.message] = told[s.message] || slices.ContainsFunc(s.words, tellsOfSaving)
	}
	for i, m := range a.conv.messages {
		end := lastBefore(ends, m.at)
		list[i] = m.agent && (lastBefore(a.conv.asks, m.at) > end || told[i] && lastBefore(saves, m.at) > end)
	}
	return list
}

func tellsOfSaving(w token) bool {
	switch w.word {
	case "saved", "noted", "recorded", "remembered", "stored", "written", "wrote", "documented", "added", "memory", "memories":
		return true
	}
	return false
}

const noPlace = math.MinInt

// lastBefore is the last of the places before one, noPlace for none.
func lastBefore(places []int, at int) int {
	last := noPlace
	for _, p := range places {
		if p < at && p > last {
			last = p
		}
	}
	return last
}

// placeOf is when something was said; for SESSION_SUMMARY when the last file was changed.
func (a *analysis) placeOf(h *evidence) int {
	if h.category == SessionSummary {
		_, last := a.changed()
		return last
	}
	return a.sentences[h.sentence].at
}

// fresh leaves out the findings whose best evidence was asked for before: a model can confirm what was taken back, which dropAsked does not
// reach.
func (a *analysis) fresh(known asked, findings []finding) []finding {
	return slices.DeleteFunc(findings, func(f finding) bool {
		best := a.evidenceOf(f.Category, 1)
		return len(best) == 0 || slices.Contains(known[f.Category], a.key(&best[0]))
	})
}

// note adds everything found in the listed categories to what was asked for, and what the list quotes.
func (a *analysis) note(known asked, findings []finding) asked {
	for _, f := range findings {
		for _, h := range slices.Concat(a.found, a.spoken, a.evidenceOf(f.Category, 1)) {
			if h.category == f.Category {
				if key := a.key(&h); !slices.Contains(known[f.Category], key) {
					known[f.Category] = append(known[f.Category], key)
				}
			}
		}
	}
	return known
}

// endSession takes the session's flag down. Its notes stay, because whatever reason its end has, it can be resumed, under the same id;
// only after clear nobody comes back to it. Notes of sessions that nobody resumes are swept away in time.
func endSession(s *session.Session, id string, forget bool, dirs ...string) error {
	var errs []error
	for _, path := range flagPaths(s, dirs...) {
		const most = 4 << 10
		if data, err := session.ReadOwned(path, most); err == nil && namesSession(string(data), id) {
			errs = append(errs, session.RemoveOwned(path))
		}
	}
	_, err := s.Find()
	switch {
	case err == nil && forget:
		errs = append(errs, s.Remove())
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
