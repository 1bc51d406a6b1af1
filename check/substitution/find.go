package substitution

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Variable looks for the uses of a variable in a text: the byte offsets of its
// ${. escaped takes those for uses that a $ before them escapes.
func Variable(variable string, escaped bool) func(text string) []int {
	opening := regexp.MustCompile(`\$\{#?` + regexp.QuoteMeta(variable))
	return func(text string) []int {
		var out []int
		for _, at := range opening.FindAllStringIndex(text, -1) {
			next, _ := utf8.DecodeRuneInString(text[at[1]:])
			if !isName(next) && (escaped || !isEscaped(text, at[0])) {
				out = append(out, at[0])
			}
		}
		return out
	}
}

// Malformed looks for ${…} that is no variable: the byte offsets in a text.
func Malformed(text string) []int {
	var out []int
	for from := 0; ; {
		at := strings.Index(text[from:], "${")
		if at < 0 {
			return out
		}
		at += from
		from = at + 2
		piece := text[at:]
		if end := strings.IndexAny(piece, "}\n"); end >= 0 {
			piece = strings.TrimSuffix(piece[:end+1], "\n")
		}
		// What is nested has more } than the piece; it is not looked into.
		if _, err := Uses(piece); err != nil && !isEscaped(text, at) && strings.Count(piece, "${") == 1 {
			out = append(out, at)
		}
	}
}

// isName says whether a rune can continue a variable's name.
func isName(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// isEscaped says whether the $ at an offset belongs to the $$ before it.
func isEscaped(text string, at int) bool {
	before := len(text[:at]) - len(strings.TrimRight(text[:at], "$"))
	return before%2 == 1
}
