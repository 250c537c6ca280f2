package fakes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Preset is one of the real nREPL servers whose answers were recorded. Its
// text names it on a command line.
type Preset string

// The five servers. docs/nrepl-servers.md has a table of how they differ.
const (
	// JVM1_0 is nREPL 1.0.0 with Clojure 1.11.1, and what a server is without a
	// preset.
	JVM1_0 Preset = "jvm-1.0.0" //nolint:revive // the underscore is the version's dot
	// JVM1_7 is nREPL after 1.7.0: surrogate pairs stay whole, fewer ops.
	JVM1_7 Preset = "jvm-1.7" //nolint:revive // the underscore is the version's dot
	// Babashka is the server of bb nrepl-server. It knows no interrupt, takes
	// one message at a time, and stops at the first error.
	Babashka Preset = "babashka"
	// NBB is nbb on Node. It knows no interrupt and one evaluation at a time in
	// the whole server, sends no status eval-error, and dies of malformed bytes.
	NBB Preset = "nbb"
	// LetGo is let-go. It sends all output in one message at the end, only the
	// last value, errors in colour, and no status eval-error.
	LetGo Preset = "let-go"
)

// Presets returns the five servers, in the order of the table in
// docs/nrepl-servers.md.
func Presets() []Preset { return []Preset{JVM1_0, JVM1_7, Babashka, NBB, LetGo} }

// NREPLPreset makes the fake answer as this server does. A script says what
// the code does; the preset says how the server tells it. So one script serves
// all presets, as far as the servers agree on what the code does:
//
//	srv.On("1 (/ 1 0) 3").Value("1").Exception("java.lang.ArithmeticException", "Divide by zero").Value("3")
//
// sends "3" on the JVM, which goes on after an error, and nowhere else.
//
// A preset does not forgive more than the default: bencode that is not
// canonical and a line that is a string are problems with each of them, also
// where the real server accepts them.
func NREPLPreset(p Preset) NREPLOption {
	return func(c *nreplConfig) { c.preset = p }
}

// dialect returns the server's data.
func (p Preset) dialect() (dialect, error) {
	var d dialect
	switch p {
	case "", JVM1_0:
		d = jvm100()
	case JVM1_7:
		d = jvm17()
	case Babashka:
		d = babashka()
	case NBB:
		d = nbb()
	case LetGo:
		d = letGo()
	default:
		var names []string
		for _, known := range Presets() {
			names = append(names, string(known))
		}
		return d, fmt.Errorf("no nREPL preset %q; there are %s", string(p), strings.Join(names, ", "))
	}
	d.name = string(p)
	return d, nil
}

// jvm100 is nREPL 1.0.0 with Clojure 1.11.1, as recorded.
func jvm100() dialect {
	return dialect{
		ops: []string{
			"add-middleware", "clone", "close", "completions", "describe", "eval", "interrupt", "load-file",
			"lookup", "ls-middleware", "ls-sessions", "sideloader-provide", "sideloader-start", "stdin", "swap-middleware",
		},
		versions: map[string]any{
			"clojure": map[string]any{"incremental": 1, "major": 1, "minor": 11, "version-string": "1.11.1"},
			"java":    map[string]any{"incremental": "15", "major": "17", "minor": "0", "version-string": "17.0.15"},
			"nrepl":   map[string]any{"incremental": 0, "major": 1, "minor": 0, "version-string": "1.0.0"},
		},
		aux:              map[string]any{"current-ns": "user"},
		chunk:            1024,
		splitsPairs:      true,
		lastValueLoad:    true,
		evalError:        []string{"eval-error"},
		exceptionErr:     "Execution error ({short}) at user/eval2366 (REPL:1).\n{message}\n",
		exceptionEx:      "class {class}",
		textLineHangs:    true,
		unknownOpNames:   true,
		done:             []string{"done"},
		needInput:        []string{"need-input"},
		unknownOp:        []string{"done", "unknown-op", "error"},
		unknownSession:   []string{"done", "unknown-session", "error"},
		unknownNs:        []string{"namespace-not-found", "done", "error"},
		closed:           []string{"done", "session-closed"},
		interrupted:      []string{"done", "interrupted"},
		interruptDone:    []string{"done"},
		sessionIdle:      []string{"done", "session-idle"},
		interruptOther:   []string{"done", "interrupt-id-mismatch", "error"},
		sessionEphemeral: []string{"done", "session-ephemeral", "error"},
		noCode:           []Message{{"status": []string{"done", "no-code", "error"}}},
	}
}

// jvm17 is nREPL's main branch after 1.7.0 with Clojure 1.11.1, as recorded.
func jvm17() dialect {
	d := jvm100()
	d.ops = []string{
		"clone", "close", "completions", "describe", "eval", "forward-system-output", "interrupt", "load-file",
		"lookup", "ls-sessions", "stdin",
	}
	d.versions = map[string]any{
		"clojure": map[string]any{"incremental": 1, "major": 1, "minor": 11, "version-string": "1.11.1"},
		"java":    map[string]any{"major": 17, "version-string": "17.0.15"},
		"nrepl":   map[string]any{"version-string": ""}, // built from source: it does not know its version
	}
	for _, m := range []string{
		"/wrap-describe", ".completion/wrap-completion", ".interruptible-eval/interruptible-eval", ".io/wrap-out",
		".load-file/wrap-load-file", ".caught/wrap-caught", ".lookup/wrap-lookup", ".print/wrap-print",
		".session/add-stdin", ".session/session",
	} {
		d.middleware = append(d.middleware, "#'nrepl.middleware"+m)
	}
	d.splitsPairs = false
	return d
}

