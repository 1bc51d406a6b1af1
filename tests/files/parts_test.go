package files

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestWithParts(t *testing.T) {
	const text = "# A file.\nname: a\ncloud:\n  provider: aws\n\nvalues:\n  cloud: b\n"
	got := WithParts(text, "# Parts.\ncloud:\n  provider: azure\nlabels: {}\n")
	assert.Equal(t, got, "# A file.\nname: a\ncloud:\n  provider: azure\nvalues:\n  cloud: b\nlabels: {}\n")
}
