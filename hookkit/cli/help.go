package cli

import (
	"flag"
	"fmt"
	"io"
	"reflect"
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
	usage := "Usage: "
	if c.Run != nil || c.Usage != "" {
		b.WriteString(strings.TrimSpace(usage+path+" "+c.Usage) + "\n")
		usage = strings.Repeat(" ", len(usage))
	}
	if len(c.Sub) > 0 && (c.Run != nil || c.Usage == "") {
		b.WriteString(usage + path + " COMMAND\n")
	}
	if len(c.Sub) > 0 {
		b.WriteString("\nCommands:\n")
		var rows [][2]string
		for i := range c.Sub {
			rows = append(rows, [2]string{c.Sub[i].Name, c.Sub[i].Short})
		}
		writeRows(&b, rows)
		_, _ = fmt.Fprintf(&b, "\nRun '%s COMMAND --help' for one of them.\n", path)
	}
	var rows [][2]string
	if c.Options != nil {
		flags := p.Flags(c)
		c.Options(flags)
		rows = flagRows(flags)
	}
	if path == p.Name {
		rows = append(rows, [2]string{"--version", "print the version"})
	}
	if c.Options != nil || len(rows) > 0 {
		b.WriteString("\nFlags:\n")
		writeRows(&b, rows)
	}
	_, _ = io.WriteString(w, b.String())
}

// dashed is a flag as it is typed.
func dashed(f *flag.Flag) string {
	if len(f.Name) == 1 {
		return "-" + f.Name
	}
	return "--" + f.Name
}

// flagRows are the flags that have a text, each with its alias: a flag without a text that sets the same value.
func flagRows(flags *flag.FlagSet) [][2]string {
	aliases := map[flag.Value]string{}
	flags.VisitAll(func(f *flag.Flag) {
		if f.Usage == "" && reflect.TypeOf(f.Value).Comparable() {
			aliases[f.Value] += ", " + dashed(f)
		}
	})
	var rows [][2]string
	flags.VisitAll(func(f *flag.Flag) {
		if f.Usage == "" {
			return
		}
		argument, usage := flag.UnquoteUsage(f)
		alias := ""
		if reflect.TypeOf(f.Value).Comparable() {
			alias = aliases[f.Value]
		}
		name := strings.TrimSpace(dashed(f) + alias + " " + argument)
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
