// Package near finds the known word that a misspelt one was meant to be.
package near

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// prefixRunes are how much of a name has to be there to tell the rest.
const prefixRunes = 5

// Nearest is the known word that s was probably meant to be, or "". A word is
// near when at most a third of its letters differ, and at least one may, or
// when s is how it starts.
func Nearest(s string, known []string) string {
	known = slices.Clone(known)
	slices.Sort(known) // of two that are equally near, always the same
	best, distance := "", 0
	for _, word := range known {
		d := levenshtein.Distance(strings.ToLower(s), strings.ToLower(word), nil)
		if d <= max(1, utf8.RuneCountInString(word)/3) && word != s && (best == "" || d < distance) {
			best, distance = word, d
		}
	}
	if best == "" && utf8.RuneCountInString(s) >= prefixRunes {
		if at := slices.IndexFunc(known, func(word string) bool { return strings.HasPrefix(word, s) && word != s }); at >= 0 {
			best = known[at]
		}
	}
	return best
}

// DidYouMean asks for the nearest of the known words, or gives other advice.
func DidYouMean(s string, known []string, otherwise string) string {
	if word := Nearest(s, known); word != "" {
		return "did you mean " + strconv.Quote(word) + "?"
	}
	return otherwise
}
