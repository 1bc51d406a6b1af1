package gotemplate

import (
	"regexp"
	"strconv"
)

// How text/template names what a map lacks and a function that there is not, and
// what it writes before the cause of an error.
var (
	missingKey      = regexp.MustCompile(`map has no entry for key ("(?:[^"\\]|\\.)*")$`)
	unknownFunction = regexp.MustCompile(`function ("(?:[^"\\]|\\.)*") not defined$`)
	templateStart   = regexp.MustCompile(`^template: [^ ]*:\d+(:\d+)?: (executing "[^"]*" at )?`)
)

// MissingKey is the key that a template uses and no map has, if an error says so.
func MissingKey(err error) (string, bool) { return quoted(missingKey, err) }

// UnknownFunction is the function that there is not, if an error says so.
func UnknownFunction(err error) (string, bool) { return quoted(unknownFunction, err) }

// Cause is an error of a template without the place in the template.
func Cause(err error) string { return templateStart.ReplaceAllString(err.Error(), "") }

func quoted(pattern *regexp.Regexp, err error) (string, bool) {
	m := pattern.FindStringSubmatch(err.Error())
	if m == nil {
		return "", false
	}
	text, err := strconv.Unquote(m[1])
	return text, err == nil
}
