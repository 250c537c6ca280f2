package edit

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/session"
)

// balanceCommand is `brepl balance`.
func balanceCommand() cli.Command {
	var b balance
	return cli.Command{
		Name:  "balance",
		Usage: "[--dry-run | --diff | --check] [--json] FILE… | -",
		Short: "Repair the brackets of Clojure files, or refuse",
		Long: "Repairs unbalanced delimiters where the damage is; every other byte stays. With - it reads stdin and writes the text to stdout.\n" +
			"A file that cannot be repaired without guessing is left as it is: the reason is on stderr, and the exit code is 1.\n" +
			"Files that :validate {:exclude […]} in .brepl/hooks.edn names are left alone.",
		Mixed: true, // brepl 2.x has FILE --dry-run
		Options: func(flags *flag.FlagSet) {
			flags.BoolVar(&b.dryRun, "dry-run", false, "write the text to stdout, change no file")
			flags.BoolVar(&b.diff, "diff", false, "show what would change, change no file")
			flags.BoolVar(&b.check, "check", false, "exit with 1 if something would change, change no file")
			flags.BoolVar(&b.json, "json", false, "report as JSON, an object to a line for each file")
		},
		Run: func(_ context.Context, p *cli.Program, args []string) int {
			b.program = p
			if err := b.wrong(args); err != nil {
				return p.UsageError(err)
			}
			code := 0
			for _, name := range args {
				if err := b.file(name); err != nil {
					if !errors.Is(err, errWouldChange) {
						_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", p.Path(), err)
					}
					code = 1
				}
			}
			return code
		},
	}
}

// balance is one call of `brepl balance`.
type balance struct {
	program                   *cli.Program
	dryRun, diff, check, json bool
}

// errWouldChange ends --check with 1; the change is on stdout.
var errWouldChange = errors.New("would change")

func (b *balance) wrong(args []string) error {
	one := 0
	for _, set := range []bool{b.dryRun, b.diff, b.check} {
		if set {
			one++
		}
	}
	switch {
	case one > 1:
		return errors.New("--dry-run, --diff and --check exclude each other")
	case len(args) == 0:
		return errors.New("no file given; - is stdin")
	}
	for _, name := range args {
		if name == "-" && len(args) > 1 {
			return errors.New("- stands alone")
		}
	}
	return nil
}

// file repairs one file, or stdin.
func (b *balance) file(name string) error {
	path, disk, err := b.read(name)
	if err != nil {
		b.report(name, clj.RepairResult{}, err)
		return err
	}
	src := []byte(disk.text)
	repair := clj.Repair(src, clj.RepairOptions{})
	if (repair.Refused != "" || len(repair.Edits) > 0) && path != "" && excluded(b.program, nil, path) {
		repair = clj.RepairResult{Text: src, Confidence: clj.Sure}
	}
	if repair.Refused != "" {
		b.report(name, repair, nil)
		return fmt.Errorf("%s was not repaired: %s\n%s", shown("", name), repair.Refused, placesOf(repair, clj.CheckDelimiters("", src)))
	}
	err = b.apply(name, path, disk, repair)
	b.report(name, repair, err)
	return err
}

// apply does with a repair what the flags ask for. For --json what is said to people is left out.
func (b *balance) apply(name, path string, disk onDisk, repair clj.RepairResult) (err error) {
	changes := len(repair.Edits) > 0
	switch {
	case b.diff:
		if changes && !b.json {
			_, err = b.program.Stdout.Write(diff.Diff(name, []byte(disk.text), name+" (repaired)", repair.Text))
		}
		return err
	case b.check:
		if !changes {
			return nil
		}
		b.say(name+" would change", disk.text, repair)
		return errWouldChange
	case b.dryRun || path == "":
		if !b.json {
			_, err = b.program.Stdout.Write(repair.Text)
		} else if !utf8.Valid(repair.Text) {
			err = fmt.Errorf("the text of %s is not UTF-8, which JSON cannot hold; leave out --json", shown("", name))
		}
		return err
	case !changes:
		return nil
	}
	if err := b.replace(path, disk, repair.Text); err != nil {
		return fmt.Errorf("%s was not repaired: %w", shown("", name), err)
	}
	b.say(name, disk.text, repair)
	return nil
}

// read gives the text of a file; the path is "" for stdin.
func (b *balance) read(name string) (path string, disk onDisk, err error) {
	if name == "-" {
		disk.text, err = readText(b.program.Stdin)
		return "", disk, err
	}
	path = absolute(b.program.Dir, name)
	disk, err = load(path)
	if err == nil && !disk.exists {
		err = fmt.Errorf("there is no file %s", shown("", name))
	}
	return path, disk, err
}

// replace writes the repaired text, after a backup, unless the file has changed since it was read.
func (b *balance) replace(path string, disk onDisk, text []byte) error {
	s, err := openStore(b.program, ownSession(b.program))
	if err == nil {
		_, err = s.save(path, []byte(disk.text), disk.mode)
	}
	if err != nil {
		return fmt.Errorf("no backup can be made: %w", err)
	}
	return session.WriteFile(path, text, session.WriteOptions{Sync: true, Expect: []byte(disk.text)})
}

// say tells people what was done to a file, or would be.
func (b *balance) say(file, src string, repair clj.RepairResult) {
	if !b.json {
		_, _ = fmt.Fprintf(b.program.Stdout, "%s: %s\n", shown("", file), changesOf(src, repair.Edits))
	}
}

// balanceReport is a line of --json. Lines and columns count from 1, columns in UTF-16 units.
type balanceReport struct {
	File       string         `json:"file"`
	Changed    bool           `json:"changed"`
	Confidence string         `json:"confidence,omitempty"`
	Edits      []balanceEdit  `json:"edits,omitempty"`
	Refused    string         `json:"refused,omitempty"`
	Places     []balancePlace `json:"places,omitempty"`
	Error      string         `json:"error,omitempty"` // the file could not be read or written
	Text       *string        `json:"text,omitempty"`  // of - and --dry-run
}

type balanceEdit struct {
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Removed  string `json:"removed"`
	Inserted string `json:"inserted"`
}

type balancePlace struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text"`
}

// report writes the line of --json. err is what came of it.
func (b *balance) report(name string, repair clj.RepairResult, err error) {
	if !b.json {
		return
	}
	if errors.Is(err, errWouldChange) {
		err = nil
	}
	r := balanceReport{File: name, Changed: len(repair.Edits) > 0 && err == nil, Refused: repair.Refused}
	if err != nil {
		r.Error = err.Error()
	}
	if len(repair.Edits) > 0 {
		r.Confidence = repair.Confidence.String()
	}
	for _, one := range repair.Edits {
		r.Edits = append(r.Edits, balanceEdit{one.Pos.Line, one.Pos.Column, one.Removed, one.Inserted})
	}
	for _, one := range repair.Places {
		r.Places = append(r.Places, balancePlace{one.Pos.Line, one.Pos.Column, one.Text})
	}
	if repair.Refused == "" && err == nil && (b.dryRun || name == "-") {
		text := string(repair.Text)
		r.Text = &text
	}
	encoder := json.NewEncoder(b.program.Stdout)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(r) // a closed stdout: there is nobody to tell
}
