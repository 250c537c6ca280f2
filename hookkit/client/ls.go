package client

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/text"
)

// lsCommand is `brepl ls`.
func lsCommand() cli.Command {
	var (
		asJSON bool
		file   string
		o      options
	)
	return cli.Command{
		Name:  "ls",
		Usage: "[--json] [-f FILE] [--path-map LOCAL=REMOTE]",
		Short: "Show the REPLs that run, and which one brepl takes here",
		Long: `Shows every nREPL server that you run on this machine or that a port file or BREPL_PORT names here: address, process,
kind, versions, directory, and why brepl takes it or not. The one it takes has a *. Exit code 0, also where there is none.`,
		BadUsage: exitUsage,
		Options: func(flags *flag.FlagSet) {
			flags.BoolVar(&asJSON, "json", false, "print one JSON object")
			flags.StringVar(&file, "f", "", "which one is taken for `FILE`")
			o.pathMaps = nil
			o.declarePathMap(flags)
		},
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			if len(args) > 0 {
				return p.UsageError(fmt.Errorf("unexpected argument %q", args[0]))
			}
			paths, err := o.paths(p)
			if err != nil {
				return p.UsageError(err)
			}
			l := nrepl.Lookup{Dir: p.Dir, File: file, PathMap: paths, Getenv: p.Getenv}
			servers, notes := nrepl.Servers(ctx, l)
			show := lsTable
			if asJSON {
				show = lsJSON
			}
			if err := show(p, servers, notes); errors.Is(err, syscall.EPIPE) {
				return exitClosed
			} else if err != nil {
				_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", p.Path(), err)
				return exitFailed
			}
			return 0
		},
	}
}

// lsServer is a server in the output of --json.
type lsServer struct {
	Address   string            `json:"address"`             // host:port or nrepl+unix:PATH
	Port      int               `json:"port,omitempty"`      // none with a unix-domain socket
	PID       int               `json:"pid,omitempty"`       // not known: a server on another machine
	Directory string            `json:"directory,omitempty"` // not known: as above, or the server does not tell
	Kind      string            `json:"kind"`
	Versions  map[string]string `json:"versions"`
	Source    string            `json:"source"` // ".nrepl-port", a port file's path, "BREPL_PORT" or "discovery"
	Chosen    bool              `json:"chosen"`
	Why       string            `json:"why"`
}

func lsJSON(p *cli.Program, servers []*nrepl.Server, notes []string) error {
	out := struct {
		Servers []lsServer `json:"servers"`
		Notes   []string   `json:"notes"` // what is wrong with the places that were looked at
	}{make([]lsServer, 0, len(servers)), append([]string{}, notes...)}
	for _, s := range servers {
		out.Servers = append(out.Servers, lsServer{
			s.Address(), s.Port, s.PID, s.Dir, s.Kind, s.Versions, s.Source, s.Chosen, s.Why,
		})
	}
	line, err := json.Marshal(out)
	if err == nil {
		_, err = p.Stdout.Write(append(line, '\n'))
	}
	return err
}

func lsTable(p *cli.Program, servers []*nrepl.Server, notes []string) error {
	style := p.Color(p.Stdout)
	var b strings.Builder
	if len(servers) == 0 {
		b.WriteString("No nREPL server of yours runs on this machine.\n")
	} else {
		rows := [][]string{{"", "ADDRESS", "PID", "KIND", "VERSIONS", "DIRECTORY", "WHY"}}
		for _, s := range servers {
			mark := ""
			if s.Chosen {
				mark = "*"
			}
			rows = append(rows, []string{mark, s.Address(), number(s.PID), s.Kind, versions(s), tilde(s.Dir, p.Getenv("HOME")), s.Why})
		}
		for i, line := range columns(rows) {
			switch {
			case i == 0:
				line = style.Dim(line)
			case servers[i-1].Chosen:
				line = style.Green(line)
			}
			b.WriteString(line + "\n")
		}
	}
	for _, note := range notes {
		b.WriteString(style.Yellow(text.Escaped(note, "")) + "\n")
	}
	_, err := io.WriteString(p.Stdout, b.String())
	return err
}

// columns makes lines of rows. What servers say of themselves cannot steer the terminal.
func columns(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i := range row {
			if row[i] = text.Escaped(row[i], ""); i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	var lines []string
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// versions has those that are known, by name.
func versions(s *nrepl.Server) string {
	var known []string
	for _, name := range slices.Sorted(maps.Keys(s.Versions)) {
		if version := s.Versions[name]; version != "" {
			known = append(known, name+" "+version)
		}
	}
	return orDash(strings.Join(known, ", "))
}

func number(pid int) string {
	if pid == 0 {
		return "-"
	}
	return strconv.Itoa(pid)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// tilde shortens a folder in the user's home.
func tilde(dir, home string) string {
	if rest, ok := strings.CutPrefix(dir, home); ok && len(home) > 1 && (rest == "" || rest[0] == filepath.Separator) {
		return "~" + rest
	}
	return orDash(dir)
}
