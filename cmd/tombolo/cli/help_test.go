package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
)

// TestHelpFits: no line of any command's help is wider than a narrow terminal, but for what
// cannot be broken.
func TestHelpFits(t *testing.T) {
	started := false
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		var b strings.Builder
		cmd.SetOut(&b)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		examples := false
		for line := range strings.Lines(b.String()) {
			examples = strings.HasPrefix(line, "Examples:") || examples && line != "\n"
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
				t.Errorf("%s: %d characters: %s", cmd.CommandPath(), n, line)
			}
			if examples && !strings.HasPrefix(line, "Examples:") && !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: an example is not indented: %s", cmd.CommandPath(), line)
			}
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(tombolo.newRoot(factory.System(), &started))
}
