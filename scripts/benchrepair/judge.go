package main

import (
	"fmt"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// verdict is what came of a case.
type verdict struct {
	form, text bool // equal to the original as data, and byte for byte
	refused    string
	result     clj.RepairResult
}

func judge(want string, r clj.RepairResult) verdict {
	v := verdict{refused: r.Refused, result: r}
	if r.Refused != "" {
		return v
	}
	v.text = string(r.Text) == want
	v.form = v.text || sameData(string(r.Text), want)
	return v
}

// sameData compares the forms of two texts, without comments and spaces.
func sameData(a, b string) bool {
	left, errs := clj.ReadAll("", []byte(a), clj.Options{Dialect: clj.Clojure})
	if len(errs) > 0 {
		return false
	}
	right, _ := clj.ReadAll("", []byte(b), clj.Options{Dialect: clj.Clojure})
	return sameNodes(left, right)
}

func sameNodes(a, b []*clj.Node) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Kind != b[i].Kind || a[i].Text != b[i].Text || !sameNodes(a[i].Children, b[i].Children) {
			return false
		}
	}
	return true
}

// show prints a case that went wrong: the damaged lines, the edits, and what they were.
func show(c testCase, broken, want string, v verdict) {
	first := 0
	for first < len(broken) && first < len(want) && broken[first] == want[first] {
		first++
	}
	fmt.Printf("--- %s %s (whole: %v) damaged at %d\n", c.kind, c.name, c.whole, strings.Count(broken[:first], "\n")+1)
	from := lineStart(broken, lineStart(broken, lineStart(broken, first)-1)-1)
	for n, text := range []string{broken, want} {
		to := first
		for range 4 {
			to = lineEnd(text, to+1)
		}
		fmt.Printf("%s:\n%s\n", [2]string{"damaged", "was"}[n], text[from:max(to, from)])
	}
	if v.refused != "" {
		fmt.Println("refused:", v.refused)
	}
	for _, p := range v.result.Places {
		fmt.Printf("  %d:%d %s\n", p.Pos.Line, p.Pos.Column, p.Text)
	}
	for _, e := range v.result.Edits {
		fmt.Printf("  %d:%d -%q +%q\n", e.Pos.Line, e.Pos.Column, e.Removed, e.Inserted)
	}
}
