package cli

import (
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
)

// help writes what --help shows.
func (p *Program) help(w io.Writer, c *Command, path string) {
	var b strings.Builder
	text := c.Long
	if text == "" {
		text = c.Short
	}
	if text != "" {
		b.WriteString(strings.TrimSpace(text) + "\n\n")
	}
	usage := c.Usage
	if usage == "" && len(c.Sub) > 0 {
		usage = "COMMAND"
	}
	b.WriteString(strings.TrimSpace("Usage: "+path+" "+usage) + "\n")
	if len(c.Sub) > 0 {
		b.WriteString("\nCommands:\n")
		var rows [][2]string
		for i := range c.Sub {
			rows = append(rows, [2]string{c.Sub[i].Name, c.Sub[i].Short})
		}
		writeRows(&b, rows)
		_, _ = fmt.Fprintf(&b, "\nRun '%s COMMAND --help' for one of them.\n", path)
	}
	if c.Options != nil {
		flags := p.Flags(c)
		c.Options(flags)
		b.WriteString("\nFlags:\n")
		writeRows(&b, flagRows(flags))
	}
	_, _ = io.WriteString(w, b.String())
}

func flagRows(flags *flag.FlagSet) [][2]string {
	var rows [][2]string
	flags.VisitAll(func(f *flag.Flag) {
		argument, usage := flag.UnquoteUsage(f)
		name := strings.TrimSpace("--" + f.Name + " " + argument)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		rows = append(rows, [2]string{name, usage})
	})
	return rows
}

func writeRows(b *strings.Builder, rows [][2]string) {
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	for _, row := range rows {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s  %s", width, row[0], row[1]), " ") + "\n")
	}
}

// version is the given version, or what the build knows: the module's version, else the commit.
func (p *Program) version() string {
	if p.Version != "" {
		return p.Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return buildVersion(info)
}

func buildVersion(info *debug.BuildInfo) string {
	setting := func(key string) string {
		for _, s := range info.Settings {
			if s.Key == key {
				return s.Value
			}
		}
		return ""
	}
	version := info.Main.Version
	if revision := setting("vcs.revision"); version == "" || version == "(devel)" {
		version = "devel"
		if revision != "" {
			version += " " + revision[:min(len(revision), 12)]
		}
		if setting("vcs.modified") == "true" {
			version += " (modified)"
		}
	}
	return fmt.Sprintf("%s (%s)", version, info.GoVersion)
}

// nearest returns the name that is most like the typed one, or "" if none is near: at most a third of its letters differ, at least
// one may.
func nearest(typed string, names []string) string {
	best, found := max(1, len(typed)/3)+1, ""
	for _, name := range names {
		if d := distance(typed, name); d < best {
			best, found = d, name
		}
	}
	return found
}

// distance counts the letters to insert, delete, replace or swap with their neighbour to make b of a.
func distance(a, b string) int {
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
