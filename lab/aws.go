package lab

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tombolo/internal/file"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/aws/sts"
)

// EKSToken returns a bearer token for a cluster of the stand-in, as
// `aws eks get-token` would, and when it expires. It is signed with the credentials
// in this process's environment.
func (l *Lab) EKSToken(ctx context.Context, cluster string) (token string, expires time.Time, _ error) {
	var a tokenAnswer
	if err := l.ask(ctx, http.MethodPost, "/token", tokenRequest{cluster, environmentCredentials()}, &a); err != nil {
		return "", time.Time{}, fmt.Errorf("get a token for cluster %s: %w", cluster, err)
	}
	return a.Token, a.Expires, nil
}

// AssumeRole returns the credentials of a session of a role, as `aws sts assume-role`
// would. It is asked for with the credentials in this process's environment.
func (l *Lab) AssumeRole(ctx context.Context, role sts.Role) (sigv4.Credentials, error) {
	var out sigv4.Credentials
	if err := l.ask(ctx, http.MethodPost, "/assume", assumeRequest{environmentCredentials(), role}, &out); err != nil {
		return out, fmt.Errorf("assume role %s: %w", role.ARN, err)
	}
	return out, nil
}

// environmentCredentials are those in this process's environment, where AWS's tools
// look for them; empty without any.
func environmentCredentials() sigv4.Credentials {
	return sigv4.Credentials{
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
	}
}

// writeShim puts the commands `aws` and `az` in front of PATH, which are this program. They
// go to the checkout first: exec plugins are called from anywhere.
func (l *Lab) writeShim() error {
	self, err := l.keepProgram()
	if err != nil {
		return err
	}
	for _, command := range []string{"aws", "az"} {
		script := fmt.Sprintf("#!/bin/sh\ncd %s || exit 1\nexec %s lab %s \"$@\"\n", quote(l.root), quote(self), command)
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
