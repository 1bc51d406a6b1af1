package automation

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

// A preview of what does not exist leaves nothing in the backend.
func TestPreviewMakesNoStack(t *testing.T) {
	b := newBench(t)
	_, err := b.Preview(t.Context(), demo(), PreviewOptions{})
	assert.NilError(t, err)
	if len(b.cli.states) > 0 || !slices.Contains(b.cli.calls, "preview demo-bootstrap") {
		t.Errorf("a preview has made %v, by %v", b.cli.states, b.cli.calls)
	}
	// Bootstrap asks core for its outputs: it is previewed beside it.
	b.cli.states["demo-core"] = deployed("demo-core")
	_, err = b.Preview(t.Context(), demo(), PreviewOptions{})
	assert.NilError(t, err)
	if _, made := b.cli.states["demo-bootstrap"]; !made {
		t.Error("bootstrap was previewed where core is not")
	}
}
