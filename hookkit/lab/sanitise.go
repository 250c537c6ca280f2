package lab

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// place is what is known of the machine that is recorded: what must not be in a recording.
type place struct {
	project, home string // absolute, without a slash at the end
	user, host    string
}

// standIns is what the recorders of one session share through a file: for every value that was replaced, a keyed hash and its stand-in.
// The key is made from the session's id, which is itself replaced and so on no disk of ours: nothing can be guessed from the hashes.
type standIns struct {
	ByHash map[string]string `json:"stand_ins"`
	Counts map[string]int    `json:"counts"`
}

// sanitiser puts stand-ins for what names a person, a machine or a secret. The same value gets the same stand-in everywhere in a
// session. It is not safe for concurrent use.
type sanitiser struct {
	key   []byte
	saved *standIns
	known map[string]string // replaced values of this process, never written
	paths []pair            // longest first
	words []pair            // replaced where they stand alone, in any case
	rules []rule
	// looked holds the words that were compared with the hashes, and the stand-ins of those that matched.
	looked map[string]string
}

type pair struct{ raw, standIn string }

// sessionKey is what hashes of one session are made with.
func sessionKey(sessionID string) []byte {
	key := sha256.Sum256([]byte("hookkit recording 1\x00" + sessionID))
	return key[:]
}

func newSanitiser(key []byte, at place, saved *standIns) *sanitiser {
	if saved.ByHash == nil {
		saved.ByHash = map[string]string{}
	}
	if saved.Counts == nil {
		saved.Counts = map[string]int{}
	}
	s := &sanitiser{key: key, saved: saved, known: map[string]string{}, looked: map[string]string{}, rules: newRules()}
	s.addPath(at.project, ProjectDir)
	s.addPath(at.home, HomeDir)
	if standIn := filepath.Base(HomeDir); at.user != "root" && at.user != standIn && len(at.user) > 1 {
		s.words = append(s.words, pair{at.user, standIn})
	}
	for _, host := range []string{at.host, strings.SplitN(at.host, ".", 2)[0]} {
		if host != "" && !strings.EqualFold(host, "localhost") {
			s.words = append(s.words, pair{host, "devhost"})
		}
	}
	longest := func(a, b pair) int { return cmp.Compare(len(b.raw), len(a.raw)) }
	slices.SortStableFunc(s.paths, longest)
	slices.SortStableFunc(s.words, longest)
	return s
}

