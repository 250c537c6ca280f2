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
	spoken    []evidence // what the wording of sentences speaks for
	around    *surroundings
	ruled     [len(wordings)]float64 // the scores of the rules alone
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
	a.putOff()
	a.choiceOrLimit()
	a.oneKind()
	a.thisTask()
	a.retractions()
	a.summary()
	a.settle()
	a.listen()
	a.weigh()
	return a
}

// settle works out the scores from the evidence that is left.
func (a *analysis) settle() {
	clear(a.scores)
	a.runbook()
	a.storyIsNoLimit()
	a.score()
	if a.around != nil {
		a.weigh()
	}
}

// weigh brings the wording into the rules' scores.
func (a *analysis) weigh() {
	for k, c := range wordings {
		a.ruled[k] = a.scores[c]
		a.scores[c] = a.weighed(k, a.ruled[k])
	}
}

func (a *analysis) collect(hits []evidence, i int) {
	for _, h := range hits {
		if a.muted[i] != "" {
			h.weight, h.why = 0, append(h.why, a.muted[i])
		} else if a.orderedIn(&h) {
			h.weight, h.why = 0, append(h.why, treated)
		}
		if h.weight <= 0 {
			a.missed = append(a.missed, h)
		} else {
			a.found = append(a.found, h)
		}
	}
}

// orderedIn says whether a hit stands behind "translate this:" in its own sentence.
func (a *analysis) orderedIn(h *evidence) bool {
	s := &a.sentences[h.sentence]
	order, ok := s.find(markToOrder, h.span.start)
	return ok && !s.agent && slices.ContainsFunc(s.words[order.end:h.span.start], func(w token) bool { return w.word == ":" })
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

// forget takes evidence of every kind out for a reason that has nothing to do with what it says.
// The scores are worked out anew where that changes something.
func (a *analysis) forget(reason string, match func(*evidence) bool) {
	before := len(a.found) + len(a.spoken)
	a.cancel(reason, match)
	a.spoken = slices.DeleteFunc(a.spoken, func(h evidence) bool { return match(&h) })
	if len(a.found)+len(a.spoken) < before {
		a.settle()
	}
}

// Reasons why nothing counts that a sentence says.
const (
	readOut    = "read out of a document"
	treated    = "in a text that the user wants treated"
	toOrder    = "in a text written to order"
	onlyAnswer = "in an answer" // to a question about how something is: the rules are not asked, the wording may know better
)

// mute marks text that was written to order: what the user pastes after asking for it to be treated, and the agent's answer.
func (a *analysis) mute() {
	a.muted = make([]string, len(a.sentences))
	order, text, from := false, false, -1
	read := -1 // the message in which somebody reads out a document
	for i := range a.sentences {
		s := &a.sentences[i]
		if read == s.message {
			a.muted[i] = readOut
			continue
		}
		if s.has(markReported) && strings.HasSuffix(strings.TrimRight(s.text, "* _"), ":") {
			read = s.message
		}
		switch {
		case !s.agent:
			if s.message != from {
				order, from = order && a.refines(i), s.message
				text = text && order
				if order {
					continue
				}
			}
			switch {
			case order && text:
				a.muted[i] = treated
			case order:
				a.muted[i] = onlyAnswer
			}
			if a.says(markToOrder, i) {
				order, text = true, text || s.wantsText()
			}
		case order && text:
			a.muted[i] = toOrder
		case order:
			a.muted[i] = onlyAnswer
		}
	}
}

// wantsText says whether a sentence that orders something orders a text, and not an explanation.
func (s *sentence) wantsText() bool {
	return slices.ContainsFunc(s.words, func(w token) bool {
		return among(w.word, "translate translation localize localise proofread paraphrase rephrase reword rewrite polish shorten article blog post essay mail email newsletter "+
			"story stories poem speech tweet announcement press sample samples example examples template templates adr adrs skill tutorial quiz slide slides deck letter "+
			"dialogue dialog scene chapter fixture fixtures joke haiku lesson brochure fictional fake dummy lorem novel interview flashcards paragraph messages pitch bio "+
			"testimonial invitation apology homework exam transcript")
	})
}

// putOff finds what the user puts off after the agent has said how it should really be done.
func (a *analysis) putOff() {
	proper, from := false, -1
	for i := range a.sentences {
		s := &a.sentences[i]
		switch {
		case a.muted[i] != "":
		case s.agent:
			if proper = s.has(markProper) || proper && s.message <= from+1; s.has(markProper) {
				from = s.message
			}
		case proper && s.message <= from+1 && !s.question && s.has(markLater) && !s.has(markReopen) && a.best(TechDebt, i) == nil:
			a.found = append(a.found, evidence{category: TechDebt, rule: "the proper way is put off", sentence: i, span: span{0, len(s.words)}, raw: likely, weight: likely})
		}
	}
}

// answers says whether a sentence of the agent's only answers what the user wanted to know, and the user did not take it up: the question
// is about the thing itself, not about what we do, and no more than thanks follows.
func (a *analysis) answers(i int) bool {
	s := &a.sentences[i]
	if !s.agent || s.message == 0 || a.conv.messages[s.message-1].agent {
		return false
	}
	asked, ours := false, false
	for j := range a.sentences {
		q := &a.sentences[j]
		switch {
		case q.message == s.message-1:
			asked = asked || q.question && q.has(markRequest)
			ours = ours || slices.ContainsFunc(q.words, func(w token) bool { return among(w.word, "we our us my i why") })
		case q.message > s.message && !q.agent && len(q.words) > 4:
			return false
		}
	}
	return asked && !ours
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
		switch {
		case ok && because.start <= limit.span.end && choice.span.start < because.start:
			a.cancel("only the reason for a choice", func(h *evidence) bool { return h.sentence == i && h.category == Constraint })
		case ok && choice.weight >= likely && choice.span.start > because.start, limit.weight >= likely && limit.span.start < choice.span.start:
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
	a.cancel("a limit, not a habit", func(h *evidence) bool {
		limit := a.best(Constraint, h.sentence)
		return h.category == Preference && (h.rule == "how to work" || h.rule == "house rule" || h.rule == "general") && limit != nil && limit.weight >= likely
	})
	a.cancel("it tells of a failure", func(h *evidence) bool {
		return h.category == Preference && (h.rule == "how to work" || h.rule == "general") && a.says(markTrouble, h.sentence)
	})
	a.cancel("only an answer to a question", func(h *evidence) bool { return h.category == Constraint && a.answers(h.sentence) })
	a.cancel("worked on since", func(h *evidence) bool {
		s := &a.sentences[h.sentence]
		return h.category == TechDebt && h.rule == "debt" && !s.agent && !s.has(markLater) && a.actedBetween(s.at, 1) >= actedByEdit
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

// Reasons why evidence counts for nothing that was good when it was said.
const (
	takenBack = "taken back later"
	openAgain = "open again"
	doneSince = "done within the session"
)

// retractions lets later statements overrule earlier ones.
func (a *analysis) retractions() {
	for i := range a.sentences {
		s := &a.sentences[i]
		if s.question || a.muted[i] != "" {
			continue
		}
		if !s.agent && a.says(markRetract, i) {
			a.overrule(i, takenBack, Decision, Preference, Constraint, TechDebt)
		}
		if !s.agent && a.says(markReopen, i) {
			a.overrule(i, openAgain, Decision)
		}
		if a.says(markUndone, i) {
			a.overrule(i, doneSince, TechDebt)
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
		gone := related[h.sentence] && h.sentence < i && slices.Contains(categories, h.category)
		a.contradicted[h.category] = a.contradicted[h.category] || gone
		return gone
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
