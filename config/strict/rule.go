package strict

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tombolo/internal/wording"
)

// Rule is what one value may be, independent of the rest of the file. Decoding
// checks values by it, and a JSON schema can show it. On a list, it is the rule of
// the items. The zero Rule allows all values of the type.
type Rule struct {
	// What the value is, in words: "a DNS label"; Noun is one item of a list.
	What, Noun string
	// Example of a good value, as it is written in the file.
	Example string
	// Allowed words; nil for all that match Pattern. Numbers are those allowed
	// of a number.
	Allowed []string
	Numbers []int
	Pattern *regexp.Regexp
	// Advice is the remedy for a value; "" for the general one.
	Advice func(value string) string
	// MaxLength in characters; 0 for no limit.
	MaxLength int
	// Least and Most of a number.
	Least, Most *int
	// MinItems of a list.
	MinItems int
	// Secret says that the value may be a secret by mistake, so messages do not
	// repeat it. On a struct type, it says that the struct has a secret's place.
	Secret bool
	// Default for references and schemas, and for an addon's options. Decoding
	// does not set it.
	Default any
}

func (r Rule) item() string {
	if r.Noun == "" {
		return "item"
	}
	return r.Noun
}

// CheckText returns what is wrong with a value and what to do about it, or "".
func (r Rule) CheckText(s string) (message, remedy string) {
	length := utf8.RuneCountInString(s)
	switch {
	case r.Allowed != nil && !slices.Contains(r.Allowed, s):
		return fmt.Sprintf("%s is not %s", wording.Quote(s), r.kind()), r.pick(s)
	case r.Pattern == nil:
		return "", ""
	case s == "":
		return "is empty", "write it like " + r.Example
	case r.MaxLength > 0 && length > r.MaxLength:
		return fmt.Sprintf("%s is too long: %s has at most %d", wording.Quote(s), r.kind(), r.MaxLength),
			fmt.Sprintf("shorten it by %d", length-r.MaxLength)
	case !r.Pattern.MatchString(s):
		return r.subject(s) + "is not " + r.kind(), r.remedy(s)
	}
	return "", ""
}

// subject starts a sentence about a value.
func (r Rule) subject(s string) string {
	if r.Secret {
		return ""
	}
	return wording.Quote(s) + " "
}

// manyWords are too many to list when one of them is near.
const manyWords = 12

// pick is the remedy for a word that is not among the allowed ones.
func (r Rule) pick(s string) string {
	near := wording.Nearest(s, r.Allowed)
	switch {
	case r.Advice != nil:
		return r.Advice(s)
	case len(r.Allowed) == 1:
		return "use " + r.Allowed[0]
	case near == "":
		return "use " + wording.Or(r.Allowed)
	case len(r.Allowed) > manyWords:
		return fmt.Sprintf("did you mean %s?", near)
	default:
		return fmt.Sprintf("did you mean %s? allowed are %s", near, strings.Join(r.Allowed, ", "))
	}
}

func (r Rule) kind() string {
	if r.What == "" {
		return "allowed"
	}
	return r.What
}

func (r Rule) remedy(s string) string {
	if r.Advice != nil {
		if advice := r.Advice(s); advice != "" {
			return advice
		}
	}
	return "write it like " + r.Example
}

// CheckNumber is CheckText for a number.
func (r Rule) CheckNumber(i int) (message, remedy string) {
	switch {
	case r.Numbers != nil && !slices.Contains(r.Numbers, i):
		return fmt.Sprintf("%d is not %s", i, r.kind()), "use " + wording.Or(numerals(r.Numbers))
	case r.Least != nil && i < *r.Least:
		return fmt.Sprintf("%d is too small", i), r.span()
	case r.Most != nil && i > *r.Most:
		return fmt.Sprintf("%d is too large", i), r.span()
	}
	return "", ""
}

func (r Rule) span() string {
	if r.Most == nil {
		return fmt.Sprintf("use %d or more", *r.Least)
	}
	return fmt.Sprintf("use a number from %d to %d", *r.Least, *r.Most)
}

func numerals(numbers []int) []string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = strconv.Itoa(n)
	}
	return out
}
