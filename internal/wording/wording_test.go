package wording

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestCount(t *testing.T) {
	for got, want := range map[string]string{
		Count(0, "zone"): "0 zones", Count(1, "zone"): "1 zone", Count(2, "log type"): "2 log types",
		Plural(1, "policy", "policies"): "1 policy", Plural(3, "object is", "objects are"): "3 objects are",
	} {
		assert.Check(t, is.Equal(got, want))
	}
}

func TestOr(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		assert.Check(t, is.Equal(Or(words), want), words)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"region", "vpc_id", "cluster_name", "chart_repository"}
	for _, tt := range []struct {
		word  string
		known []string
		want  string
	}{
		{"nmae", []string{"version", "name"}, "name"},
		{"instancetypes", []string{"instanceTypes", "size"}, "instanceTypes"},
		{"monitoring", []string{"version", "name"}, ""},
		{"spto", []string{"on-demand", "spot"}, "spot"},
		{"regoin", names, "region"},
		{"Region", names, "region"},
		{"clustername", names, "cluster_name"},
		{"chart_repo", names, "chart_repository"},
		{"vpcid", names, "vpc_id"},
		{"fluxcd", []string{"flux", "argocd"}, "flux"},
		{"zone", names, ""},
		{"region", names, ""},
		{"cha", names, ""},
		{"dav", []string{"days", "dev"}, "dev"},
		{"ab", []string{"ac", "aa"}, "aa"},
		{"x", nil, ""},
	} {
		assert.Check(t, is.Equal(Nearest(tt.word, tt.known), tt.want), "%v %v", tt.word, tt.known)
	}
}

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
