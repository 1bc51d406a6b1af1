package markdown

import (
	"regexp"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/internal/markdown/hostile"
	"tombolo/tests/bounded"
)

func shown(t *testing.T, text string) *xhtml.Node {
	t.Helper()
	root, err := hostile.Shown(text)
	assert.NilError(t, err)
	return root
}

// contents are the elements below a node, and its text.
func contents(n *xhtml.Node) (elements []string, text string) {
	for child := range n.Descendants() {
		switch child.Type {
		case xhtml.ElementNode:
			elements = append(elements, child.Data)
		case xhtml.CommentNode:
			elements = append(elements, "comment")
		case xhtml.TextNode:
			text += child.Data
		}
	}
	return elements, text
}

// calls finds people and issues as hosts do in what is shown.
var calls = regexp.MustCompile(`@[A-Za-z]|#[0-9]`)

// TestHostileText stands in a paragraph, a cell and a block as it is, and is nothing
// but text there.
func TestHostileText(t *testing.T) {
	const frame = "html head body "
	for _, s := range hostile.Texts() {
		want := OneLine(s)
		elements, text := contents(shown(t, "so: "+Text(s)+" end\n"))
		assert.Check(t, is.Equal(strings.Join(elements, " "), frame+"p"), s)
		assert.Check(t, is.Equal(strings.ReplaceAll(strings.TrimSpace(text), "\u200b", ""), "so: "+want+" end"), s)
		assert.Check(t, is.Equal(calls.FindString(text), ""), s)
		elements, text = contents(shown(t, Text(s)+"\n"))
		if got := strings.Join(elements, " "); got != frame+"p" || strings.ReplaceAll(strings.TrimSpace(text), "\u200b", "") != want {
			t.Errorf("%q is %q with the elements %s at the start of a line", s, text, got)
		}
		elements, text = contents(shown(t, "so: "+Code(s)+" end\n"))
		if got := strings.Join(elements, " "); got != frame+"p code" || strings.TrimSpace(text) != "so: "+want+" end" {
			t.Errorf("%q is %q with the elements %s in code", s, text, got)
		}
		elements, text = contents(shown(t, Row("a", "b", "c")+"|---|---|---|\n"+Row(Code(s), Text(s), "last")))
		assert.Check(t, is.Equal(strings.Join(elements, " "), frame+"table thead tr th th th tbody tr td code td td"), s)
		assert.Check(t, strings.Contains(text, want) && strings.Contains(text, "last"), "%q is shown as %q in a table", s, text)
		elements, text = contents(shown(t, Block("diff", "+ "+s+"\n")))
		if got := strings.Join(elements, " "); got != frame+"pre code" || !strings.Contains(text, strings.Map(visible, s)) {
			t.Errorf("%q is %q with the elements %s in a block", s, text, got)
		}
	}
}

func TestPlainTextStaysReadable(t *testing.T) {
	if got, want := Code("vpc-0123"), "`vpc-0123`"; got != want {
		t.Errorf("code is %s, want %s", got, want)
	}
	if got, want := Text("team a, since 5/2"), "team a, since 5/2"; got != want {
		t.Errorf("text is %s, want %s", got, want)
	}
	assert.Check(t, is.Equal(Code(" \n"), ""))
}

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
			assert.Check(t, is.Equal(strings.TrimPrefix(strings.Join(elements, " "), "html head body "), want), text)
		}
	})
}
