package standin

import (
	"fmt"
	"regexp"
	"slices"
)

// ExactlyOne refuses inputs that have none or several of the keys.
func ExactlyOne(in Props, keys ...string) []Problem {
	given := 0
	for _, key := range keys {
		if in.Has(key) {
			given++
		}
	}
	if given == 1 {
		return nil
	}
	return []Problem{{keys[0], fmt.Sprintf("Invalid combination of arguments. one of %v must be specified", keys)}}
}

// InRange refuses a number that is given and outside of its limits.
func InRange(in Props, key string, low, high int) []Problem {
	value, known := in[key].(float64)
	if !known || int(value) >= low && int(value) <= high {
		return nil
	}
	return []Problem{{key, fmt.Sprintf("expected %s to be in the range (%d - %d), got %d", key, low, high, int(value))}}
}

// Matching refuses a text that is given and does not match; the reason ends with
// the text.
func Matching(in Props, key string, shape *regexp.Regexp, reason string) []Problem {
	value := in.Str(key)
	if value == "" || shape.MatchString(value) {
		return nil
	}
	return []Problem{{key, reason + value}}
}

// OneOf refuses a text that is given and is none of the values.
func OneOf(in Props, key string, values ...string) []Problem {
	value := in.Str(key)
	if value == "" || slices.Contains(values, value) {
		return nil
	}
	return []Problem{{key, fmt.Sprintf("expected %s to be one of %q, got %s", key, values, value)}}
}

// unplayed refuses inputs that the stand-in does not play.
func (t *Type) unplayed(in Props) []Problem {
	var problems []Problem
	for _, key := range t.Unplayed {
		if in.Has(key) {
			problems = append(problems, Problem{key, "the stand-in does not play " + key + " of " + t.token})
		}
	}
	return problems
}
