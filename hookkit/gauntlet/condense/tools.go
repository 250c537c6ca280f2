package condense

import "regexp"

// grammar is how one kind of failing case looks in the output of a tool. Patterns match whole lines in the sense of regexp.MatchString.
type grammar struct {
	tool string
	// open matches the first line of a case. Its groups "name" and "where" say what and where.
	open string
	// body matches each further line of the case; the first other line is outside of it. Empty: see until; if that is empty too, the
	// case is one line.
	body string
	// until matches the first line after the case.
	until string
	// place finds the place in the lines of the case (its first group) where the first line does not name it.
	place string
	// file matches a line that names the file for the cases after it (its first group); their "where" is line:column.
	file string
	// not matches first lines that only look like a case.
	not string
	// warning matches first lines that are only a warning.
	warning string
	// noise matches lines that are left out: frames of the runtime and of the test tool in a stack trace.
	noise string
	// loose patterns also match what a program may print in passing, so the end of the output is shown as well.
	loose bool
	// weak cases count only where no other case of the tool was found: lists of names at the end of an output.
	weak bool
}

// grammars is in order of precedence: a line belongs to the first one that opens with it.
var grammars = []grammar{
	{
		tool: "go test", open: `^--- FAIL: (?P<name>\S+)`, body: `^(\s|$)`,
		place: `(\S+\.go:\d+)`,
	},
	{
		tool: "go test", open: `^(?P<name>(panic|fatal error): .+)`, until: `^(FAIL|ok|exit status|--- |=== )`,
		place: `(\S+_test\.go:\d+)`,
	},
	{tool: "go test", open: `^WARNING: (?P<name>DATA RACE)`, until: `^={10,}`, place: `(\S+\.go:\d+)`},
	{
		tool: "golangci-lint", open: `^(?P<where>\S+\.go:\d+(:\d+)?): (?P<name>.+ \([a-z][a-z0-9-]*\))$`,
		until: `^$|^\S+\.go:\d+(:\d+)?: |^\d+ issues?:`,
	},
	{tool: "go", open: `^(vet: )?(?P<where>\S+\.go:\d+(:\d+)?): (?P<name>.+)`, body: `^\t`, loose: true},

	{
		tool: "clojure.test", open: `^(FAIL|ERROR) in (?P<name>.+?) \((?P<where>[^()]+:-?\d+)\)$`,
		until: `^$|^(FAIL|ERROR) in |^Ran \d+ tests|^Testing |^\d+ (tests|failures),`,
		noise: `^\s+(at )?(clojure|java|jdk|sun|nrepl|kaocha)\.`,
	},
	{
		tool: "clojure", open: `^(?P<name>(Syntax|Execution|Unexpected) error .*?) (compiling )?at ([^(]*)\((?P<where>[^()]+)\)\.?$`,
		until: `^$|^Full report at`,
	},
	{
		tool: "clj-kondo", open: `^(?P<where>\S+\.(clj[cdsx]?|bb|edn):\d+:\d+): (?P<name>(error|warning|info): .+)$`,
		warning: `: (warning|info): `,
	},

	{
		tool: "pytest", open: `^_{3,} (?P<name>.+?) _{3,}$`, until: `^_{3,} .+ _{3,}$|^={3,} `,
		place: `^(\S+\.py:\d+): `,
	},
	{tool: "pytest", open: `^(?P<where>\S+\.py:\d+): (?P<name>\w+(Error|Exception|Failed): .+)$`}, // --tb=line
	{tool: "pytest", open: `^(FAILED|ERROR) (?P<name>\S+::.+)$`, weak: true},
	{
		tool: "unittest", open: `^(FAIL|ERROR): (?P<name>\S+ \(\S+\).*)$`, until: `^={70}$|^Ran \d+ tests? in `,
		place: `(File ".+", line \d+)`, noise: `^-{70}$`,
	},
	{tool: "ruff", open: `^(?P<where>\S+\.pyi?:\d+:\d+): (?P<name>[A-Z]+\d+ .+)$`},
	{tool: "python", open: `^(?P<name>Traceback \(most recent call last\)):`, body: `^(\s|\S+(Error|Exception|Exit|Interrupt)\b)`, place: `(File ".+", line \d+)`, loose: true},

	{
		tool: "jest", open: `^\s+● (?P<name>.+)$`, until: `^\s+● |^(PASS|FAIL) |^(Test Suites|Tests|Snapshots|Time):|^Summary of all`,
		place: `\(?((?:[\w.@-]+/)*[\w.@-]+\.[jt]sx?:\d+:\d+)\)?`, not: `● Console$`,
		noise: `^\s+at .*(node:internal|node_modules/)`,
	},
	{
		tool: "vitest", open: `^ FAIL  (?P<name>.+)$`, until: `^⎯+|^ FAIL  |^ +(Test Files|Tests) `,
		place: `❯ (\S+:\d+:\d+)`,
	},
	{tool: "tsc", open: `^(?P<where>\S+\.[mc]?[jt]sx?(\(\d+,\d+\)|:\d+:\d+))(:| -) (?P<name>error TS\d+: .+)$`},
	{
		tool: "eslint", open: `^\s+(?P<where>\d+:\d+)\s+(?P<name>(error|warning)\s+.+)$`, file: `^(\S.*\.(?:[mc]?[jt]sx?|vue|svelte|json))$`,
		warning: `^\s+\d+:\d+\s+warning`,
	},

	{
		tool: "cargo test", open: `^---- (?P<name>.+) stdout ----$`, until: `^---- .+ stdout ----$|^failures:$|^test result:`,
		place: `(\S+\.rs:\d+:\d+)`, noise: `^ +\d+: |^ +at (/rustc/|\./)|^stack backtrace:|^note: (run with|Some details)`,
	},
	{
		tool: "cargo", open: `^(?P<name>error(\[E\d+\])?: .+)`, until: `^$|^(error|warning)\b`, place: `--> (\S+:\d+:\d+)`,
		not:   `^error: (could not compile|test failed|aborting|\d+ targets? failed|process didn't exit)`,
		loose: true,
	},

	{tool: "maven", open: `^\[ERROR\] +(?P<name>(?P<where>\S+\.(java|kt|clj):\[\d+,\d+\]) .+)$`},
	{tool: "maven", open: `^\[ERROR\] +(?P<name>[\w.$]+\.[\w$]+(:\d+)?(->\S+)? .+)$`},
	{tool: "gradle", open: `^(?P<name>\S+ > .+) FAILED$`, body: `^(\s|$)`, place: `\(?(\w+\.(?:java|kt):\d+)\)?`},
	{
		tool: "javac", open: `^(?P<where>\S+\.(java|kt):\d+(:\d+)?): (?P<name>error: .+)$`,
		until: `^$|^\S+\.(java|kt):\d+|^\d+ errors?$`,
	},

	{
		tool: "TAP", open: `^\s*not ok \d+ (- )?(?P<name>.+)$`, until: `^\s*(\.\.\.$|(not )?ok \d|\d+\.\.\d+|# )`,
		place: `location: '?([^']+)`, not: `(?i)# (todo|skip)\b`, noise: `\(node:internal|\(node:async_hooks|^\s*---$`,
	},
	{
		tool: "compiler", open: `^(?P<where>[^\s:][^:]*:\d+(:\d+)?): (?P<name>(fatal error|error|warning): .+)$`, body: `^\s`,
		warning: `: warning: `, loose: true,
	},
}

