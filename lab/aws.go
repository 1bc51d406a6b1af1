package lab

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// EKSToken returns a bearer token for a cluster of the stand-in, as
// `aws eks get-token` would, and when it expires.
func (l *Lab) EKSToken(ctx context.Context, cluster string) (token string, expires time.Time, _ error) {
	var a tokenAnswer
	if err := l.ask(ctx, http.MethodPost, "/token", tokenRequest{cluster}, &a); err != nil {
		return "", time.Time{}, fmt.Errorf("get a token for cluster %s: %w", cluster, err)
	}
	return a.Token, a.Expires, nil
}

// writeShim puts an `aws` command in front of PATH that is this program. It
// goes to the checkout first: exec plugins are called from anywhere.
func (l *Lab) writeShim() error {
	self, err := l.keepProgram()
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\ncd %s || exit 1\nexec %s lab aws \"$@\"\n", quote(l.root), quote(self))
	file := filepath.Join(l.paths().bin(), "aws")
	if err := replace(file, script); err != nil {
		return fmt.Errorf("write the lab's aws command: %w", err)
	}
	return nil
}

// replace gives a program its text. It is never half there, nor open for writing,
// while somebody runs it: every command in the lab writes it, beside other ones.
func replace(file, text string) error {
	if has, err := os.ReadFile(file); err == nil && string(has) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	next := fmt.Sprintf("%s.%d", file, os.Getpid())
	err := os.WriteFile(next, []byte(text), 0o755)
	if err == nil {
		err = os.Rename(next, file)
	}
	if err != nil {
		os.Remove(next)
	}
	return err
}

// quote makes one word of the shell's out of any text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
