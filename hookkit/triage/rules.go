package triage

// speaker says whose sentences a rule looks at.
type speaker uint8

const (
	anyone speaker = iota
	user
	agent
)

// rule is a row of the tables: patterns that are evidence of a category.
type rule struct {
	name     string
	category Category
	who      speaker
	weight   float64 // of a hit; one plain statement reaches the threshold of 0.6
	any      []string
	// with lists patterns of which one must be found in the same sentence too.
	with []string
	// unless lists patterns that make the sentence no evidence.
	unless []string
	// keeps says which dampers do not count for this rule.
	keeps damper
}

// Weights that the tables use.
const (
	plain  = 0.75 // says it
	likely = 0.62 // says it in most contexts
	part   = 0.45 // half of it; two of them are enough
	hint   = 0.30
)

// ruleTables lists the tables; the number of a rule is its place in them.
func ruleTables() [][]rule {
	return [][]rule{decisionRules, runbookRules, constraintRules, debtRules, preferenceRules}
}
