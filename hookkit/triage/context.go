package triage

import (
	"slices"
	"strings"
)

// analysis is what the rules say about one conversation.
type analysis struct {
	engine    *engine
	conv      *conversation
	sentences []sentence
	found     []evidence
	missed    []evidence // hits that count for nothing, with the reason
	muted     []string   // for each sentence why nothing in it counts, "" for most
	scores    map[Category]float64
	// contradicted are the categories of which something was taken back.
	contradicted map[Category]bool
}

// analyse looks for evidence in a conversation. It is pure.
func (e *engine) analyse(c *conversation) *analysis {
	a := &analysis{engine: e, conv: c, sentences: sentences(c), scores: map[Category]float64{}, contradicted: map[Category]bool{}}
	for i := range a.sentences {
		e.number(&a.sentences[i])
	}
	hits := make([][]evidence, len(a.sentences))
	for i := range a.sentences {
		hits[i] = e.inspect(&a.sentences[i], i)
	}
	a.mute()
	for i := range hits {
		a.collect(hits[i], i)
	}
	a.choices()
	a.habits()
	a.choiceOrLimit()
	a.oneKind()
	a.thisTask()
	a.retractions()
	a.summary()
	a.settle()
	return a
}

// settle works out the scores from the evidence that is left.
func (a *analysis) settle() {
	clear(a.scores)
	a.runbook()
	a.storyIsNoLimit()
	a.score()
}

func (a *analysis) collect(hits []evidence, i int) {
	for _, h := range hits {
		if a.muted[i] != "" {
			h.weight, h.why = 0, append(h.why, a.muted[i])
		}
		if h.weight <= 0 {
			a.missed = append(a.missed, h)
		} else {
			a.found = append(a.found, h)
		}
	}
}

// says says whether sentence i has a mark.
func (a *analysis) says(m mark, i int) bool { return a.sentences[i].has(m) }

// cancel takes evidence out for a reason.
func (a *analysis) cancel(reason string, match func(*evidence) bool) {
	a.found = slices.DeleteFunc(a.found, func(h evidence) bool {
		if !match(&h) {
			return false
		}
		h.weight, h.why = 0, append(slices.Clone(h.why), reason)
		a.missed = append(a.missed, h)
		return true
	})
}

// mute marks text that was written to order: what the user pastes after asking for it to be treated, and the agent's answer.
func (a *analysis) mute() {
	a.muted = make([]string, len(a.sentences))
	order, from := false, -1
	for i := range a.sentences {
		s := &a.sentences[i]
		if !s.agent {
			if s.message != from {
				order, from = order && a.refines(i), s.message
				if order {
					continue
				}
			}
			if order {
				a.muted[i] = "in a text that the user wants treated"
			}
			if a.says(markToOrder, i) {
				order = true
			}
		} else if order {
			a.muted[i] = "in a text written to order"
		}
	}
}

// refines says whether a user's message that begins at sentence i only asks for another version of what was written.
func (a *analysis) refines(i int) bool {
	words := 0
	for j := i; j < len(a.sentences) && a.sentences[j].message == a.sentences[i].message; j++ {
		words += len(a.sentences[j].words)
	}
	const few = 9
	return words <= few && !a.says(markGeneral, i)
}

// habits finds how the user wants things done where he says so in general terms and the agent promises to keep to it.
func (a *analysis) habits() {
	for i := range a.sentences {
		s := &a.sentences[i]
		if s.agent || s.question || a.muted[i] != "" || !a.says(markGeneral, i) || a.best(Preference, i) != nil {
			continue
		}
		for j := i + 1; j < len(a.sentences) && a.sentences[j].message <= s.message+1; j++ {
			if a.sentences[j].agent && !a.sentences[j].question && a.says(markPromise, j) {
				a.found = append(a.found, evidence{category: Preference, rule: "general, and promised", sentence: i, span: span{0, len(s.words)}, raw: likely, weight: likely})
				break
			}
		}
	}
}

// choiceOrLimit settles sentences that speak of a choice and of a limit: a limit that is only the reason for a choice is no
// constraint, and what a limit forces is no choice.
func (a *analysis) choiceOrLimit() {
	for i := range a.sentences {
		choice, limit := a.best(Decision, i), a.best(Constraint, i)
		if choice == nil || limit == nil {
			continue
		}
		because, ok := a.sentences[i].find(markBecause, len(a.sentences[i].words))
		if ok && because.start <= limit.span.end && choice.span.start < because.start {
			a.cancel("only the reason for a choice", func(h *evidence) bool { return h.sentence == i && h.category == Constraint })
		} else if choice.weight >= likely && ok && choice.span.start > because.start {
			a.cancel("forced by a limit", func(h *evidence) bool { return h.sentence == i && h.category == Decision })
		} else if limit.weight >= likely && limit.span.start < choice.span.start {
			a.cancel("forced by a limit", func(h *evidence) bool { return h.sentence == i && h.category == Decision })
		}
	}
}

// oneKind settles which category a sentence belongs to where rules of two take it.
func (a *analysis) oneKind() {
	own := slices.ContainsFunc(a.sentences, func(s sentence) bool { return !s.agent && s.has(markOwnLimit) })
	a.cancel("a decision, not a habit", func(h *evidence) bool {
		if h.category != Preference || h.rule == "from now on" || h.rule == "always, never" || h.rule == "prefers" || h.rule == "stop doing" {
			return false
		}
		choice := a.best(Decision, h.sentence)
		return choice != nil && choice.weight >= likely
	})
	a.cancel("a limit of one's own", func(h *evidence) bool { return h.category == Constraint && own && a.sentences[h.sentence].agent })
}

