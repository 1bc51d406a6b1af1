// Package near advises about a misspelt word.
package near

import (
	"strconv"

	"tombolo/internal/wording"
)

// DidYouMean asks for the nearest of the known words, or gives other advice.
func DidYouMean(s string, known []string, otherwise string) string {
	if word := wording.Nearest(s, known); word != "" {
		return "did you mean " + strconv.Quote(word) + "?"
	}
	return otherwise
}
