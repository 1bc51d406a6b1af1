package contract

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// prefixRunes are how much of a name has to be there to tell the rest.
const prefixRunes = 5

// nearest is the known word that s was probably meant to be, or "". A word is
// near when at most a third of its letters differ, and at least one may, or
// when s is how it starts.
func nearest(s string, known []string) string {
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

// didYouMean asks for the nearest of the known words, or gives other advice.
func didYouMean(s string, known []string, otherwise string) string {
	if near := nearest(s, known); near != "" {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	return otherwise
}
