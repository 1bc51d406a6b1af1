package substitution

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestUses(t *testing.T) {
	for text, want := range map[string][]Use{
		"$x $${x} ${x":         nil,
		"${x}":                 {{"x", Plain}},
		"$$${x}":               {{"x", Plain}},
		"${x:=a} ${x=b}":       {{"x", Defaulted}, {"x", Defaulted}},
		"${x:-${y}}":           {{"y", Plain}, {"x", Defaulted}},
		"${x^^} ${#y} ${x/a/}": {{"x", Changed}, {"y", Changed}, {"x", Changed}},
	} {
		got, err := Uses(text)
		if (err != nil) != (want == nil) || len(got) != len(want) {
			t.Errorf("%s: got %v, %v", text, got, err)
			continue
		}
		for i := range got {
			assert.Check(t, got[i] == want[i], "%s: got %v, want %v", text, got, want)
		}
	}
}