// babashka is babashka.nrepl, as recorded on the JVM.
func babashka() dialect {
	return dialect{
		ops: []string{
			"clone", "close", "complete", "completions", "describe", "eldoc", "eval", "info", "load-file", "lookup",
			"ls-sessions", "ns-list",
		},
		versions:      map[string]any{"babashka.nrepl": "0.0.6-SNAPSHOT"},
		chunk:         1024,
		splitsPairs:   true,
		lastValueLoad: true,
		missingNs:     missingNsThrows,
		failedNs:      Message{"err": ": No namespace: {ns} found user \n", "ex": "class "},
		afterError:    afterErrorStops,
		evalError:     []string{"eval-error"},
		exceptionErr:  "{class}: {message} user REPL:1:1\n",
		exceptionEx:   "class {class}",
		session:       sessionRule{sessionNamed, "none"},
		cloneSession:  sessionRule{sessionNamed, "none"},
		looseSessions: true,
		missingID:     "unknown",
		turns:         turnsConnection,
		interrupts:    interruptUnknown,
		malformed:     malformedDead,
		done:          []string{"done"},
		unknownOp:     []string{"error", "unknown-op", "done"},
		closed:        []string{"done", "session-closed"},
		noCode: []Message{
			{"err": ": No implementation of method: :to-rdr of protocol: #'clojure.tools.reader.reader-types/ReaderCoercer" +
				" found for class: nil user \n"},
			{"ex": "class ", "root-ex": "class ", "status": []string{"eval-error"}},
			{"status": []string{"done"}},
		},
	}
}

// nbb is nbb 1.6.214, as recorded.
func nbb() dialect {
	return dialect{
		ops: []string{
			"classpath", "clone", "close", "complete", "completions", "describe", "eldoc", "eval", "info", "load-file",
			"lookup", "macroexpand",
		},
		versions: map[string]any{
			"nbb-nrepl": map[string]any{"major": "TODO", "version-string": "TODO"},
			"node":      map[string]any{"incremental": "2", "major": "v20", "minor": "20", "version-string": "v20.20.2"},
		},
		aux:           map[string]any{},
		newlineAlone:  true,
		stderrAsOut:   true,
		nsWithLoad:    true,
		nsWithDone:    true,
		nsGlobal:      true,
		missingNs:     missingNsIgnored,
		afterError:    afterErrorStops,
		errorNamesNs:  true,
		noRootEx:      true,
		exceptionErr:  "{message}\n",
		exceptionEx:   `#error {:message {quoted}, :data {:type :sci/error, :line 1, :column 1, :message {quoted}}}`,
		session:       sessionRule{kind: sessionNone},
		cloneSession:  sessionRule{kind: sessionNone},
		looseSessions: true,
		missingID:     []string{},
		turns:         turnsServer,
		interrupts:    interruptUnknown,
		malformed:     malformedCrashes,
		done:          []string{"done"},
		unknownOp:     []string{"error", "unknown-op", "done"},
		closed:        []string{"done", "session-closed"},
		noCode:        []Message{{"ns": "user", "status": []string{"done"}}},
	}
}

// letGo is let-go, as recorded.
func letGo() dialect {
	return dialect{
		ops: []string{
			"clone", "close", "complete", "completions", "describe", "eval", "info", "load-file", "lookup", "ls-sessions",
		},
		versions: map[string]any{
			"let-go": map[string]any{"major": "1", "minor": "0"},
			"nrepl":  map[string]any{"major": "1", "minor": "0"},
		},
		aux:           map[string]any{},
		stderrAsOut:   true,
		outAtEnd:      true,
		lastValue:     true,
		lastValueLoad: true,
		nsWithLoad:    true,
		nsGlobal:      true,
		missingNs:     missingNsIgnored,
		afterError:    afterErrorStops,
		errorInOne:    true,
		exceptionErr:  "\x1b[1;31merror:\x1b[0m {message}\n\n",
		exceptionEx:   "let-go.lang.Error",
		session:       sessionRule{sessionNamed, ""},
		cloneSession:  sessionRule{kind: sessionNone},
		looseSessions: true,
		missingID:     "",
		idAsText:      true,
		turns:         turnsConnection,
		interrupts:    interruptIdle,
		malformed:     malformedCloses,
		done:          []string{"done"},
		unknownOp:     []string{"done", "error", "unknown-op"},
		closed:        []string{"done", "session-closed"},
		sessionIdle:   []string{"done", "session-idle"},
		noCode: []Message{
			{"ns": "user", "value": "nil"},
			{"status": []string{"done"}},
		},
	}
}

// exception returns the texts of an exception: what is printed, and ex.
func (d *dialect) exception(class, message string) (err, ex string) {
	fill := strings.NewReplacer(
		"{short}", class[strings.LastIndexByte(class, '.')+1:], "{class}", class,
		"{message}", message, "{quoted}", strconv.Quote(message))
	return fill.Replace(d.exceptionErr), fill.Replace(d.exceptionEx)
}

// has reports whether the server knows the op.
func (d *dialect) has(op string) bool { return slices.Contains(d.ops, op) }
