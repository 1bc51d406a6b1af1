package facts

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestSameFactsSameBytes: two people who read the same charts commit the same file, in
// whatever order they read them, and what is kept is as the tool writes it.
func TestSameFactsSameBytes(t *testing.T) {
	charts, err := All()
	assert.NilError(t, err)
	text, err := Text(charts)
	assert.NilError(t, err)
	kept, err := Unpack(file)
	assert.NilError(t, err)
	assert.Check(t, string(kept) == string(text), "run `go run ./tools/upstream -write`")
	others := slices.Clone(charts)
	slices.Reverse(others)
	again, err := Text(others)
	assert.NilError(t, err)
	assert.Check(t, string(again) == string(text))

	first, err := Pack(text)
	assert.NilError(t, err)
	second, err := Pack(text)
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(first, second))
	// RFC 1952: deflate, no fields, no time, the best compression, an unknown system.
	for _, packed := range [][]byte{first, file} {
		assert.Check(t, is.DeepEqual(packed[:10], []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255}))
	}
}
