package claudecode

import "strings"

// Combine joins the reactions to all hooks of one event, given in the order in
// which the hooks completed: texts keep that order; one block is enough; deny
// beats ask beats allow; continue:false beats every block; of several
// rewrites the last stands (host-protocol, Output: "Hooks of one event run in
// parallel", "continue:false"; the last rule is in neither source).
func Combine(event string, each []Reaction) Reaction {
	var all Reaction
	var faults, notes []string
	for _, r := range each {
		all.Blocked = all.Blocked || r.Blocked
		all.GoesOn = all.GoesOn || r.GoesOn
		all.Ended = all.Ended || r.Ended
		all.Told = append(all.Told, r.Told...)
		all.Shown = append(all.Shown, r.Shown...)
		if rank(r.Permission) > rank(all.Permission) {
			all.Permission = r.Permission
		}
		if r.UpdatedInput != nil {
			all.UpdatedInput = r.UpdatedInput
		}
		if r.Fault != "" {
			faults = append(faults, r.Fault)
		}
		if r.Note != "" {
			notes = append(notes, r.Note)
		}
	}
	if len(faults) > 0 {
		all.Fault = faults[0]
	}
	all.Note = strings.Join(notes, "; ")
	if all.Blocked {
		all.UpdatedInput = nil
	}
	if all.Ended && event != "PreToolUse" {
		all.Blocked, all.GoesOn = false, false
		if IsStop(event) {
			all.Told = nil
		}
	}
	return all
}

func rank(permission string) int {
	switch permission {
	case "allow":
		return 1
	case "ask":
		return 2
	case "deny":
		return 3
	}
	return 0
}
