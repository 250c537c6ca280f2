package text

// Near returns the name that is most like the typed one, or "" if none is near: at most a third of its letters differ, at least one
// may. Of equally near names the first counts.
func Near(typed string, names []string) string { return Within(typed, names, max(1, len(typed)/3)) }

// Within returns the name that is most like the typed one, at most limit steps away, or "". Of equally near names the first counts.
func Within(typed string, names []string, limit int) string {
	best, found := limit+1, ""
	for _, name := range names {
		if d := Distance(typed, name); d < best {
			best, found = d, name
		}
	}
	return found
}

// Distance counts the bytes to insert, delete, replace or swap with their neighbour to make b of a. It takes time and memory as
// their lengths multiplied: it is for names.
func Distance(a, b string) int {
	before, previous := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := previous[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(previous[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, previous = previous, row
	}
	return previous[len(b)]
}
