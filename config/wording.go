package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// quotedRunes is how much of a value a message repeats.
const quotedRunes = 80

// manyWords are too many to list when one of them is near.
const manyWords = 12

// quote is s in quotes, on one line and never long.
func quote(s string) string {
	n := utf8.RuneCountInString(s)
	if n <= quotedRunes {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%s (%d characters)", strconv.Quote(string([]rune(s)[:quotedRunes-1])+"…"), n)
}

// choice is "a", "a or b", "a, b or c".
func choice(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// nearest is the allowed word that s was probably meant to be, or "". A word
// is near when at most half of its letters differ, and at most three.
func nearest(s string, allowed []string) string {
	best, distance := "", 4
	for _, word := range allowed {
		d := levenshtein.Distance(strings.ToLower(s), strings.ToLower(word), nil)
		if d < distance && 2*d <= utf8.RuneCountInString(word) {
			best, distance = word, d
		}
	}
	return best
}

// pick is the remedy for a word that is not among the allowed ones.
func pick(s string, allowed []string) string {
	near := nearest(s, allowed)
	switch {
	case len(allowed) == 1:
		return "use " + allowed[0]
	case near == "":
		return "use " + choice(allowed)
	case len(allowed) > manyWords:
		return fmt.Sprintf("did you mean %s?", near)
	default:
		return fmt.Sprintf("did you mean %s? allowed are %s", near, strings.Join(allowed, ", "))
	}
}

// plural is "1 zone" or "2 zones".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// repeated calls report for every item that was seen before, with the index of
// the first.
func repeated[T any](items []T, name func(T) string, report func(i, first int)) {
	seen := map[string]int{}
	for i, item := range items {
		key := name(item)
		if key == "" {
			continue
		}
		if first, ok := seen[key]; ok {
			report(i, first)
			continue
		}
		seen[key] = i
	}
}

// itself is the name of an item that is its own name.
func itself(s string) string { return s }

func texts[T ~string](values ...T) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return slices.Clip(out)
}

// isTypo says whether word is near enough to known to be it misspelt: short
// words may differ in one letter, longer ones in two.
func isTypo(word, known string) bool {
	distance := levenshtein.Distance(word, known, nil)
	if len(known) <= 5 {
		return distance <= 1
	}
	return distance <= 2
}