// storyIsNoLimit takes out limits that are only part of a failure's story.
func (a *analysis) storyIsNoLimit() {
	if a.scores[Runbook] < 0.6 {
		return
	}
	s := a.story(len(a.sentences))
	a.cancel("part of a failure's story", func(h *evidence) bool {
		if h.category != Constraint {
			return false
		}
		here := &a.sentences[h.sentence]
		return here.agent && h.weight <= likely || a.best(Runbook, h.sentence) != nil || s.trouble >= 0 && here.message == a.sentences[s.trouble].message
	})
}

func (a *analysis) best(c Category, i int) *evidence {
	var best *evidence
	for j := range a.found {
		if h := &a.found[j]; h.sentence == i && h.category == c && (best == nil || h.weight > best.weight) {
			best = h
		}
	}
	return best
}

// thisTask takes out preferences that are instructions for the task at hand.
func (a *analysis) thisTask() {
	a.cancel("only for this task", func(h *evidence) bool {
		return h.category == Preference && h.rule != "from now on" && a.says(markThisTask, h.sentence)
	})
}

// retractions lets later statements overrule earlier ones.
func (a *analysis) retractions() {
	for i := range a.sentences {
		s := &a.sentences[i]
		if s.question || a.muted[i] != "" {
			continue
		}
		if !s.agent && a.says(markRetract, i) {
			a.overrule(i, "taken back later", Decision, Preference, Constraint, TechDebt)
		}
		if !s.agent && a.says(markReopen, i) {
			a.overrule(i, "open again", Decision)
		}
		if a.says(markUndone, i) {
			a.overrule(i, "done within the session", TechDebt)
		}
	}
}

// overrule cancels what sentence i takes back: evidence before it that shares a word of substance with it, else the latest
// before it that is at most a few messages away.
func (a *analysis) overrule(i int, reason string, categories ...Category) {
	const near = 6
	latest := -1
	related := map[int]bool{}
	for _, h := range a.found {
		if h.sentence >= i || !slices.Contains(categories, h.category) {
			continue
		}
		if a.share(h.sentence, i) {
			related[h.sentence] = true
		}
		if h.sentence > latest && a.sentences[i].message-a.sentences[h.sentence].message <= near {
			latest = h.sentence
		}
	}
	if len(related) == 0 && latest >= 0 {
		related[latest] = true
	}
	a.cancel(reason, func(h *evidence) bool {
		return related[h.sentence] && h.sentence < i && slices.Contains(categories, h.category)
	})
}

// share says whether two sentences have a word of substance in common.
func (a *analysis) share(i, j int) bool {
	for _, w := range a.sentences[i].words {
		if len(w.word) < 4 || commonWord(w.word) {
			continue
		}
		for _, v := range a.sentences[j].words {
			if v.word == w.word || len(w.word) > 4 && len(v.word) > 4 && strings.TrimSuffix(v.word, "s") == strings.TrimSuffix(w.word, "s") {
				return true
			}
		}
	}
	return false
}

// commonWord says whether two sentences with a word have nothing in common because of it.
func commonWord(word string) bool {
	switch word {
	case "CODE", "PATH", "QUOTE", "about", "actually", "after", "also", "always", "back", "because", "been", "before", "choose", "chose",
		"code", "could", "decide", "decided", "decision", "does", "done", "file", "files", "fine", "forget", "from", "going", "good",
		"have", "here", "instead", "into", "just", "keep", "later", "leave", "line", "lines", "make", "mind", "more", "much", "need",
		"never", "okay", "only", "other", "over", "please", "rather", "really", "right", "said", "same", "scratch", "should", "some",
		"still", "stuff", "than", "that", "them", "then", "there", "they", "thing", "things", "this", "used", "using", "very", "want",
		"were", "what", "when", "where", "which", "will", "with", "work", "works", "would", "your":
		return true
	}
	return false
}

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
		for k := i + 2; k < len(s.words) && strings.Contains(" now also then just have simply therefore already first ", " "+next+" "); k++ {
			next = s.words[k].word
		}
		if strings.HasSuffix(next, "ed") && len(next) > 4 && !strings.Contains(" needed wanted tried looked noticed checked reviewed wondered decided expected assumed suspected guessed learned asked ", " "+next+" ") ||
			strings.Contains(" set put made gave rebuilt rewrote took split cut bound held wrote ", " "+next+" ") {
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
		case t.edits() && !t.savesMemory():
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

// surest is the highest score: nothing is certain, and a threshold of 1 turns a category off.
const surest = 0.95

// score sums up the evidence of each category but RUNBOOK and SESSION_SUMMARY, which are more than the sum of sentences.
func (a *analysis) score() {
	for _, c := range []Category{Decision, Constraint, TechDebt, Preference, SessionSummary} {
		bySentence := map[int]float64{}
		for _, h := range a.found {
			if h.category != c {
				continue
			}
			// Two rules that find half of it in one sentence are half as sure again.
			if old := bySentence[h.sentence]; old > 0 {
				bySentence[h.sentence] = min(surest, max(old, h.weight)+0.5*min(old, h.weight))
			} else {
				bySentence[h.sentence] = h.weight
			}
		}
		most, others := 0.0, 0
		for _, w := range bySentence {
			most = max(most, w)
			if w >= hint {
				others++
			}
		}
		a.scores[c] = min(surest, most+0.04*float64(max(0, min(others, 4)-1)))
	}
}
