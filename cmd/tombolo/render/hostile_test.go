package render

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/strict"
)

const hostile = "a\n::error::b\r\x1b[2J\u202e\u009b31m ##vso[task.setvariable variable=x]y ##[group]"

// TestHostileText: no text of others is obeyed by a terminal or a CI system, on a terminal and
// elsewhere, and JSON stays what it says.
func TestHostileText(t *testing.T) {
	for name, write := range map[string]func(w *bytes.Buffer){
		"status": func(w *bytes.Buffer) { Status{W: w}.Failed("read %s", hostile) },
		"narrow": func(w *bytes.Buffer) {
			Status{W: w, Width: 12}.Failed("a long word %s", strings.ReplaceAll(hostile, "\n", " "))
		},
		"plain": func(w *bytes.Buffer) { Status{W: w}.Plain("%s", hostile) },
		"table": func(w *bytes.Buffer) {
			assert.NilError(t, Table(w, TableOptions{}, []string{"a"}, [][]string{{"::error::" + hostile}}))
		},
		"problem": func(w *bytes.Buffer) {
			file := filepath.Join(t.TempDir(), "f")
			assert.NilError(t, os.WriteFile(file, []byte("::a\u202e\n"), 0o600))
			Problems(w, strict.Problems{{File: file, Line: 1, Column: 1, Path: hostile, Message: hostile, Remedy: hostile}}, ProblemOptions{Terminal: true, Width: 30})
		},
		"json": func(w *bytes.Buffer) {
			assert.NilError(t, WriteJSON(w, map[string]string{"type": hostile}))
			var back map[string]string
			assert.NilError(t, json.Unmarshal(w.Bytes(), &back))
			assert.Check(t, is.Equal(back["type"], hostile))
			assert.Check(t, is.Equal(strings.Count(w.String(), "\n"), 1))
		},
	} {
		var w bytes.Buffer
		write(&w)
		for _, bad := range []string{"\x1b", "\r", "\u202e", "\u009b", "##vso[", "##["} {
			assert.Check(t, !strings.Contains(w.String(), bad), "%s has %q: %s", name, bad, w.String())
		}
		for line := range strings.SplitSeq(w.String(), "\n") {
			assert.Check(t, !strings.HasPrefix(strings.TrimSpace(line), "::"), "%s: %q", name, line)
		}
	}
}
