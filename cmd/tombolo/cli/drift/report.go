package drift

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"tombolo/automation/drift"
	"tombolo/internal/markdown"
)

// maxListed is how many differences of a cluster a report lists; the others are
// counted, so that the report stays below the size that hosts of issues take.
const maxListed = 50

// saveReport writes what differs in Markdown, for an issue: nothing when nothing
// does. The same differences give the same bytes.
func saveReport(file string, reports map[string]drift.Report, left map[string]string) error {
	if err := os.WriteFile(file, []byte(written(reports, left)), 0o644); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func written(reports map[string]drift.Report, left map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(reports)) {
		r := reports[name]
		if r.Error != "" {
			fmt.Fprintf(&b, "## %s\n\nIt was not compared: %s\n\n", name, markdown.Text(cut(r.Error)))
			continue
		}
		if !r.Drifted() {
			continue
		}
		fmt.Fprintf(&b, "## %s\n\n| found | stack | resource | name | difference |\n|---|---|---|---|---|\n", name)
		for i, d := range r.Differences {
			if i == maxListed {
				break
			}
			for _, line := range lines(d) {
				cells := make([]string, len(line))
				for at, text := range line {
					cells[at] = markdown.Code(cut(text))
				}
				cells[0] = line[0] // our own word
				b.WriteString(markdown.Row(cells...))
			}
		}
		if more := len(r.Differences) - maxListed; more > 0 {
			fmt.Fprintf(&b, "\nand %d more: `tombolo drift %s` lists them\n", more, name)
		}
		if why := left[name]; why != "" {
			fmt.Fprintf(&b, "\nIt is left to people: %s\n", markdown.Text(cut(why)))
		}
		fmt.Fprintf(&b, "\nPut back what is missing or changed with `tombolo up %s --refresh`.\n\n", name)
	}
	return b.String()
}

// maxCell is the longest text of a cell, in characters.
const maxCell = 200

// cut is a text of at most maxCell characters.
func cut(text string) string {
	if runes := []rune(text); len(runes) > maxCell {
		text = string(runes[:maxCell]) + "…"
	}
	return text
}
