package wording

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestLine: nothing in a text of others is obeyed by a terminal or a CI system.
func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"plain: a, ß, 字, é and ${x##*/}": "plain: a, ß, 字, é and ${x##*/}",
		"a\nb\r\nc\td":                   `a\nb\r\nc d`,
		"\x1b[31mred\x07\x00":            `\x1b[31mred\a\x00`,
		"\u009b31m \u202egnp.exe \u2066": `\u009b31m \u202egnp.exe \u2066`,
		"a\u200bb\u00adc\ufe0fd\u034fe":  `a\u200bb\u00adc\ufe0fd\u034fe`,
		"\u00a0\u2028\u2003":             `\u00a0\u2028\u2003`,
		"\xff\xfe":                       `\xff\xfe`,
		"::error::x":                     `\::error::x`,
		"  ::error::x":                   `  \::error::x`,
		"a ::error::x":                   "a ::error::x",
		"a ##vso[task.setvariable x]y":   `a ##vso\[task.setvariable x]y`,
		"##[error]x ###[group]":          `##\[error]x ###\[group]`,
		"##v\u200bso[x]":                 `##v\u200bso[x]`,
	} {
		got := Line(text)
		assert.Check(t, is.Equal(got, want))
		assert.Check(t, is.Equal(Line(got), got), "twice")
	}
	assert.Equal(t, Lines("a\r\n::b\n\x1b"), "a\n\\::b\n\\x1b")
	assert.Equal(t, len(Line(strings.Repeat("a", 1<<20))), 1<<20)
}