// closing are the lines in which tools say how it ended.
var closing = []string{
	`^FAIL\t\S+`,                                // go test
	`^\d+ issues?:`,                             // golangci-lint
	`^\d+ failures, \d+ errors\.$`,              // clojure.test
	`^\d+ tests, \d+ assertions, `,              // kaocha
	`^linting took .*errors: \d+`,               // clj-kondo
	`^=+ .*\b\d+ (failed|errors?)\b.* =+$`,      // pytest
	`^\d+ failed\b`,                             // pytest -q
	`^Test(s| Suites): +\d+ failed`,             // jest
	`^ +Tests  ?\d+ failed`,                     // vitest
	`^Found \d+ errors?`,                        // tsc, mypy, ruff
	`^✖ \d+ problems?`,                          // eslint
	`^FAILED \((failures|errors)=\d+`,           // unittest
	`^test result: FAILED`,                      // cargo test
	`^error: could not compile`,                 // cargo
	`^\[ERROR\] Tests run: .*(Fail|Err)`,        // maven
	`^\d+ tests completed, \d+ failed`,          // gradle
	`^# fail \d+`,                               // TAP
	`^make(\[\d+\])?: \*\*\* .*(Error|Stop)`,    // make
	`^\d+ (errors?|warnings?)( and .*)?( gene)`, // clang
}

// compiled is a grammar with its patterns ready. Patterns are compiled when a check has failed, not when the program starts.
type compiled struct {
	grammar
	openRE, bodyRE, untilRE, placeRE, fileRE, notRE, warningRE, noiseRE *regexp.Regexp
}

func compileAll() (all []compiled, ends []*regexp.Regexp) {
	for _, g := range grammars {
		all = append(all, compiled{
			g, compile(g.open), compile(g.body), compile(g.until), compile(g.place),
			compile(g.file), compile(g.not), compile(g.warning), compile(g.noise),
		})
	}
	for _, pattern := range closing {
		ends = append(ends, compile(pattern))
	}
	return all, ends
}

func compile(pattern string) *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	return regexp.MustCompile(pattern)
}

func matches(re *regexp.Regexp, line string) bool { return re != nil && re.MatchString(line) }
