package automation

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

// A preview of what does not exist leaves nothing in the backend.
func TestPreviewMakesNoStack(t *testing.T) {
	b := newBench(t)
	b.mustPreview(t, demo(), PreviewOptions{})
	assert.Check(t, len(b.cli.states) == 0 && slices.Contains(b.cli.calls, "preview demo-bootstrap"),
		"a preview has made %v, by %v", b.cli.states, b.cli.calls)
	// Where core is, bootstrap is told its outputs: a role that reads may make no stack.
	b.cli.states["demo-core"] = deployed("demo-core")
	b.mustPreview(t, demo(), PreviewOptions{})
	_, made := b.cli.states["demo-bootstrap"]
	assert.Check(t, !made && len(b.cli.states) == 1, "a preview beside core has made %v", b.cli.states)
}
