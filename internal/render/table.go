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

// Table writes rows under a header, in aligned columns. Cells are cut at
// their first line end. An empty table writes nothing: the caller says why.
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
			return lipgloss.NewStyle().PaddingRight(3)
		}).
		Headers(header...)
	for _, row := range rows {
		t.Row(firstLines(row)...)
	}
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(t.String(), "\n"), "\n") {
		b.WriteString(o.Style.fit(strings.TrimRight(line, " "), o.Width) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func firstLines(row []string) []string {
	cut := make([]string, len(row))
	for i, cell := range row {
		cut[i], _, _ = strings.Cut(cell, "\n")
	}
	return cut
}
