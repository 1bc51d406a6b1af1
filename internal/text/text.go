// Package text words numbers and names for people.
package text

import "fmt"

// Plural is "1 zone" or "2 zones".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
