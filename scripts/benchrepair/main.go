// Command benchrepair measures the repair of delimiters on damaged texts, which it makes of the Clojure sources in jars.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

func main() {
	o := options{}
	jars := flag.String("jars", "/usr/share/java/*.jar", "`GLOBS` of jars, separated by commas")
	flag.IntVar(&o.count, "n", 200, "cases of each kind")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the damage")
	flag.StringVar(&o.half, "half", "all", "a, b or all: which half of the files")
	flag.StringVar(&o.show, "show", "", "show the cases of this `KIND` that are not form-equal")
	flag.BoolVar(&o.wrong, "wrong", false, "with -show: only those that are silently wrong")
	flag.BoolVar(&o.edits, "edits", false, "with -show: those with the file before the edit")
	flag.StringVar(&o.clojure, "clojure", "", "`CLASSPATH` of a Clojure whose reader judges too; empty: our reader alone")
	flag.BoolVar(&o.json, "json", false, "print one JSON object")
	flag.BoolVar(&o.habits, "habits", false, "count the habits of writing in the files, as hookkit/clj/repairhabits.txt has them, and measure nothing")
	flag.BoolVar(&o.check, "check", false, "exit 1 where a target is missed")
	flag.Parse()
	o.jars = strings.Split(*jars, ",")
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-repair:", err)
		os.Exit(1)
	}
}

type options struct {
	jars                      []string
	count                     int
	seed                      uint64
	half, show, clojure       string
	edits, wrong, json, check bool
	habits                    bool
}

// tally counts verdicts.
type tally struct {
	Kind      string `json:"kind"`
	Cases     int    `json:"cases"`
	FormEqual int    `json:"form_equal"`
	TextEqual int    `json:"text_equal"`
	Wrong     int    `json:"silently_wrong"`
	Refused   int    `json:"refused"`
	Clojure   int    `json:"form_equal_by_clojure"` // 0 where it was not asked
	Sure      int    `json:"sure"`                  // repairs that said so
	SureWrong int    `json:"sure_and_wrong"`
}

