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
	flag.BoolVar(&o.json, "json", false, "print one JSON object")
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
	half, show                string
	edits, wrong, json, check bool
}

// tally counts verdicts.
type tally struct {
	Kind      string `json:"kind"`
	Cases     int    `json:"cases"`
	FormEqual int    `json:"form_equal"`
	TextEqual int    `json:"text_equal"`
	Wrong     int    `json:"silently_wrong"`
	Refused   int    `json:"refused"`
}

func (t *tally) add(v verdict) {
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
	Way   string  `json:"way"`
	Kinds []tally `json:"kinds"`
	// Over the 11 kinds without drop-opener and unclosed-string, in percent: the mean of the kinds.
	FormEqual float64 `json:"form_equal"`
	TextEqual float64 `json:"text_equal"`
	Wrong     float64 `json:"silently_wrong"`
}

func run(o options) error {
	from, err := sources(o.jars, o.half)
	if err != nil {
		return err
	}
	if len(from) == 0 {
		return errors.New("no Clojure sources: install Debian's clojure, or name jars with -jars")
	}
	if changed := changedValid(from); len(changed) > 0 {
		return fmt.Errorf("%d balanced texts were changed, the first is %s", len(changed), changed[0])
	}
	reports := []report{{Way: "text alone"}, {Way: "with the file before"}}
	for _, k := range allKinds() {
		tallies := [2]tally{{Kind: k.name}, {Kind: k.name}}
		for _, c := range makeCases(k, from, o.count, o.seed) {
			alone := judge(c.want, clj.Repair([]byte(c.broken), clj.RepairOptions{}))
			edit := judge(c.editWant, clj.Repair([]byte(c.editBroken), clj.RepairOptions{
				Before: []byte(c.before), Focus: c.focus, OldFragment: []byte(c.old),
			}))
			tallies[0].add(alone)
			tallies[1].add(edit)
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
			r.print()
		}
	}
	if o.check {
		return check(reports)
	}
	return nil
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
		r.TextEqual += percent(t.TextEqual, t.Cases)
		r.Wrong += percent(t.Wrong, t.Cases)
	}
	r.FormEqual /= kinds
	r.TextEqual /= kinds
	r.Wrong /= kinds
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }

func (r *report) print() {
	fmt.Printf("\n%-18s %6s %11s %11s %15s %8s\n", r.Way, "cases", "form-equal", "text-equal", "silently wrong", "refused")
	for _, t := range r.Kinds {
		fmt.Printf("%-18s %6d %11.1f %11.1f %15.1f %8.1f\n", t.Kind, t.Cases, percent(t.FormEqual, t.Cases), percent(t.TextEqual, t.Cases),
			percent(t.Wrong, t.Cases), percent(t.Refused, t.Cases))
	}
	fmt.Printf("%-18s %6s %11.1f %11.1f %15.1f\n", "mean of 11 kinds", "", r.FormEqual, r.TextEqual, r.Wrong)
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