// addPath adds a folder as it is written by programs, by Windows, and in the names of the client's folders.
func (s *sanitiser) addPath(raw, standIn string) {
	raw = strings.TrimRight(raw, `/\`)
	if len(raw) < 2 || raw == standIn {
		return
	}
	forms := []string{raw}
	if resolved, err := filepath.EvalSymlinks(raw); err == nil && resolved != raw {
		forms = append(forms, resolved)
	}
	for _, form := range forms {
		s.paths = append(s.paths, pair{form, standIn})
		if slashed := filepath.ToSlash(form); slashed != form {
			s.paths = append(s.paths, pair{slashed, standIn})
		}
		if folder := folderName(form); strings.Count(folder, "-") > 1 { // one dash alone is any option of a command
			s.paths = append(s.paths, pair{folder, folderName(standIn)})
		}
	}
}

// folderName is how the client spells a path as the name of one folder.
func folderName(path string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, path)
}

// standIn returns what stands for a value. make is given the number of values of this kind so far, from 1 on.
func (s *sanitiser) standIn(kind, raw string, spell func(n int) string) string {
	hash := s.hash(raw)
	text, ok := s.saved.ByHash[hash]
	if !ok {
		s.saved.Counts[kind]++
		text = spell(s.saved.Counts[kind])
		s.saved.ByHash[hash] = text
	}
	return text
}

func (s *sanitiser) hash(raw string) string {
	mac := hmac.New(sha256.New, s.key)
	_, _ = mac.Write([]byte(raw)) // a hash takes everything
	return hex.EncodeToString(mac.Sum(nil)[:12])
}

const (
	secretPrefix = "stand-in-"
	minKnown     = 6 // shorter values are replaced where they are recognised, and not wherever else the same letters stand
)

// secret returns the stand-in of a secret, and looks out for it everywhere from now on.
func (s *sanitiser) secret(kind, raw string) string {
	text := s.standInOf(kind, raw)
	if len(raw) >= minKnown {
		s.known[raw] = text
		s.looked[raw] = text
	}
	return text
}

func (s *sanitiser) standInOf(kind, raw string) string {
	return s.standIn(kind, raw, func(n int) string { return fmt.Sprintf("%s%s-%d", secretPrefix, kind, n) })
}

// text replaces everything in a text. A text that is JSON is treated as such, so that values behind escapes are found too.
func (s *sanitiser) text(text string) string {
	if isDocument(text) {
		return string(s.json([]byte(text)))
	}
	return s.plain(text)
}

func (s *sanitiser) plain(text string) string {
	for _, p := range s.paths {
		text = replaceAt(text, p, false, pathEnds)
	}
	text = s.secrets(text)
	var b strings.Builder
	for line := range strings.Lines(text) {
		lower := lowerASCII(line)
		for i := range s.rules {
			if changed := s.rules[i].apply(s, line, lower); changed != line {
				line, lower = changed, lowerASCII(changed)
			}
		}
		b.WriteString(line)
	}
	text = b.String()
	for _, w := range s.words {
		text = replaceAt(text, w, true, wordEnds)
	}
	return s.cutOff(s.repeated(text))
}

// longestFirst are the values that are known, so that one that holds another is found whole.
func (s *sanitiser) longestFirst() []string {
	return slices.SortedFunc(maps.Keys(s.known), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
}

// cutOff replaces the beginning of a known value at the end of a text: a hook that shortens what it prints cuts secrets too.
func (s *sanitiser) cutOff(text string) string {
	const enough = 8 // fewer characters tell nothing, and are found in other words
	for _, raw := range s.longestFirst() {
		for n := min(len(raw)-1, len(text)); n >= enough; n-- {
			if strings.HasSuffix(text, raw[:n]) {
				return text[:len(text)-n] + s.known[raw]
			}
		}
	}
	return text
}

// repeated replaces values that were recognised elsewhere, where nothing beside them gives them away.
func (s *sanitiser) repeated(text string) string {
	for _, raw := range s.longestFirst() {
		text = strings.ReplaceAll(text, raw, s.known[raw])
	}
	if !s.hasSecrets() {
		return text
	}
	for _, joined := range []string{"_~+/=.-", "_-"} {
		text = s.hashed(text, joined)
	}
	return text
}

// hashed replaces words whose hash is that of a secret. joined are the bytes that do not end a word, beside letters and digits.
func (s *sanitiser) hashed(text, joined string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && (isWordByte(text[i]) || strings.IndexByte(joined, text[i]) >= 0) {
			i++
		}
		word := text[start:i]
		if i == start {
			i++
		}
		if len(word) < minKnown {
			continue
		}
		standIn, ok := s.looked[word]
		if !ok {
			if standIn = s.saved.ByHash[s.hash(word)]; !strings.HasPrefix(standIn, secretPrefix) {
				standIn = ""
			}
			s.looked[word] = standIn
		}
		if standIn != "" {
			b.WriteString(text[from:start] + standIn)
			from = i
		}
	}
	return b.String() + text[from:]
}

func (s *sanitiser) hasSecrets() bool {
	for _, standIn := range s.saved.ByHash {
		if strings.HasPrefix(standIn, secretPrefix) {
			return true
		}
	}
	return false
}

// leaks names the first thing that is known and still stands in data: the last guard before a line is written.
func (s *sanitiser) leaks(data string) string {
	for raw := range s.known {
		if strings.Contains(data, raw) {
			return "a secret"
		}
	}
	for _, p := range s.paths {
		if replaceAt(data, p, false, pathEnds) != data {
			return "the path of the project or the home folder"
		}
	}
	for _, w := range s.words {
		if replaceAt(data, w, true, wordEnds) != data {
			return "the name of the user or the machine"
		}
	}
	return ""
}

// replaceAt replaces p where the bytes around it do not continue it.
func replaceAt(text string, p pair, fold bool, ends func(before, after byte) bool) string {
	search, raw := text, p.raw
	if fold {
		search, raw = lowerASCII(text), lowerASCII(p.raw)
	}
	var b strings.Builder
	from := 0
	for i := 0; ; {
		n := strings.Index(search[i:], raw)
		if n < 0 {
			break
		}
		start := i + n
		end := start + len(raw)
		i = end
		var before, after byte
		if start > 0 {
			before = text[start-1]
		}
		if end < len(text) {
			after = text[end]
		}
		if ends(before, after) {
			b.WriteString(text[from:start])
			b.WriteString(p.standIn)
			from = end
		}
	}
	if from == 0 {
		return text
	}
	return b.String() + text[from:]
}

// lowerASCII keeps the length of the text, which strings.ToLower does not.
func lowerASCII(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= 0x80
}

// pathEnds: /home/al is no part of /home/alice, and is one of /home/al-2's neighbours only.
func pathEnds(before, after byte) bool {
	return !isWordByte(before) && !isWordByte(after) && after != '_'
}

func wordEnds(before, after byte) bool { return !isWordByte(before) && !isWordByte(after) }
