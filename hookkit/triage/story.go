package triage

import (
	"slices"
	"strings"
)

// runbook puts the parts of a failure's story together: the trouble, its cause, what was done, and that it is gone. Each part may be said
// by another and in another message; what was done may be an edit.
func (a *analysis) runbook() {
	told, cure, cause := 0.0, 0.0, 0.0
	cureAt := -1
	for _, h := range a.found {
		if h.category != Runbook {
			continue
		}
		switch h.rule {
		case "cure":
			cure, cureAt = max(cure, h.weight), max(cureAt, h.sentence)
		case "cause":
			cause = max(cause, h.weight)
		case "story":
		default:
			told, cureAt = max(told, h.weight), max(cureAt, h.sentence)
		}
	}
	if deed := a.deed(); cause > 0 && cure == 0 && deed >= 0 {
		cure, cureAt = part, deed
	}
	s := a.story(cureAt)
	if s.unsolved {
		a.cancel("it is not solved", func(h *evidence) bool { return h.category == Runbook })
		return
	}
	total := told
	understood := 0.0
	switch {
	case cause > 0:
		understood = 0.22 * cause / part
	case s.explained:
		understood = 0.15
	case s.because >= 0:
		understood = 0.12
	}
	if s.sure == troubleStated && !s.named && s.heal < healedByUser && cause == 0 {
		understood = 0
	}
	if cure > 0 && s.trouble >= 0 && (understood > 0 || len(a.sentences[cureAt].words) >= fullSentence) {
		total = max(total, 0.4*cure/part+0.1+1.3*understood+0.12*min(1, 5*s.heal))
	}
	if !s.unsolved && a.toldWhole() {
		total = max(total, likely+0.02)
	}
	if s.troubleByUser && s.acted > 0 && !s.hidden && understood > 0 {
		if s.heal < healedByAgent && cause == 0 && cure == 0 {
			understood -= 0.08
		}
		sum := s.sure + understood + s.acted + s.heal + 0.1*min(1, cure/part)
		total = max(total, sum)
	}
	for i := range a.sentences {
		if h := &a.sentences[i]; h.has(markTrivial) && (a.best(Runbook, i) != nil || i == s.because || i == s.trouble) {
			total *= 0.6
			break
		}
	}
	if total < hint {
		a.cancel("no cure is told", func(h *evidence) bool { return h.category == Runbook })
		return
	}
	if !a.has(Runbook) && s.trouble >= 0 {
		at := s.trouble
		if s.because >= 0 {
			at = s.because
		}
		a.found = append(a.found, evidence{category: Runbook, rule: "story", sentence: at, span: span{0, len(a.sentences[at].words)}, raw: total, weight: total})
	}
	a.scores[Runbook] = min(total, surest)
}

func (a *analysis) has(c Category) bool {
	return slices.ContainsFunc(a.found, func(h evidence) bool { return h.category == c })
}

// toldWhole says whether one message tells a whole story: what failed, what was done, and that it works; or what the reason was and what
// was done.
func (a *analysis) toldWhole() bool {
	type told struct {
		trouble, deed, healed, reason bool
		at                            int // the sentence that tells of the trouble
	}
	messages := make([]told, len(a.conv.messages))
	for i := range a.sentences {
		s := &a.sentences[i]
		if s.question || a.muted[i] != "" || s.has(markReported) || s.has(markElsewhere) {
			continue
		}
		m := &messages[s.message]
		if s.has(markTrouble) && !m.trouble {
			m.trouble, m.at = true, i
		}
		if s.has(markConditional) || s.has(markPlanned) {
			continue
		}
		m.healed = m.healed || s.has(markHealed) && i > m.at
		m.deed = m.deed || s.tellsDeed()
		for _, w := range s.words {
			m.reason = m.reason || among(w.word, "root culprit turned")
		}
	}
	for _, h := range a.found {
		if m := &messages[a.sentences[h.sentence].message]; h.category == Runbook && h.weight >= hint && h.rule != "cause" && h.rule != "story" {
			m.deed = true
		}
	}
	return slices.ContainsFunc(messages, func(m told) bool { return m.deed && (m.trouble && m.healed || m.reason) })
}

