package cli

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestMisspeltCommands: the nearest command is named, of tombolo itself and of a group.
func TestMisspeltCommands(t *testing.T) {
	f, _, errOut := testFactory(t)
	for line, want := range map[string]string{
		"upgrad demo":      `unknown command "upgrad" for "tombolo", did you mean "upgrade"?; see ` + "`tombolo --help`",
		"init syste":       `unknown command "syste" for "tombolo init", did you mean "system"?; see ` + "`tombolo init --help`",
		"lab fault remove": `unknown command "remove" for "tombolo lab fault"; see ` + "`tombolo lab fault --help`",
	} {
		errOut.Reset()
		assert.Check(t, is.Equal(tombolo.run(t.Context(), f, strings.Fields(line)), 2))
		assert.Check(t, is.Contains(errOut.String(), want))
	}
}
