package automation

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation/unchanged"
	"tombolo/stacks"
)

// TestApplied: the commit that was applied is beside the state, with the record of the up. What is
// no commit there is not given to Git.
func TestApplied(t *testing.T) {
	b := raised(t, demo(), nil)
	commit, stack := strings.Repeat("a1", 20), stacks.Name("demo", stacks.Bootstrap)
	got, err := b.Applied(t.Context(), demo())
	assert.NilError(t, err)
	assert.Equal(t, got, "")
	before, err := b.backend.Tag(t.Context(), stack, unchanged.Tag)
	assert.NilError(t, err)
	for range 2 {
		assert.NilError(t, b.RecordApplied(t.Context(), demo(), commit))
		got, err = b.Applied(t.Context(), demo())
		assert.NilError(t, err)
		assert.Equal(t, got, commit)
	}
	after, err := b.backend.Tag(t.Context(), stack, unchanged.Tag)
	assert.NilError(t, err)
	assert.Equal(t, after, before)

	assert.NilError(t, b.backend.SetTag(t.Context(), stack, AppliedTag, "--all"))
	_, err = b.Applied(t.Context(), demo())
	assert.Error(t, err, `read the commit that was applied to demo: "--all" is no commit; look at the tags of stack demo-bootstrap, or pass the number of approvals`)

	other := demo()
	other.Name = "other"
	got, err = b.Applied(t.Context(), other)
	assert.NilError(t, err)
	assert.Equal(t, got, "")
}
