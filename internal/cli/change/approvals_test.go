package change

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestApprovals(t *testing.T) {
	for text, want := range map[string]Approvals{"0": {}, "2": {Number: 2}, "auto": {Auto: true}} {
		var a Approvals
		if err := a.Set(text); err != nil || a != want || a.String() != text {
			t.Errorf("%q is %+v, %v", text, a, err)
		}
	}
	for _, text := range []string{"-1", "two", ""} {
		assert.Check(t, new(Approvals).Set(text) != nil, "%q was taken", text)
	}
}
