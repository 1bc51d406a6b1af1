package finding

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestOneLine: whatever a file's name and its text are, a finding is one line that no CI
// system takes for a command.
func TestOneLine(t *testing.T) {
	f := Finding{Severity: Error, File: "::error::a\n##vso[task.complete result=Succeeded]", Line: 1, Column: 2, Clusters: []string{"one"}, Message: "\u202e\x1b[2J\r::warning::b", Remedy: "c\u009b\n##[group]"}
	assert.Equal(t, f.String(), `\::error::a\n##vso\[task.complete result=Succeeded]:1:2: error: \u202e\x1b[2J\r::warning::b (cluster one); c\u009b\n##\[group]`)
}
