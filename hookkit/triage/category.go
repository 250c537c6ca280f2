package triage

import "slices"

// Category is a kind of memory. The values are a contract: they stand in settings, labels and in what the agent reads.
type Category string

// The six categories, in the order in which they are listed.
const (
	Decision       Category = "DECISION"
	Runbook        Category = "RUNBOOK"
	Constraint     Category = "CONSTRAINT"
	TechDebt       Category = "TECH_DEBT"
	Preference     Category = "PREFERENCE"
	SessionSummary Category = "SESSION_SUMMARY"
)

// Categories lists the six in their order.
func Categories() []Category {
	return []Category{Decision, Runbook, Constraint, TechDebt, Preference, SessionSummary}
}

func knownCategory(name string) bool { return slices.Contains(Categories(), Category(name)) }
