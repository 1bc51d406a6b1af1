package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"tombolo/internal/file"
)

// entry is a test of the lab. tests.txt has a line for each.
type entry struct {
	Package, Test, Tier string
	// CPU and Short are the seconds of CPU that all of it takes, and its part in the short tier.
	// Wall are the seconds that it takes beside three others on two processors.
	CPU, Short, Wall int
	// Paths are how the paths of files begin whose change touches the test.
	Paths []string
}

// The tiers.
const (
	short = "short"
	part  = "part"
	long  = "long"
)

const head = `# The tests of the lab: tier, seconds of CPU in all and in the short tier, seconds of the clock
# beside three others, and how the paths begin whose change has CI run the test. The times are
# written by go run ./tools/choose.
`

// read reads the list.
func read(path string) ([]entry, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the list of tests: %w; run this in the checkout's root", err)
	}
	var entries []entry
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var e entry
		var paths string
		if _, err := fmt.Sscan(line, &e.Package, &e.Test, &e.Tier, &e.CPU, &e.Short, &e.Wall, &paths); err != nil {
			return nil, fmt.Errorf("reading the list of tests: %q: %w", line, err)
		}
		if paths != "-" {
			e.Paths = strings.Split(paths, ",")
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// write writes the list, in order.
func write(path string, entries []entry) error {
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.Package+" "+a.Test, b.Package+" "+b.Test) })
	out := bytes.NewBufferString(head)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		paths := strings.Join(e.Paths, ",")
		if paths == "" {
			paths = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%s\n", e.Package, e.Test, e.Tier, e.CPU, e.Short, e.Wall, paths)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Replace(path, out.Bytes(), 0o644)
}

// rest are the tests of which `make test` leaves something out.
func rest(entries []entry) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.Tier == short })
}
