package wording

import (
	"slices"
	"strings"
)

// prefixRunes is the number of characters that a word needs to be taken for the
// beginning of a longer one.
const prefixRunes = 5

// Nearest is the known word that a misspelt one was probably meant to be, or
// "". Words are near when at most a third of the longer one's letters differ, and
// one in any case; two letters in the wrong order are one difference, and
// capitals are none. With none near, it is one that begins with the word. Of two
// that are as near, it is the first by the alphabet.
func Nearest(word string, known []string) string {
	known = slices.Sorted(slices.Values(known))
	letters := []rune(strings.ToLower(word))
	best, least := "", 0
	for _, candidate := range known {
		others := []rune(strings.ToLower(candidate))
		most := max(1, len(letters)/3, len(others)/3)
		if candidate == word || len(letters)-len(others) > most || len(others)-len(letters) > most {
			continue // a letter more is one that differs
		}
		if d := distance(letters, others); d <= most && (best == "" || d < least) {
			best, least = candidate, d
		}
	}
	if best != "" || len(letters) < prefixRunes {
		return best
	}
	for _, candidate := range known {
		if candidate != word && strings.HasPrefix(candidate, word) {
			return candidate
		}
	}
	return ""
}

// distance is the number of letters to insert, delete, replace or swap with
// their neighbour that make b of a (optimal string alignment).
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			changed := 1
			if a[i] == b[j] {
				changed = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+changed)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
