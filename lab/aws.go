package lab

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tombolo/internal/file"
)

// writeShims puts the commands `aws` and `az` in front of PATH, which this program plays, or
// the one for aws that is in its directory. They go to the checkout first: exec plugins are
// called from anywhere.
func (l *Lab) writeShims(dir string) error {
	self, err := l.keepProgram()
	if err != nil {
		return err
	}
	commands := map[string]string{"aws": quote(self) + " lab aws", "az": quote(self) + " lab az"}
	quick, err := l.keepQuickAWS(dir)
	if err != nil {
		return err
	}
	if quick != "" {
		commands["aws"] = quote(quick)
	}
	for command, is := range commands {
		script := fmt.Sprintf("#!/bin/sh\ncd %s || exit 1\nexec %s \"$@\"\n", quote(l.root), is)
		if err := replace(filepath.Join(l.paths().bin(), command), script, 0o755); err != nil {
			return fmt.Errorf("write the lab's %s command: %w", command, err)
		}
	}
	return nil
}

// replace gives a program its text. It is never half there, nor open for writing,
// while somebody runs it: every command in the lab writes it, beside other ones.
func replace(program, text string, mode fs.FileMode) error {
	if has, err := os.ReadFile(program); err == nil && string(has) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return err
	}
	return file.Replace(program, []byte(text), mode)
}

// quote makes one word of the shell's out of any text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
