package scalar

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestAt(t *testing.T) {
	for text, want := range map[string]string{
		"a: {b: c}":                            "c",
		"\xef\xbb\xbfa: {b: c}":                "c",
		"x: &x {b: c}\na: *x":                  "c",
		"x: &x {b: c}\na: {<<: *x}":            "c",
		"x: &x {b: c}\na: {b: d, <<: *x}":      "d",
		"x: &x {b: c}\na: {<<: [{}, *x]}":      "c",
		"x: &x c\na: {b: *x}":                  "c",
		"x: &x {<<: *x}\na: *x":                "",
		"a: {b: [c]}":                          "",
		"a: [b]":                               "",
		"a: b":                                 "",
		"b: c":                                 "",
		"":                                     "",
		"a: {b: c}\n---\na: {b: d}":            "c",
		"a: {b: c, b: d}\ne: &e [*e, f]\n1: 2": "c",
	} {
		got, err := At([]byte(text), "a", "b")
		assert.Check(t, err)
		assert.Check(t, is.Equal(got, want), text)
	}
	_, err := At([]byte("a: b: c"), "a")
	assert.ErrorContains(t, err, "mapping values are not allowed")
}
