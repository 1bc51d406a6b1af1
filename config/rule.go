package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// rule is what one value may be, whatever the rest of the file says. Decoding
// holds values to it, and the JSON schema shows the same. On a list, it is the
// rule of the items.
type rule struct {
	what      string // the kind of value, in words: "a DNS label"
	noun      string // one item of a list, in words: "zone"
	example   string
	allowed   []string
	numbers   []int
	pattern   *regexp.Regexp
	advice    func(value string) string // a remedy for this value; "" for the general one
	maxLength int                       // in characters; 0 for no limit
	least     *int
	most      *int
	minItems  int
	secret    bool // the value may be a secret by mistake: messages do not repeat it
	byDefault any  // for the schema; defaults.go sets it
}

func (r rule) item() string {
	if r.noun == "" {
		return "item"
	}
	return r.noun
}

func (r rule) checkText(s string) (message, remedy string) {
	length := utf8.RuneCountInString(s)
	switch {
	case r.allowed != nil && !slices.Contains(r.allowed, s):
		return fmt.Sprintf("%s is not %s", quote(s), r.kind()), r.pick(s)
	case r.pattern == nil:
		return "", ""
	case s == "":
		return "is empty", "write it like " + r.example
	case r.maxLength > 0 && length > r.maxLength:
		return fmt.Sprintf("%s is too long: %s has at most %d", quote(s), r.kind(), r.maxLength),
			fmt.Sprintf("shorten it by %d", length-r.maxLength)
	case !r.pattern.MatchString(s):
		return r.subject(s) + "is not " + r.kind(), r.remedy(s)
	}
	return "", ""
}

// subject starts a sentence about a value.
func (r rule) subject(s string) string {
	if r.secret {
		return ""
	}
	return quote(s) + " "
}

func (r rule) pick(s string) string {
	if r.advice != nil {
		return r.advice(s)
	}
	return pick(s, r.allowed)
}

func (r rule) kind() string {
	if r.what == "" {
		return "allowed"
	}
	return r.what
}

func (r rule) remedy(s string) string {
	if r.advice != nil {
		if advice := r.advice(s); advice != "" {
			return advice
		}
	}
	return "write it like " + r.example
}

func (r rule) checkNumber(i int) (message, remedy string) {
	switch {
	case r.numbers != nil && !slices.Contains(r.numbers, i):
		return fmt.Sprintf("%d is not %s", i, r.kind()), "use " + choice(numerals(r.numbers))
	case r.least != nil && i < *r.least:
		return fmt.Sprintf("%d is too small", i), r.span()
	case r.most != nil && i > *r.most:
		return fmt.Sprintf("%d is too large", i), r.span()
	}
	return "", ""
}

func (r rule) span() string {
	if r.most == nil {
		return fmt.Sprintf("use %d or more", *r.least)
	}
	return fmt.Sprintf("use a number from %d to %d", *r.least, *r.most)
}

func numerals(numbers []int) []string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = strconv.Itoa(n)
	}
	return out
}

var notInLabel = regexp.MustCompile(`[^a-z0-9]+`)

// asLabel advises the DNS label nearest to a name.
func asLabel(s string) string {
	label := strings.Trim(notInLabel.ReplaceAllString(strings.ToLower(s), "-"), "-")
	if label == "" {
		return ""
	}
	return fmt.Sprintf("use lower-case letters, digits and dashes, such as %s", quote(label))
}
