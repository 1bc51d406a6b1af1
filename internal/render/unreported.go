package render

import (
	"regexp"
	"strings"
	"unicode"
)

// The engine tells of an error when it meets it, in its providers' words. What
// the operation ends with says the same once more, in ours and with what to do.
// So the views for people keep the engine's errors until then, and show those
// that the end leaves out.

// hold keeps a message for the operation's end, if there will be one.
func (o *operation) hold(d diagnostic) bool {
	if o.over || d.severity != "error" {
		return false
	}
	o.errors = append(o.errors, d)
	return true
}

// unsaid returns the errors that the operation's end does not tell.
func (o *operation) unsaid() []diagnostic {
	var left []diagnostic
	for _, d := range o.errors {
		if o.err == nil || !d.saidBy(o.err.Error()) {
			left = append(left, d)
		}
	}
	return left
}

// saidBy says whether a text tells of the same error of the same resource. The
// last line decides: why it failed is at a message's end, behind what the
// engine puts around it.
func (d diagnostic) saidBy(text string) bool {
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
