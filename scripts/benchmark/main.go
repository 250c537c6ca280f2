// Command benchmark measures whole processes side by side: each round starts every program once, and what is
// compared are medians over all rounds, so that a drift of the machine's speed touches all of them alike.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const event = `{"session_id":"bench","transcript_path":"/nowhere/t.jsonl","cwd":"/","hook_event_name":"Stop",` +
	`"stop_hook_active":false,"last_assistant_message":"Done.","background_tasks":[],"session_crons":[]}` + "\n"

// program is a process to time.
type program struct {
	name  string
	argv  []string
	dir   string
	input string // the file that is its stdin
}

// budget is a limit on the median of one program, from those of others.
type budget struct {
	program string
	what    string
	limit   func(median map[string]time.Duration) time.Duration
	aim     bool // reported, but no failure
}

func main() {
	rounds := flag.Int("n", 200, "rounds")
	asJSON := flag.Bool("json", false, "print one JSON object")
	flag.Parse()
	if err := run(*rounds, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int, asJSON bool) error {
	work, err := os.MkdirTemp("", "brepl-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // a folder of ours in the system's temporary one
	floor, err := buildFloor(work)
	if err != nil {
		return err
	}
	brepl, err := filepath.Abs("bin/brepl")
	if err != nil {
		return err
	}
	bare, hooked := filepath.Join(work, "bare"), filepath.Join(work, "hooked")
	for dir, config := range map[string]string{bare: "", hooked: `{:stop [{:type :bash :name "t" :command "true"}]}`} {
		if err = project(dir, config); err != nil {
			return err
		}
	}
	input, write := filepath.Join(work, "event.json"), filepath.Join(work, "write.json")
	if err = os.WriteFile(input, []byte(event), 0o600); err != nil {
		return err
	}
	if err = os.WriteFile(write, writeEvent(filepath.Join(bare, "src/big.clj")), 0o600); err != nil {
		return err
	}

	servers, err := startREPLs(work)
	if err != nil {
		return err
	}
	defer servers.end()

	programs := []program{
		{"empty", []string{floor}, bare, input},
		{"stop", []string{brepl, "hook", "stop"}, bare, input},
		{"bash", []string{"bash", "-c", "true"}, bare, input},
		{"stop+bash", []string{brepl, "hook", "stop"}, hooked, input},
		{"validate", []string{brepl, "hook", "validate"}, bare, write},
	}
	programs = append(programs, servers.programs(brepl)...)
	budgets := []budget{
		{"stop", "hook stop without configuration: aim, 1.5 x the empty program", times(1.5, "empty"), true},
		{"stop", "hook stop without configuration: 1.75 x the empty program", times(1.75, "empty"), false},
		{"stop+bash", "hook stop with one hook `true`: the above plus 1.75 x bash -c true", func(m map[string]time.Duration) time.Duration {
			return times(1.75, "empty")(m) + times(1.75, "bash")(m)
		}, false},
		{"validate", "hook validate of a Write of 300 KB: 4 x the empty program", times(4, "empty"), false},
		{"eval", "brepl '(+ 1 2)' against a fake server: 3.5 x the empty program", times(3.5, "empty"), false},
	}
	// Noise only ever adds time: a budget that is kept once in five tries is kept.
	const tries = 5
	var outcome result
	for try := 1; ; try++ {
		median, err := measure(programs, rounds, work)
		if err != nil {
			return err
		}
		outcome = judge(programs, budgets, median)
		if outcome.OK || try == tries {
			break
		}
		fmt.Fprintf(os.Stderr, "bench: over budget in try %d of %d\n", try, tries)
	}
	if err := outcome.size(floor, brepl); err != nil {
		return err
	}
	if err := outcome.stream(brepl, servers); err != nil {
		return err
	}
	servers.fake.Close() // this process will stand where another server runs
	if err := outcome.discovery(brepl, work); err != nil {
		return err
	}
	if err := outcome.gauntlet(floor, work, rounds); err != nil {
		return err
	}
	if err := outcome.triage(floor, work, rounds); err != nil {
		return err
	}
	outcome.print(asJSON)
	if !outcome.OK {
		return fmt.Errorf("a budget is exceeded")
	}
	return nil
}

// writeEvent is the event before a balanced Clojure file of 300 KB is written.
func writeEvent(path string) []byte {
	const form = `(defn price-%d\n  \"The price of one item, \\\"net\\\".\"\n  [{:keys [qty unit] :as item} {:keys [rate]}]\n` +
		`  (let [net (* qty unit)] ; before tax\n    (assoc item :net net :gross (+ net (* net rate)))))\n\n`
	var b strings.Builder
	for i := 0; b.Len() < 300_000; i++ {
		fmt.Fprintf(&b, form, i)
	}
	return fmt.Appendf(nil, `{"session_id":"bench","transcript_path":"/nowhere/t.jsonl","cwd":"/","hook_event_name":"PreToolUse",`+
		`"tool_name":"Write","tool_input":{"file_path":%q,"content":"(ns big)\n\n%s"},"tool_use_id":"t"}`+"\n", path, b.String())
}

func times(factor float64, of string) func(map[string]time.Duration) time.Duration {
	return func(m map[string]time.Duration) time.Duration { return time.Duration(factor * float64(m[of])) }
}

// buildFloor builds the empty program in the same way as ours.
func buildFloor(work string) (string, error) {
	source := filepath.Join(work, "floor")
	if err := os.Mkdir(source, 0o700); err != nil {
		return "", err
	}
	for name, text := range map[string]string{"go.mod": "module floor\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	path := filepath.Join(work, "empty")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the empty program: %w\n%s", err, out)
	}
	return path, nil
}

func project(dir, config string) error {
	if err := os.MkdirAll(filepath.Join(dir, ".brepl"), 0o700); err != nil || config == "" {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ".brepl", "hooks.edn"), []byte(config), 0o600)
}

