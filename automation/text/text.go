// Package text has the forms of words that messages of several rooms share.
package text

import "strconv"

// Count is "1 object" or "2 objects": the number with the word that fits it.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
