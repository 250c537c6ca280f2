//go:build unix && !linux

package proc

// hasLiveMember: these systems do not tell without a further process. Process 1
// collects orphans there, so zombies are soon gone.
func hasLiveMember(int) bool { return true }
