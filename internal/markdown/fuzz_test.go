package markdown

import (
	"strings"
	"testing"

	"tombolo/internal/markdown/hostile"
	"tombolo/tests/bounded"
)

// FuzzText shows any text as text: in a paragraph, a cell and a block it makes no element.
func FuzzText(f *testing.F) {
	for _, s := range hostile.Texts() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var paragraph, cell, block string
		bounded.Read(t, func() {
			paragraph = "so: " + Text(s) + " end\n"
			cell = Row("a", "b") + "|---|---|\n" + Row(Code(s), Text(s))
			block = Block("diff", "+ "+s+"\n")
		})
		for text, want := range map[string]string{
			paragraph: "p", cell: "table thead tr th th tbody tr td code td", block: "pre code",
		} {
			elements, _ := contents(shown(t, text))
			if got := strings.TrimPrefix(strings.Join(elements, " "), "html head body "); got != want {
				t.Errorf("%q becomes the elements %s, want %s", text, got, want)
			}
		}
	})
}