// measure returns the median wall time of each program.
func measure(programs []program, rounds int, state string) (map[string]time.Duration, error) {
	const warmUp = 10
	walls := map[string][]time.Duration{}
	for round := range warmUp + rounds {
		for _, p := range programs {
			wall, err := once(p, state)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			if round >= warmUp {
				walls[p.name] = append(walls[p.name], wall)
			}
		}
	}
	median := map[string]time.Duration{}
	for name, w := range walls {
		slices.Sort(w)
		median[name] = w[len(w)/2]
	}
	return median, nil
}

func once(p program, state string) (time.Duration, error) {
	stdin, err := os.Open(p.input)
	if err != nil {
		return 0, err
	}
	defer func() { _ = stdin.Close() }() // only read
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir = p.dir
	cmd.Stdin = stdin
	cmd.Env = append(os.Environ(), "BREPL_STATE_DIR="+filepath.Join(state, "state"), "CLAUDE_PROJECT_DIR="+p.dir)
	began := time.Now()
	err = cmd.Run()
	return time.Since(began), err
}

type result struct {
	Medians []row  `json:"medians"`
	Budgets []line `json:"budgets"`
	OK      bool   `json:"ok"`
}

type row struct {
	Program string  `json:"program"`
	MS      float64 `json:"ms"`
	Ratio   float64 `json:"ratio"` // to the empty program
}

type line struct {
	What  string  `json:"what"`
	Is    float64 `json:"is"`
	Limit float64 `json:"limit"`
	Unit  string  `json:"unit"`
	Aim   bool    `json:"aim"`
	OK    bool    `json:"ok"`
}

func judge(programs []program, budgets []budget, median map[string]time.Duration) result {
	r := result{OK: true}
	for _, p := range programs {
		r.Medians = append(r.Medians, row{strings.Join(append([]string{filepath.Base(p.argv[0])}, p.argv[1:]...), " ") + suffix(p), ms(median[p.name]), ratio(median[p.name], median["empty"])})
	}
	for _, b := range budgets {
		limit := b.limit(median)
		l := line{What: b.what, Is: ms(median[b.program]), Limit: ms(limit), Unit: "ms", Aim: b.aim, OK: median[b.program] <= limit}
		r.OK = r.OK && (l.OK || l.Aim)
		r.Budgets = append(r.Budgets, l)
	}
	return r
}

func suffix(p program) string {
	switch p.name {
	case "stop+bash":
		return " (one hook: true)"
	case "validate":
		return " (a Write of 300 KB)"
	case "eval":
		return " (a fake server)"
	case "eval-jvm":
		return " (nREPL on a JVM; version 1.0 takes 100 ms of it to end the session)"
	}
	return ""
}

// size adds the budget of the binary: at most 4.7 MB over the empty program. It was 3.5 MB for the hooks alone; the nREPL client, the search
// for servers, the errors' texts and the loading of edited files are 0.6 MB, what masks secrets in debug logs is 0.15 MB, and running
// the project's tests in a REPL in step with its files is 0.45 MB. A stop without such hooks touches none of them: its time has stayed.
func (r *result) size(floor, brepl string) error {
	const limit = 4_700_000
	small, err := os.Stat(floor)
	if err != nil {
		return err
	}
	large, err := os.Stat(brepl)
	if err != nil {
		return err
	}
	over := large.Size() - small.Size()
	r.Budgets = append(r.Budgets, line{
		What: "size of brepl over the empty program", Is: float64(over) / 1e6, Limit: limit / 1e6, Unit: "MB", OK: over <= limit,
	})
	r.OK = r.OK && over <= limit
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func (r *result) print(asJSON bool) {
	if asJSON {
		out, err := json.MarshalIndent(r, "", "  ")
		if err == nil {
			fmt.Println(string(out))
		}
		return
	}
	for _, row := range r.Medians {
		fmt.Printf("%8.2f ms  %5.2f x  %s\n", row.MS, row.Ratio, row.Program)
	}
	for _, b := range r.Budgets {
		word := "ok  "
		switch {
		case !b.OK && b.Aim:
			word = "over"
		case !b.OK:
			word = "FAIL"
		}
		fmt.Printf("%s %7.2f of %.2f %s  %s\n", word, b.Is, b.Limit, b.Unit, b.What)
	}
}