// deed is where the message that names the cause goes on to say what was done ("I sorted the ids"), -1 for nowhere.
func (a *analysis) deed() int {
	for _, h := range a.found {
		if h.category != Runbook || h.rule != "cause" {
			continue
		}
		for i := h.sentence; i < len(a.sentences) && a.sentences[i].message == a.sentences[h.sentence].message; i++ {
			if a.sentences[i].tellsDeed() && !a.sentences[i].has(markConditional) {
				return i
			}
		}
	}
	return -1
}

// tellsDeed says whether somebody tells what he did: I or we, and a verb in the past.
func (s *sentence) tellsDeed() bool {
	for i := 0; i+1 < len(s.words); i++ {
		if w := s.words[i].word; w != "i" && w != "we" {
			continue
		}
		next := s.words[i+1].word
		for k := i + 2; k < len(s.words) && among(next, "now also then just have simply therefore already first"); k++ {
			next = s.words[k].word
		}
		if strings.HasSuffix(next, "ed") && len(next) > 4 && !among(next, "needed wanted tried looked noticed checked reviewed wondered decided expected assumed suspected guessed learned asked") ||
			among(next, "set put made gave rebuilt rewrote took split cut bound held wrote") {
			return true
		}
	}
	return false
}

// fullSentence is how many words a cure has that says what was done, and not only that it was.
const fullSentence = 6

// story is the course of a failure in the conversation.
type story struct {
	trouble       int // the sentence that tells of it, -1 for none
	troubleByUser bool
	sure          float64 // that it is a failure: called by its name, a complaint, or only something that is so
	because       int     // the agent's explanation, -1 for none
	explained     bool    // with a word such as because
	named         bool    // the explanation itself speaks of trouble
	acted         float64 // files were changed or commands run after the trouble was told
	heal          float64 // how surely it is gone
	hidden        bool    // only the symptom was treated
	unsolved      bool
}

// What the parts of a story weigh.
const (
	troubleNamed     = 0.25
	troubleComplaint = 0.20
	troubleStated    = 0.12
	actedByEdit      = 0.15
	actedByCommand   = 0.14
	healedByUser     = 0.20
	healedByAgent    = 0.18
	healedReported   = 0.08
)

func (a *analysis) story(cureAt int) story {
	st := story{trouble: -1, because: -1}
	healedAt := -1
	for i := range a.sentences {
		s := &a.sentences[i]
		if a.muted[i] != "" {
			continue
		}
		if sure := a.troubleIn(i, cureAt); sure > 0 && (st.trouble < 0 || sure > st.sure && st.acted == 0) {
			if st.trouble < 0 {
				st.trouble = i
			}
			st.sure, st.troubleByUser = sure, st.troubleByUser || !s.agent || a.pastedBefore(s.message)
		}
		if st.trouble < 0 {
			continue
		}
		if i > st.trouble || a.pastedBefore(s.message) {
			a.tell(&st, i, &healedAt)
		}
		if i >= cureAt && cureAt >= 0 && s.has(markHealed) && !s.question {
			healedAt, st.heal = i, max(st.heal, healedByAgent)
		}
	}
	if st.acted == 0 && st.trouble >= 0 {
		st.acted = a.actedSince(&st, 1)
	}
	for i := len(a.sentences) - 1; i > max(st.trouble, cureAt) && st.trouble >= 0; i-- {
		s := &a.sentences[i]
		if s.question || a.muted[i] != "" || !s.has(markUnsolved) {
			continue
		}
		// Done something after it was said to be unsolved: another try. Said by the agent and then healed: it was found later.
		st.unsolved = st.unsolved || a.actedBetween(s.at, 1) == 0 && (!s.agent || healedAt < i)
	}
	return st
}

