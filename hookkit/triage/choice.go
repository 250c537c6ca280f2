package triage

import (
	"slices"
	"strings"
)

// Choices that are made in a dialogue: somebody puts alternatives on the table, and the user answers with one of them in a word or two.
// No sentence of it says "decided".

// choices finds user messages that settle a choice between alternatives that were on the table just before.
func (a *analysis) choices() {
	first := a.firstSentences()
	for m := range a.conv.messages {
		if a.conv.messages[m].agent || m == 0 || first[m] < 0 {
			continue
		}
		from, to := first[m], a.endOf(first, m)
		t := a.tableBefore(first, m)
		if a.staysOpen(from, to) {
			continue
		}
		for i := from; i < to; i++ {
			s := &a.sentences[i]
			trifle := slices.ContainsFunc(s.words, func(w token) bool { return among(w.word, "variable loop counter") })
			if s.question || a.muted[i] != "" || trifle {
				continue
			}
			rule, weight := "", 0.0
			switch {
			case t.open:
				rule, weight = a.settles(i, i == from, &t)
			case t.argued && s.has(markConvinced):
				rule, weight = "convinced", likely
			}
			if weight > 0 {
				a.found = append(a.found, evidence{category: Decision, rule: rule, sentence: i, span: span{0, len(s.words)}, raw: weight, weight: weight})
				break
			}
		}
	}
}

// firstSentences gives for each message its first sentence, -1 for one without.
func (a *analysis) firstSentences() []int {
	first := make([]int, len(a.conv.messages))
	for i := range first {
		first[i] = -1
	}
	for i := range a.sentences {
		if m := a.sentences[i].message; first[m] < 0 {
			first[m] = i
		}
	}
	return first
}

func (a *analysis) endOf(first []int, m int) int {
	i := first[m]
	for i < len(a.sentences) && a.sentences[i].message == m {
		i++
	}
	return i
}

// table is what lies between two people who have to choose.
type table struct {
	open         bool            // there are alternatives
	asked        bool            // the user asked for a choice in so many words
	proposed     bool            // the agent said which it would take
	argued       bool            // the agent answered at some length
	compared     int             // how often the agent compares
	alternatives map[string]bool // words next to the "or" of the question
	mentioned    map[string]bool // words of substance in the agent's message
}

// tableBefore looks at the agent's messages before message m, and at what the user said before them.
func (a *analysis) tableBefore(first []int, m int) table {
	t := table{alternatives: map[string]bool{}, mentioned: map[string]bool{}}
	k := m - 1
	for ; k >= 0 && a.conv.messages[k].agent; k-- {
		if first[k] < 0 {
			continue
		}
		for i := first[k]; i < a.endOf(first, k); i++ {
			if a.muted[i] != "" {
				return table{}
			}
			t.open = t.open || a.says(markAlternatives, i) || a.says(markComparing, i)
			t.argued = t.argued || len(a.sentences[i].words) >= 6
			if a.says(markComparing, i) || a.says(markConditional, i) {
				t.compared++
			}
			t.proposed = t.proposed || a.says(markProposal, i)
			a.alternativesOf(i, t.alternatives)
		}
	}
	if k == m-1 {
		return table{} // the user goes on talking
	}
	if k >= 0 && first[k] >= 0 {
		if a.says(markHowTo, first[k]) {
			return table{} // ways to do something, none of which binds anybody
		}
		for i := first[k]; i < a.endOf(first, k); i++ {
			if n := len(t.alternatives); a.sentences[i].question || a.says(markWondering, i) || t.compared > 0 {
				a.alternativesOf(i, t.alternatives)
				t.asked = t.asked || len(t.alternatives) > n || a.says(markWondering, i)
			}
		}
	}
	t.open = t.open && (t.asked || t.proposed || len(t.alternatives) > 0 || t.compared > 1) || t.asked && len(t.alternatives) > 0
	for j := k + 1; j < m && t.open; j++ {
		if first[j] < 0 {
			continue
		}
		for i := first[j]; i < a.endOf(first, j); i++ {
			for _, w := range a.sentences[i].words {
				if substance(w.word) {
					t.mentioned[w.word] = true
				}
			}
		}
	}
	return t
}

// alternativesOf takes the words next to "or" and its like.
func (a *analysis) alternativesOf(i int, into map[string]bool) {
	words := a.sentences[i].words
	for j, w := range words {
		switch w.word {
		case "or", "vs", "versus", "/", "oder":
			for k := max(0, j-5); k < min(len(words), j+6); k++ {
				if substance(words[k].word) {
					into[words[k].word] = true
				}
			}
		case "a", "b", "c":
			if j+1 < len(words) && words[j+1].word == ":" {
				into[w.word] = true
			}
		case "option", "approach", "variant":
			if j+1 < len(words) && len(words[j+1].word) <= 3 {
				into[words[j+1].word] = true
			}
		}
	}
}

// substance says whether a word can name an alternative.
func substance(word string) bool {
	return len(word) >= 2 && !isMark(word) && !saysNothing(word) && strings.ToUpper(word) != word
}

