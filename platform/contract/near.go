package contract

import (
	"strconv"

	"tombolo/internal/wording"
)

// didYouMean asks for the nearest of the known words, or gives other advice.
func didYouMean(s string, known []string, otherwise string) string {
	if near := wording.Nearest(s, known); near != "" {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	return otherwise
}
