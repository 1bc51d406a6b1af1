package strict

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestOneLine: whatever a file's name and its text are, a problem is one line that no CI
// system takes for a command.
func TestOneLine(t *testing.T) {
	ps := Problems{{File: "::error::a", Line: 1, Column: 2, Path: "b\n", Message: "\u202e\x1b[2J##vso[x]", Remedy: "write [a\n::error::b]"}}
	assert.Error(t, ps, `\::error::a:1:2: b\n: \u202e\x1b[2J##vso\[x]; write [a\n::error::b]`)
	assert.Equal(t, ps[0].Warning(), `\::error::a:1:2: warning: b\n: \u202e\x1b[2J##vso\[x]; write [a\n::error::b]`)
}
