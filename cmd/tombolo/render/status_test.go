package render

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestStatusBreaksLines: on a terminal a message is broken at its width, below its own
// beginning; without one it stays a line.
func TestStatusBreaksLines(t *testing.T) {
	for width, want := range map[int]string{
		0:  "✗ up demo-core: the cloud does not answer; run the same command again\n",
		24: "✗ up demo-core: the\n  cloud does not answer;\n  run the same command\n  again\n",
	} {
		var b strings.Builder
		Status{W: &b, Style: Style{Unicode: true}, Width: width}.Failed("%s", "up demo-core: the cloud does not answer; run the same command again")
		assert.Equal(t, b.String(), want)
	}
}

// TestNamesStayWhole: nothing is broken at a hyphen, and lines without a symbol are broken, too.
func TestNamesStayWhole(t *testing.T) {
	var b strings.Builder
	Status{W: &b, Width: 24}.Plain("%s", "give it by --from-aws in ap-southeast-1")
	assert.Equal(t, b.String(), "give it by --from-aws\n  in ap-southeast-1\n")
	b.Reset()
	Status{W: &b, Width: 24}.Plain("  kept     %s", "a.yaml")
	assert.Equal(t, b.String(), "  kept     a.yaml\n")
}
