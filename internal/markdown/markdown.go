// Package markdown writes texts of others into Markdown, so that nothing in them is
// markup, links anywhere or calls anybody: names, tags and values of a cluster, of a
// cloud or of a pull request.
package markdown

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Code is a text on one line in a code span, also in a cell of a table.
func Code(s string) string {
	s = OneLine(s)
	switch {
	case s == "":
		return ""
	case strings.ContainsAny(s, "`|\\"):
		// A cell would end at a bar, and a backslash before it is one of the text's.
		return "<code>" + inert(s) + "</code>"
	}
	return "`" + s + "`"
}

// Text is a text on one line outside of code.
func Text(s string) string {
	s = begun.ReplaceAllStringFunc(inert(OneLine(s)), reference)
	// What the hosts look for after the Markdown is read: people and issues.
	s = strings.NewReplacer("&#64;", "@&#8203;", "&#35;", "#&#8203;").Replace(s)
	return linked.ReplaceAllStringFunc(s, reference)
}

var (
	// begun is what begins a list or a line below a title.
	begun = regexp.MustCompile(`^([-+=]|[0-9]+[.])`)
	// linked is what is a link, or a picture, without being marked as one.
	linked = regexp.MustCompile(`(?i)\bwww\.|:[^ ]`)
)

// reference writes the signs of a text as references to characters, which never are
// markup. Letters and digits stay.
func reference(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < unicode.MaxASCII && (unicode.IsPunct(r) || unicode.IsSymbol(r)) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// markup are the signs that can begin something wherever they stand.
var markup = regexp.MustCompile("[!#$&()*<>@\\[\\\\\\]_`{|}~]")

func inert(s string) string { return markup.ReplaceAllStringFunc(s, reference) }

// Block is a block of code in a language, which nothing in the body ends. The body
// ends with a line's end.
func Block(language, body string) string {
	fence := strings.Repeat("`", max(3, ticks(body)+1))
	return fence + language + "\n" + strings.Map(visible, body) + fence + "\n"
}

// ticks is the longest run of backticks, which a fence has to be longer than.
func ticks(s string) int {
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// Row is a line of a table. The cells are Markdown, such as of Code and Text.
func Row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// OneLine is a text on one line, in the order in which it is written.
func OneLine(s string) string {
	return strings.Map(visible, strings.Join(strings.Fields(s), " "))
}

// visible drops what cannot be seen, and what makes a text look like another one:
// control characters but for line ends, and those that turn the writing around.
func visible(r rune) rune {
	if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
		return -1
	}
	return r
}
