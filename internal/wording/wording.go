// Package wording puts the small parts of messages together: a number with its
// noun, alternatives, a quoted value, and the known word that a misspelt one was meant to be.
package wording

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Count is "1 zone" or "2 zones": a number and its noun, whose plural ends in
// -s.
func Count(n int, noun string) string { return Plural(n, noun, noun+"s") }

// Plural is Count for a noun with another plural, or for one with its verb: "1
// policy", "2 objects are".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Or is "a", "a or b", or "a, b or c".
func Or(words []string) string { return list(words, " or ") }

// And is "a", "a and b", or "a, b and c".
func And(words []string) string { return list(words, " and ") }

func list(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + conjunction + words[last]
}

// quotedRunes is how much of a value a message repeats.
const quotedRunes = 80

// Quote is s in quotes, on one line and never long.
func Quote(s string) string {
	n := utf8.RuneCountInString(s)
	if n <= quotedRunes {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%s (%d characters)", strconv.Quote(string([]rune(s)[:quotedRunes-1])+"…"), n)
}
