package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// source is a Clojure file that can be read, or one form of it.
type source struct {
	name  string
	text  string
	nodes []*clj.Node // top-level forms
}

// sources reads the Clojure files in jars. Each text counts once, however many jars have it. half is "a", "b" or "all": which files
// are taken is decided by their names alone, so that a set stays the same when others are added.
func sources(globs []string, half string) ([]source, error) {
	seen := map[string]bool{}
	var all []source
	for _, glob := range globs {
		jars, err := filepath.Glob(glob)
		if err != nil {
			return nil, fmt.Errorf("jars %q: %w", glob, err)
		}
		for _, jar := range jars {
			if err := readJar(jar, half, seen, &all); err != nil {
				return nil, fmt.Errorf("%s: %w", jar, err)
			}
		}
	}
	slices.SortFunc(all, func(a, b source) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

func readJar(jar, half string, seen map[string]bool, all *[]source) error {
	archive, err := zip.OpenReader(jar)
	if err != nil {
		return err
	}
	defer archive.Close()
	for _, file := range archive.File {
		switch filepath.Ext(file.Name) {
		case ".clj", ".cljc", ".cljs":
		default:
			continue
		}
		h := fnv.New32a()
		_, _ = io.WriteString(h, file.Name) // never fails
		if half == "a" && h.Sum32()>>8%2 != 0 || half == "b" && h.Sum32()>>8%2 == 0 {
			continue
		}
		r, err := file.Open()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
		if seen[string(data)] {
			continue
		}
		seen[string(data)] = true
		nodes, errs := clj.ReadAll(file.Name, data, clj.Options{Dialect: clj.Clojure})
		if len(errs) > 0 || len(bytes.TrimSpace(data)) == 0 || len(nodes) == 0 {
			continue
		}
		*all = append(*all, source{name: file.Name, text: string(data), nodes: nodes})
	}
	return nil
}
