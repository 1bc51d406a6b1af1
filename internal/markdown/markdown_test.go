package markdown

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	xhtml "golang.org/x/net/html"
)

// hostile are texts that somebody might give a tag, a name or an annotation.
var hostile = []string{
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</code><b>bold</b>", "<!-- tombolo:comment -->", "</details>",
	"[click](https://evil.example)", "![](https://evil.example/pixel.png)", "https://evil.example/a", "www.evil.example",
	"<https://evil.example>", "someone@evil.example", "@everyone", "@acme/admins", "fixes #12", "acme/clusters#12",
	"**bold** __too__ ~~gone~~", "`code`", "``` `", "a `b` \\` c", "a|b", "a\\|b", "a\\\\|b", "| a | b |\n|---|---|", "# title", "- [x] done",
	"1. one\n2. two", "> quoted", "&lt;b&gt; &#60;", "[ref]: https://evil.example", "a\u202edcba", "\x1b[31mred\x1b[0m", "--- \n***",
	"$x^2$ :tada:", "+ added", "= b", "=====", "2) two", "WWW.evil.example", "ftp://evil.example", "mailto:a@evil.example", "_a_b_", "\\", "a\\", "|", "`",
}

// shown renders Markdown as the hosts do: GitHub's dialect, with the HTML in it.
func shown(t *testing.T, text string) *xhtml.Node {
	t.Helper()
	var page bytes.Buffer
	err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).Convert([]byte(text), &page)
	if err != nil {
		t.Fatal(err)
	}
	root, err := xhtml.Parse(&page)
	if err != nil {
		t.Fatal(err)
	}
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
	for _, s := range hostile {
		want := OneLine(s)
		elements, text := contents(shown(t, "so: "+Text(s)+" end\n"))
		if got := strings.Join(elements, " "); got != frame+"p" {
			t.Errorf("%q has the elements %s in a paragraph", s, got)
		}
		if got := strings.ReplaceAll(strings.TrimSpace(text), "\u200b", ""); got != "so: "+want+" end" {
			t.Errorf("%q is shown as %q in a paragraph", s, got)
		}
		if found := calls.FindString(text); found != "" {
			t.Errorf("%q calls %s", s, found)
		}
		elements, text = contents(shown(t, Text(s)+"\n"))
		if got := strings.Join(elements, " "); got != frame+"p" || strings.ReplaceAll(strings.TrimSpace(text), "\u200b", "") != want {
			t.Errorf("%q is %q with the elements %s at the start of a line", s, text, got)
		}
		elements, text = contents(shown(t, "so: "+Code(s)+" end\n"))
		if got := strings.Join(elements, " "); got != frame+"p code" || strings.TrimSpace(text) != "so: "+want+" end" {
			t.Errorf("%q is %q with the elements %s in code", s, text, got)
		}
		elements, text = contents(shown(t, Row("a", "b", "c")+"|---|---|---|\n"+Row(Code(s), Text(s), "last")))
		if got := strings.Join(elements, " "); got != frame+"table thead tr th th th tbody tr td code td td" {
			t.Errorf("%q has the elements %s in a table", s, got)
		}
		if !strings.Contains(text, want) || !strings.Contains(text, "last") {
			t.Errorf("%q is shown as %q in a table", s, text)
		}
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
	if got := Code(" \n"); got != "" {
		t.Errorf("nothing is %q", got)
	}
}