// tell adds what a sentence after the trouble says to the story.
func (a *analysis) tell(st *story, i int, healedAt *int) {
	s := &a.sentences[i]
	if s.question {
		return
	}
	if s.agent && a.actedBetween(a.sentences[st.trouble].at, s.at) < actedByEdit && !s.has(markConditional) && len(s.words) >= 5 && (st.because < 0 || !st.explained) {
		st.because, st.explained = i, s.has(markExplaining)
		st.named = st.named || s.has(markTrouble) || s.has(markComplaint)
	}
	st.acted = max(st.acted, a.actedSince(st, s.at))
	if st.acted == 0 {
		return
	}
	st.hidden = st.hidden || s.has(markHiding)
	switch {
	case s.has(markHealed) && !s.agent:
		*healedAt, st.heal = i, healedByUser
	case s.has(markHealed):
		*healedAt, st.heal = i, max(st.heal, healedByAgent)
	case s.agent && i > st.because:
		st.heal = max(st.heal, healedReported)
	}
}

// troubleIn says how surely a sentence tells of a failure, 0 for not.
func (a *analysis) troubleIn(i, cureAt int) float64 {
	s := &a.sentences[i]
	switch {
	case s.heading || a.choosesIn(s.message) || !s.agent && a.best(Constraint, i) != nil && !s.has(markTrouble):
		return 0
	case s.question && s.has(markWondering), s.has(markRequest) && !s.has(markTrouble):
		return 0
	case s.has(markTrouble) && (!s.agent || cureAt >= i) || a.pastedBefore(s.message) || !s.agent && tellsError(quoted(s.text)):
		return troubleNamed
	case s.agent:
		return 0
	case s.has(markComplaint):
		return troubleComplaint
	case !s.question && len(s.words) >= 4 && !s.has(markRequest) && !s.has(markWondering) && (i == 0 || a.sentences[i-1].message != s.message) && s.message == 0:
		return troubleStated
	}
	return 0
}

// choosesIn says whether a message settles a choice, or asks for one.
func (a *analysis) choosesIn(m int) bool {
	return slices.ContainsFunc(a.found, func(h evidence) bool {
		return h.category == Decision && a.sentences[h.sentence].message == m && !a.sentences[h.sentence].agent
	})
}

// quoted gives what stands between quotation marks or backquotes.
func quoted(text string) string {
	var b strings.Builder
	for i, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\"`“”", r) }) {
		if i%2 == 1 || strings.HasPrefix(text, "\"") && i == 0 {
			b.WriteString(part + " ")
		}
	}
	return b.String()
}

// pastedBefore says whether the user pasted an error into this message or the one before.
func (a *analysis) pastedBefore(m int) bool {
	for k := m; k >= max(0, m-1); k-- {
		if c := &a.conv.messages[k]; c.pasted && !c.agent {
			return true
		}
	}
	return false
}

// actedBetween weighs what was done between two places of the transcript: a file changed, or a command that does more than look.
func (a *analysis) actedBetween(from, to int) float64 {
	weight := 0.0
	for _, t := range a.conv.tools {
		switch {
		case t.at <= from || t.at >= to:
		case t.works():
			return actedByEdit
		case t.command != "" && !looksOnly(t.command):
			weight = actedByCommand
		}
	}
	return weight
}

// actedSince weighs what was done after the trouble was told: a file changed, or a command run after it was explained.
func (a *analysis) actedSince(st *story, to int) float64 {
	from := a.sentences[st.trouble].at
	if a.actedBetween(from, to) >= actedByEdit {
		return actedByEdit
	}
	if st.because < 0 {
		return 0
	}
	return a.actedBetween(a.sentences[st.because].at, to)
}

// looksOnly says whether a shell command only looks.
func looksOnly(command string) bool {
	words := strings.Fields(command)
	for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "cd" || words[0] == "sudo" || words[0] == "&&" || strings.HasPrefix(words[0], "/") && len(words) > 1 && words[1] == "&&") {
		words = words[1:]
	}
	if len(words) == 0 {
		return true
	}
	switch words[0] {
	case "ls", "cat", "grep", "rg", "find", "head", "tail", "wc", "echo", "pwd", "which", "stat", "df", "du", "ps", "top", "date", "env", "file", "tree", "less", "sort", "awk", "jq":
		return !strings.Contains(command, ">") || strings.Contains(command, "2>")
	case "git":
		return len(words) > 1 && slices.Contains([]string{"log", "status", "diff", "show", "blame", "branch", "grep", "remote"}, words[1])
	}
	return false
}
