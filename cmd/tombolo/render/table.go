package render

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/lipgloss/table"
)

// TableOptions say how a table is written.
type TableOptions struct {
	// Style of the text.
	Style Style
	// Width of the terminal in cells; lines are cut to it. 0 is no limit.
	Width int
}

// columnGap is the space between columns, in cells.
const columnGap = 3

// leastColumn is what a column keeps when the table is too wide, in cells.
const leastColumn = 16

// Table writes rows under a header, in aligned columns. Cells are cut at
// their first line end. In a table that is wider than the terminal the widest
// column gives way, so that the others can be read. An empty table writes
// nothing: the caller says why.
func Table(w io.Writer, o TableOptions, header []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	t := table.New().Wrap(false).Border(lipgloss.HiddenBorder()).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderColumn(false).BorderHeader(false).
		StyleFunc(func(_, col int) lipgloss.Style {
			if col == len(header)-1 {
				return lipgloss.NewStyle()
			}
			return lipgloss.NewStyle().PaddingRight(columnGap)
		}).
		Headers(header...)
	for _, row := range narrowed(o, header, rows) {
		t.Row(row...)
	}
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(t.String(), "\n"), "\n") {
		b.WriteString(o.Style.fit(strings.TrimRight(line, " "), o.Width) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// narrowed are the rows with their widest column cut as far as it must be.
func narrowed(o TableOptions, header []string, rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		out[i] = firstLines(o.Style, row)
	}
	widest, total := 0, columnGap*(len(header)-1)
	widths := make([]int, len(header))
	for col := range header {
		widths[col] = lipgloss.Width(header[col])
		for _, row := range out {
			if col < len(row) {
				widths[col] = max(widths[col], lipgloss.Width(row[col]))
			}
		}
		total += widths[col]
		if widths[col] > widths[widest] {
			widest = col
		}
	}
	if o.Width == 0 || total <= o.Width {
		return out
	}
	room := max(widths[widest]-(total-o.Width), leastColumn)
	for _, row := range out {
		if widest < len(row) {
			row[widest] = o.Style.fit(row[widest], room)
		}
	}
	return out
}

func firstLines(style Style, row []string) []string {
	cut := make([]string, len(row))
	for i, cell := range row {
		first, _, _ := strings.Cut(cell, "\n")
		cut[i] = style.clean(strings.TrimSuffix(first, "\r"))
	}
	return cut
}