// saysNothing says whether a word cannot name an alternative, because it can stand anywhere.
func saysNothing(word string) bool {
	switch word {
	case "a", "about", "add", "adds", "after", "again", "all", "already", "also", "always", "am", "an", "and", "answer", "any",
		"anything", "are", "as", "at", "be", "because", "been", "before", "best", "better", "big", "bit", "both", "bug", "but", "by",
		"can", "case", "cases", "change", "changes", "check", "close", "code", "could", "d", "data", "day", "days", "did", "do", "does",
		"down", "each", "either", "end", "error", "even", "everything", "example", "few", "file", "files", "fine", "first", "fix",
		"fixed", "for", "from", "get", "give", "gives", "go", "goes", "going", "good", "got", "had", "has", "have", "he", "here", "how",
		"i", "idea", "if", "in", "instead", "into", "is", "issue", "it", "its", "just", "keep", "keeps", "kind", "know", "last", "later",
		"left", "let", "lets", "like", "ll", "lot", "make", "makes", "many", "may", "maybe", "me", "mean", "means", "might", "more",
		"most", "much", "must", "my", "need", "needs", "never", "new", "next", "no", "not", "nothing", "now", "number", "of", "off",
		"ok", "okay", "old", "on", "one", "only", "onto", "open", "or", "other", "our", "out", "over", "own", "part", "parts", "per",
		"place", "please", "point", "put", "puts", "question", "quite", "rather", "re", "read", "really", "reason", "right", "run",
		"runs", "s", "said", "same", "say", "says", "see", "set", "shall", "she", "should", "side", "simply", "since", "small", "so",
		"some", "something", "sort", "start", "still", "such", "sure", "t", "take", "takes", "test", "tests", "than", "thanks", "that",
		"the", "their", "them", "then", "there", "these", "they", "thing", "things", "think", "this", "those", "though", "three", "thx",
		"time", "to", "too", "two", "under", "up", "us", "use", "used", "user", "users", "using", "ve", "very", "via", "want", "was",
		"way", "we", "week", "were", "what", "when", "where", "whether", "which", "while", "who", "why", "will", "with", "within",
		"without", "work", "works", "would", "write", "yeah", "yes", "you", "your":
		return true
	}
	return false
}

// staysOpen says whether a message leaves the choice open.
func (a *analysis) staysOpen(from, to int) bool {
	for i := from; i < to; i++ {
		if a.says(markReopen, i) || a.says(markNoted, i) {
			return true
		}
	}
	return false
}

// settles says how a sentence settles the choice on the table, and how surely; 0 for not.
func (a *analysis) settles(i int, opening bool, t *table) (rule string, weight float64) {
	s := &a.sentences[i]
	if s.has(markConditional) && !a.says(markSettled, i) {
		return "", 0
	}
	if only := strings.TrimRight(s.phrase(span{0, len(s.words)}), " .!,"); opening && (only == signNumber || among(only, "a b c d")) {
		return "names one of the alternatives by its number", likely
	}
	if a.says(markSettled, i) && (t.proposed || t.asked || len(t.alternatives) > 0) {
		return "assent to a proposal", likely
	}
	for _, at := range clauses(s.words) {
		clause := s.words[at.start:at.end]
		named, mentioned := "", ""
		for _, w := range clause {
			switch {
			case t.alternatives[w.word]:
				named = w.word
			case t.mentioned[w.word]:
				mentioned = w.word
			}
		}
		length := 0
		for _, w := range clause {
			if !isMark(w.word) && !opens(w.word) {
				length++
			}
		}
		verb := slices.ContainsFunc(clause, func(w token) bool { return chooses(w.word) })
		switch {
		case named != "" && (length <= 4 || verb && length <= 10):
			return "names one of the alternatives", 0.72
		case mentioned != "" && t.asked && (length <= 3 || verb && length <= 8):
			return "names one of the alternatives", 0.66
		case mentioned != "" && length <= 3 && t.compared > 0 && clause[len(clause)-1].word == "then":
			return "takes what was compared", likely
		case mentioned != "" && length <= 2 && opening && t.compared > 1 && len(s.words) > length, mentioned != "" && t.compared > 1 && imperative(clause, t):
			return "takes what was compared", likely
		case mentioned != "" && opening && length <= 3 && t.proposed:
			return "names what was proposed", likely
		}
	}
	return "", 0
}

// imperative says whether a clause is "do X", "use X", with X out of what was compared.
func imperative(clause []token, t *table) bool {
	for i := 0; i+1 < len(clause); i++ {
		switch w := clause[i].word; {
		case opens(w) || isMark(w):
		case among(w, "do use take go pick choose keep adopt"):
			next := clause[i+1].word
			if (next == "with" || next == "the" || next == "for") && i+2 < len(clause) {
				next = clause[i+2].word
			}
			return t.mentioned[next]
		default:
			return false
		}
	}
	return false
}

// among says whether a word is one of a list with spaces between.
func among(word, list string) bool {
	for from := 0; word != "" && from < len(list); {
		i := strings.Index(list[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || list[start-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		from = start + 1
	}
	return false
}

// chooses says whether people say a word beside the name of what they take.
func chooses(word string) bool {
	switch word {
	case "adopt", "always", "choose", "do", "enough", "everywhere", "for", "from", "get", "gets", "go", "goes", "hence", "instead", "is",
		"it", "keep", "let", "need", "no", "not", "only", "over", "pick", "please", "put", "rather", "same", "skip", "so", "stay",
		"stays", "take", "then", "use", "want", "win", "wins", "with", "won":
		return true
	}
	return false
}

// clauses splits a sentence at its punctuation.
func clauses(words []token) []span {
	var list []span
	start := 0
	for i := 0; i <= len(words); i++ {
		if i == len(words) || among(words[i].word, ", . ; : ! — ( ) …") {
			if i > start {
				list = append(list, span{start, i})
			}
			start = i + 1
		}
	}
	return list
}
