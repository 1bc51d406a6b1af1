package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// The lines of a page between which the table is.
const (
	tableBegins = "<!-- The table is written by make fresh. -->\n"
	tableEnds   = "<!-- The table ends. -->\n"
)

// writeTable puts what each step took into a page, in place of the table that is there.
func writeTable(page, id string, taken []taking) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("writing the table of times: %w", err)
	}
	before, rest, begins := strings.Cut(string(text), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return fmt.Errorf("writing the table of times: %s has no lines %q and %q around it", page, strings.TrimSpace(tableBegins), strings.TrimSpace(tableEnds))
	}
	text = []byte(before + tableBegins + markdown(id, taken) + tableEnds + after)
	if err := os.WriteFile(page, text, 0o644); err != nil {
		return fmt.Errorf("writing the table of times: %w", err)
	}
	return nil
}

// markdown is the table.
func markdown(id string, taken []taking) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\nCommit %.8s, %s, %d processors, nothing cached before the first step:\n\n", id, runtime.Version(), runtime.NumCPU())
	out.WriteString("| step | time | CPU |\n|---|---|---|\n")
	for _, t := range taken {
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", t.name, spoken(t.wall), spoken(t.cpu))
	}
	out.WriteString("\n")
	return out.String()
}

// spoken is a duration in minutes and seconds.
func spoken(d time.Duration) string {
	d = d.Round(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}
