package tree

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestExpands(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		before := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+before+", ", 9) + "*" + before + "]\n"
	}
	for text, want := range map[string]string{
		"a: 1\n":                         "",
		"a: &x {b: 1}\nc: *x\nd: *x\n":   "",
		"**bold** is no YAML: [\n":       "",
		bomb:                             "its aliases stand for too many values",
		"a: &a {b: *a}\n":                "an alias is in the value that it stands for",
		"---\na: 1\n---\na: &a [[*a]]\n": "an alias is in the value that it stands for",
		strings.Repeat("[", 300) + strings.Repeat("]", 300): "it is nested over 200 deep",
		strings.Repeat("- ", 300) + "a":                     "it is nested over 200 deep",
		strings.Repeat("[", 150) + strings.Repeat("]", 150): "",
	} {
		got := ""
		if err := Expands([]byte(text)); err != nil {
			got = err.Error()
		}
		assert.Check(t, got == want, "%.40q: %q, want %q", text, got, want)
	}
}
