// Package zxcvbn says how hard a text is to guess, in place of two libraries of
// that name. The Pulumi CLI asks them in one case only: `pulumi config set` warns
// of a value that looks like a secret and is not marked as one. For that they read
// lists of words whenever the CLI starts: a third of the CPU time of a start, 0.15 of
// 0.45 seconds on two cores. Here nothing is read, and the answer is an upper bound:
// the CLI warns of more values than its release does.
package zxcvbn

import (
	"math"
	"unicode"
)

// Strength is what the CLI reads of an answer.
type Strength struct {
	// Entropy is in bits.
	Entropy float64
}

// PasswordStrength is the entropy of a text whose characters are drawn at random
// from the classes of characters that are in it. The second argument is taken for
// the libraries' sake.
func PasswordStrength(text string, _ []string) Strength {
	classes := []struct {
		size float64
		has  func(rune) bool
	}{
		{10, unicode.IsDigit},
		{26, unicode.IsLower},
		{26, unicode.IsUpper},
		{33, func(r rune) bool { return !unicode.IsDigit(r) && !unicode.IsLower(r) && !unicode.IsUpper(r) }},
	}
	size, length := 0.0, 0.0
	for _, class := range classes {
		found := 0.0
		for _, r := range text {
			if class.has(r) {
				found++
			}
		}
		if found > 0 {
			size += class.size
		}
		length += found
	}
	if size == 0 {
		return Strength{}
	}
	return Strength{Entropy: length * math.Log2(size)}
}