func (t *tally) add(v verdict) {
	sure := v.refused == "" && v.result.Confidence == clj.Sure
	t.Sure += b2i(sure)
	t.SureWrong += b2i(sure && !v.form)
	t.Cases++
	t.FormEqual += b2i(v.form)
	t.TextEqual += b2i(v.text)
	t.Wrong += b2i(!v.form && v.refused == "")
	t.Refused += b2i(v.refused != "")
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// report is what is measured for one way to repair.
type report struct {
	Way   string   `json:"way"`
	Kinds []*tally `json:"kinds"`
	// Over the 11 kinds without drop-opener and unclosed-string, in percent: the mean of the kinds.
	FormEqual float64 `json:"form_equal"`
	TextEqual float64 `json:"text_equal"`
	Wrong     float64 `json:"silently_wrong"`
	Clojure   float64 `json:"form_equal_by_clojure"` // 0 where it was not asked
}

func run(o options) error {
	from, err := sources(o.jars, o.half)
	if err != nil {
		return err
	}
	if len(from) == 0 {
		return errors.New("no Clojure sources: install Debian's clojure, or name jars with -jars")
	}
	if o.habits {
		var texts [][]byte
		for _, s := range from {
			texts = append(texts, []byte(s.text))
		}
		return clj.WriteHabits(os.Stdout, texts)
	}
	if changed := changedValid(from); len(changed) > 0 {
		return fmt.Errorf("%d balanced texts were changed, the first is %s", len(changed), changed[0])
	}
	reports := []report{{Way: "text alone"}, {Way: "with the file before"}}
	judges := oracle{}
	for _, k := range allKinds() {
		tallies := [2]*tally{{Kind: k.name}, {Kind: k.name}}
		for _, c := range makeCases(k, from, o.count, o.seed) {
			alone := judge(c.want, clj.Repair([]byte(c.broken), clj.RepairOptions{}))
			edit := judge(c.editWant, clj.Repair([]byte(c.editBroken), clj.RepairOptions{
				Before: []byte(c.before), Focus: c.focus, OldFragment: []byte(c.old),
			}))
			tallies[0].add(alone)
			tallies[1].add(edit)
			if o.clojure != "" {
				judges.hear(tallies[0], c, alone, c.want)
				judges.hear(tallies[1], c, edit, c.editWant)
			}
			switch {
			case k.name != o.show, o.wrong && alone.refused != "" && !o.edits, o.wrong && edit.refused != "" && o.edits:
			case o.edits && !edit.form:
				show(c, c.editBroken, c.editWant, edit)
			case !o.edits && !alone.form:
				show(c, c.broken, c.want, alone)
			}
		}
		for i := range reports {
			reports[i].Kinds = append(reports[i].Kinds, tallies[i])
		}
	}
	var differ []string
	if o.clojure != "" {
		if differ, err = judges.answer(o.clojure); err != nil {
			return err
		}
	}
	for i := range reports {
		reports[i].sum()
	}
	if o.json {
		if err := json.NewEncoder(os.Stdout).Encode(reports); err != nil {
			return err
		}
	} else {
		fmt.Printf("%d files (half %s), seed %d; all of them unchanged as they are and in 5 variants\n", len(from), o.half, o.seed)
		for _, r := range reports {
			r.print(o.clojure != "")
		}
	}
	for _, line := range differ {
		fmt.Fprintln(os.Stderr, "the readers disagree:", line)
	}
	if o.check {
		return errors.Join(check(reports), disagreement(differ))
	}
	return nil
}

// disagreement is an error where Clojure's reader and ours do not agree on what is equal.
func disagreement(differ []string) error {
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("our reader and Clojure's disagree on %d cases", len(differ))
}

// inMean says whether a kind counts in the means: what has to be refused does not.
func inMean(kind string) bool { return kind != "drop-opener" && kind != "unclosed-string" }

func (r *report) sum() {
	kinds := 0.0
	for _, t := range r.Kinds {
		if !inMean(t.Kind) || t.Cases == 0 {
			continue
		}
		kinds++
		r.FormEqual += percent(t.FormEqual, t.Cases)
		r.Clojure += percent(t.Clojure, t.Cases)
		r.TextEqual += percent(t.TextEqual, t.Cases)
		r.Wrong += percent(t.Wrong, t.Cases)
	}
	r.FormEqual /= kinds
	r.Clojure /= kinds
	r.TextEqual /= kinds
	r.Wrong /= kinds
}

// orDash gives a number, or a dash where it is not known.
func orDash(known bool, n float64) string {
	if !known {
		return "-"
	}
	return fmt.Sprintf("%.1f", n)
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }

func (r *report) print(asked bool) {
	const row = "%-20s %6d %11.1f %11s %11.1f %15.1f %8.1f\n"
	fmt.Printf("\n%-20s %6s %11s %11s %11s %15s %8s\n", r.Way, "cases", "form-equal", "by Clojure", "text-equal", "silently wrong", "refused")
	for _, t := range r.Kinds {
		fmt.Printf(row, t.Kind, t.Cases, percent(t.FormEqual, t.Cases), orDash(asked, percent(t.Clojure, t.Cases)), percent(t.TextEqual, t.Cases),
			percent(t.Wrong, t.Cases), percent(t.Refused, t.Cases))
	}
	fmt.Printf("%-20s %6s %11.1f %11s %11.1f %15.1f\n", "mean of 11 kinds", "", r.FormEqual, orDash(asked, r.Clojure), r.TextEqual, r.Wrong)
	repaired, sure, sureWrong := 0, 0, 0
	for _, t := range r.Kinds {
		repaired += t.Cases - t.Refused
		sure += t.Sure
		sureWrong += t.SureWrong
	}
	fmt.Printf("sure of %.1f %% of the repairs of all kinds, and wrong in %.1f %% of those\n", percent(sure, repaired), percent(sureWrong, sure))
}

// check compares with the targets.
func check(reports []report) error {
	targets := [2]struct{ form, text, wrong float64 }{{96, 86, 2}, {98, 88, 1}}
	var errs []error
	for i, r := range reports {
		if r.FormEqual < targets[i].form || r.TextEqual < targets[i].text || r.Wrong > targets[i].wrong {
			errs = append(errs, fmt.Errorf("%s: %.1f / %.1f / %.1f, the target is %v / %v / %v", r.Way, r.FormEqual, r.TextEqual, r.Wrong,
				targets[i].form, targets[i].text, targets[i].wrong))
		}
		for _, t := range r.Kinds {
			if t.Kind == "unclosed-string" && t.Refused < t.Cases {
				errs = append(errs, fmt.Errorf("%s: %d of %d unclosed strings were not refused", r.Way, t.Cases-t.Refused, t.Cases))
			}
			if t.Kind == "drop-opener" && percent(t.Wrong, t.Cases) > 20 {
				errs = append(errs, fmt.Errorf("%s: %d of %d lost openers are silently wrong", r.Way, t.Wrong, t.Cases))
			}
		}
	}
	return errors.Join(errs...)
}

// changedValid repairs what is balanced, and names what was changed.
func changedValid(from []source) []string {
	var changed []string
	for _, s := range from {
		variants := map[string]string{
			"":               s.text,
			"CRLF":           strings.ReplaceAll(s.text, "\n", "\r\n"),
			"CR":             strings.ReplaceAll(s.text, "\n", "\r"),
			"BOM":            "\uFEFF" + s.text,
			"no indentation": strings.ReplaceAll(s.text, "\n  ", "\n"),
			"tabs":           strings.ReplaceAll(s.text, "\n  ", "\n\t"),
		}
		for name, text := range variants {
			if len(clj.CheckDelimiters("", []byte(text))) > 0 {
				continue // a variant that broke it
			}
			r := clj.Repair([]byte(text), clj.RepairOptions{})
			if r.Refused != "" || len(r.Edits) > 0 || !bytes.Equal(r.Text, []byte(text)) {
				changed = append(changed, s.name+" "+name)
			}
		}
	}
	return changed
}
