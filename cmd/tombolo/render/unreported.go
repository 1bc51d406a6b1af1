package render

import (
	"regexp"
	"strings"
	"unicode"
)

// The Pulumi engine reports an error at once, in its providers' words. The error that
// the operation ends with says the same again, in our words and with a remedy. So the
// views for people keep the engine's errors until the end, and show those that the
// final error does not contain.

// hold keeps a message for the operation's end, if there will be one.
func (o *operation) hold(d diagnostic) bool {
	if o.over || d.severity != "error" {
		return false
	}
	o.errors = append(o.errors, d)
	return true
}

// unreported returns the errors that the operation's final error does not contain.
func (o *operation) unreported() []diagnostic {
	var left []diagnostic
	for _, d := range o.errors {
		if o.err == nil || !d.isIn(o.err.Error()) {
			left = append(left, d)
		}
	}
	return left
}

// isIn says whether a text has the same error of the same resource. The last line
// decides: the cause is at a message's end, after the engine's own words.
func (d diagnostic) isIn(text string) bool {
	if d.name != "" && !d.root && !strings.Contains(text, d.name+": ") {
		return false
	}
	reason := lastReason(d.text)
	return reason != "" && strings.Contains(plainLetters(text), reason)
}

// errorHead is how the engine and its providers head several errors, or one.
var errorHead = regexp.MustCompile(`^.*\d+ errors? occurred:`)

// reasonTail is how much of a long reason's end is compared, in bytes: the
// middle of one is left out at the operation's end.
const reasonTail = 300

// lastReason is a message's last line that says something, or its end.
func lastReason(text string) string {
	reason := ""
	for line := range strings.Lines(text) {
		if letters := plainLetters(errorHead.ReplaceAllString(line, "")); letters != "" {
			reason = letters
		}
	}
	return strings.ToValidUTF8(reason[max(0, len(reason)-reasonTail):], "")
}

// plainLetters are the letters and digits of a text: how it is broken into
// lines and made a list differs.
func plainLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
