// Package hostile has texts that somebody might give a tag, a name or an annotation, so
// that they become markup where people read them, and what tests look for there.
package hostile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	xhtml "golang.org/x/net/html"
)

// Texts are the texts.
func Texts() []string {
	return []string{
		"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</code><b>bold</b>", "<!-- tombolo:comment -->", "</details>",
		"[click](https://evil.example)", "![](https://evil.example/pixel.png)", "https://evil.example/a", "www.evil.example",
		"<https://evil.example>", "someone@evil.example", "@everyone", "@acme/admins", "fixes #12", "acme/clusters#12",
		"**bold** __too__ ~~gone~~", "`code`", "``` `", "a `b` \\` c", "a|b", "a\\|b", "a\\\\|b", "| a | b |\n|---|---|", "# title", "- [x] done",
		"1. one\n2. two", "> quoted", "&lt;b&gt; &#60;", "[ref]: https://evil.example", "a\u202edcba", "\x1b[31mred\x1b[0m", "--- \n***",
		"$x^2$ :tada:", "+ added", "= b", "=====", "2) two", "WWW.evil.example", "ftp://evil.example", "mailto:a@evil.example", "_a_b_", "\\", "a\\", "|", "`",
	}
}

// Shown renders Markdown as the hosts do: GitHub's dialect, with the HTML in it.
func Shown(text string) (*xhtml.Node, error) {
	var page bytes.Buffer
	err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).Convert([]byte(text), &page)
	if err != nil {
		return nil, err
	}
	return xhtml.Parse(&page)
}

// Markup lists what a page is made of, sorted and each once: its elements, their
// attributes' names, and where links and pictures lead. Text that is only text adds
// nothing to it.
func Markup(page *xhtml.Node) []string {
	var all []string
	for n := range page.Descendants() {
		switch n.Type {
		case xhtml.CommentNode:
			all = append(all, "comment")
		case xhtml.ElementNode:
			all = append(all, n.Data)
			for _, a := range n.Attr {
				all = append(all, n.Data+" "+a.Key)
				if a.Key == "href" || a.Key == "src" || strings.HasPrefix(a.Key, "on") {
					all = append(all, fmt.Sprintf("%s %s=%s", n.Data, a.Key, a.Val))
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
