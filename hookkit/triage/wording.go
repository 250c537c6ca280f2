package triage

import (
	"cmp"
	_ "embed" // for weightsText
	"iter"
	"math"
	"slices"
	"strings"
)

// weightsText is what was learned from labelled conversations: for each feature that matters, how much it speaks for and against each of the
// five categories that are said in sentences. It is a hash table of wordingSlots lines. A line has the feature's mark, two characters, and
// a weight for each category, one character; an empty line of blanks is a free slot. TestLearn -update writes it, docs/triage-quality.md
// tells from what.
//
//go:embed weights.txt
var weightsText string

const (
	slotBits     = 15
	wordingSlots = 1 << slotBits
	slotSize     = 8 // with the line end
	slotFree     = ' '

	// weights are written with characters from weightLeast on; the middle one is 0, and the steps are finer around it: see weightOf.
	weightLeast  = '!'
	weightMiddle = weightLeast + weightSteps
	weightSteps  = 46
)

// wordings are the categories that the weights speak of, in the order of the columns.
var wordings = [...]Category{Decision, Runbook, Constraint, TechDebt, Preference}

// logits are sums of weights, by category: positive where more speaks for it than against it.
type logits [len(wordings)]float32

// fingerprint tells the features of a slot apart: two printable characters.
func fingerprint(hash uint32) (byte, byte) {
	const printable = '~' - '!' + 1
	return byte('!' + hash%printable), byte('!' + hash/printable%printable)
}

// slotOf finds a feature's line in the table, or the free one where it would stand.
func slotOf[T string | []byte](table T, hash uint32) (at int, found bool) {
	a, b := fingerprint(hash)
	for slot := int(hash >> (32 - slotBits)); ; slot = (slot + 1) % wordingSlots {
		at = slot * slotSize
		switch {
		case table[at] == a && table[at+1] == b:
			return at, true
		case table[at] == slotFree:
			return at, false
		}
	}
}

// known says whether a feature was learned.
func known(hash uint32) bool {
	_, found := slotOf(weightsText, hash)
	return found
}

// add adds a feature's weights.
func (l *logits) add(hash uint32) {
	if at, found := slotOf(weightsText, hash); found {
		for k := range l {
			l[k] += weightOf[weightsText[at+2+k]]
		}
	}
}

// listen adds what the wording of each sentence speaks for. It comes after the rules, whose hits are features too.
func (a *analysis) listen() {
	a.around = a.surroundings()
	var f featureList
	for i := range a.sentences {
		f.of(i, a.around, known)
		sum := wordingBias
		for _, feature := range f.list {
			sum.add(feature.hash)
		}
		for k, z := range sum {
			if z >= leastLogit && !a.around.silent[i][k] {
				p := sigmoid(min(float64(z), surestLogit))
				a.spoken = append(a.spoken, evidence{
					category: wordings[k], rule: wordingRule, sentence: i, span: span{0, len(a.sentences[i].words)}, raw: p, weight: p,
				})
			}
		}
	}
}

// wordingRule names evidence that the weights found.
const wordingRule = "wording"

// leastLogit is what is still kept: a chance of one in twenty.
const leastLogit = -3

// surestLogit bounds a chance away from 1.
const surestLogit = 12

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
func logit(p float64) float64   { return math.Log(p / (1 - p)) }

// weighed is the score of a category out of the rules' score and the sentence whose wording speaks most for it.
func (a *analysis) weighed(k int, rules float64) float64 {
	best := float64(leastLogit)
	if p := a.saidBest(wordings[k]); p > 0 {
		best = logit(p)
	}
	z := 0.0
	for n, x := range caseFeatures(best, rules) {
		z += caseWeights[k][n] * x
	}
	score := sigmoid(z + logit(defaultThreshold))
	for i := range a.found {
		if h := &a.found[i]; h.category == wordings[k] && strings.HasPrefix(h.rule, configuredRule) {
			score = max(score, h.weight) // the weights do not know the user's own words
		}
	}
	return min(surest, score)
}

// saidBest is the chance of the sentence whose wording speaks most for a category, 0 for none that counts.
func (a *analysis) saidBest(c Category) float64 {
	best := 0.0
	for i := range a.spoken {
		if h := &a.spoken[i]; h.category == c {
			best = max(best, h.weight)
		}
	}
	return best
}

const defaultThreshold = 0.6

// caseNumbers are what a category's score is made of.
type caseNumbers [5]float64

// caseFeatures are the best logit and the rules' score, by itself and in steps.
func caseFeatures(best, rules float64) caseNumbers {
	x := caseNumbers{1, best / 3, rules}
	if rules >= defaultThreshold/2 {
		x[3] = 1
	}
	if rules >= defaultThreshold {
		x[4] = 1
	}
	return x
}

// wordingOf says which words of a sentence speak most for a category and which most against it, and what else does.
func (a *analysis) wordingOf(h *evidence) []string {
	k := slices.Index(wordings[:], h.category)
	if k < 0 {
		return nil
	}
	var f featureList
	f.of(h.sentence, a.around, known)
	type part struct {
		weight float32
		text   string
	}
	sums := map[string]float32{} // by what is shown: the same words are features of several kinds
	rules, around := float32(0), float32(0)
	shown := map[string]bool{}
	for _, w := range tokens(mask(a.sentences[h.sentence].text)) {
		shown[w.word] = true
	}
	for _, feature := range f.list {
		var l logits
		l.add(feature.hash)
		switch {
		case l[k] == 0:
		case feature.kind <= ofStem:
			n := 1
			if feature.kind == ofTwo || feature.kind == ofThree {
				n = int(feature.kind-ofWord) + 1
			}
			sums[a.sentences[h.sentence].learnedWords(shown, int(feature.at), n)] += l[k]
		case feature.kind <= ofLead || feature.kind > ofReason:
			around += l[k]
		default:
			rules += l[k]
		}
	}
	words := make([]part, 0, len(sums))
	for text, weight := range sums {
		words = append(words, part{weight, text})
	}
	slices.SortFunc(words, func(x, y part) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(x.text, y.text))
	})
	const most = 3
	list := func(title string, parts iter.Seq2[int, part], sign float32) string {
		var texts []string
		for _, p := range parts {
			if p.weight*sign > 0 && len(texts) < most {
				texts = append(texts, "“"+p.text+"”")
			}
		}
		if len(texts) == 0 {
			return ""
		}
		return title + strings.Join(texts, ", ")
	}
	var why []string
	for _, text := range []string{list("for it ", slices.All(words), 1), list("against it ", slices.Backward(words), -1), leaning("the rules", rules), leaning("what stands around it", around)} {
		if text != "" {
			why = append(why, text)
		}
	}
	return why
}

// learnedWords shows n words, "…" for those that the weights do not know by name or that are masked: such a word may be a secret.
func (s *sentence) learnedWords(shown map[string]bool, from, n int) string {
	var words []string
	for _, w := range s.words[from:min(from+n, len(s.words))] {
		if known(mix(ofWord, w.hash, 0, 0)) && shown[w.word] {
			words = append(words, w.word)
		} else {
			words = append(words, "…")
		}
	}
	return strings.Join(words, " ")
}

// leaning says which way something speaks, "" for neither.
func leaning(what string, weight float32) string {
	const much = 0.3
	switch {
	case weight >= much:
		return what + " for it"
	case weight <= -much:
		return what + " against it"
	}
	return ""
}
