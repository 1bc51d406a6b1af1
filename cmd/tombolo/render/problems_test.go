package render

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"tombolo/config/strict"
)

func TestProblems(t *testing.T) {
	file := "testdata/bad.yaml"
	problems := strict.Problems{
		{File: file, Line: 3, Column: 1, Path: "regoin", Message: `unknown key, did you mean "region"?`, Remedy: "rename it"},
		{File: file, Line: 5, Column: 9, Path: "network.cidr", Message: "10.0.0.0/8 is larger than a VPC may be: allowed are /16 to /24", Remedy: "use a block such as 10.0.0.0/16"},
		{File: file, Line: 99, Column: 1, Message: "the file ends too early", Remedy: "complete it"},
		{File: "testdata/missing.yaml", Line: 1, Column: 1, Message: "no such file"},
	}
	for name, o := range map[string]ProblemOptions{
		"problems-plain":    {},
		"problems-terminal": {Terminal: true, Style: Style{Unicode: true}},
		"problems-40":       {Terminal: true, Width: 40},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			Problems(&b, problems, o)
			golden.Assert(t, b.String(), name+".golden")
			for line := range strings.Lines(b.String()) {
				if w := lipgloss.Width(strings.TrimSuffix(line, "\n")); o.Width > 0 && w > o.Width {
					t.Errorf("a line of %d cells wraps at %d: %q", w, o.Width, line)
				}
			}
		})
	}
}

func TestProblemsShowNoControlCharacters(t *testing.T) {
	file := filepath.Join(t.TempDir(), "evil.yaml")
	assert.NilError(t, os.WriteFile(file, []byte("name: \x1b[2Jgone\n"), 0o644))
	var b bytes.Buffer
	Problems(&b, strict.Problems{{File: file, Line: 1, Column: 7, Message: "bad"}}, ProblemOptions{Terminal: true})
	assert.Check(t, !strings.Contains(b.String(), "\x1b"), "a control character of the file reaches the terminal: %q", &b)
}
