package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// awsVersion is what the shim calls itself: callers look for version 2.
const awsVersion = "aws-cli/2.27.0 tombolo-lab"

// EKSToken returns a bearer token for a cluster of the stand-in, as
// `aws eks get-token` would, and when it expires.
func (l *Lab) EKSToken(ctx context.Context, cluster string) (token string, expires time.Time, _ error) {
	var a tokenAnswer
	if err := l.call(ctx, http.MethodPost, "/token", tokenRequest{cluster}, &a); err != nil {
		return "", time.Time{}, fmt.Errorf("get a token for cluster %s: %w", cluster, err)
	}
	return a.Token, a.Expires, nil
}

// writeShim puts an `aws` command in front of PATH that is this program.
func (l *Lab) writeShim() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program's file: %w", err)
	}
	script := fmt.Sprintf("#!/bin/sh\n# The lab's AWS CLI: it knows `aws --version` and `aws eks get-token`.\nexec %s lab aws --root %s -- \"$@\"\n",
		quote(self), quote(l.root))
	if err := os.MkdirAll(l.paths().bin(), 0o755); err != nil {
		return fmt.Errorf("write the lab's aws command: %w", err)
	}
	if err := os.WriteFile(filepath.Join(l.paths().bin(), "aws"), []byte(script), 0o755); err != nil {
		return fmt.Errorf("write the lab's aws command: %w", err)
	}
	return nil
}

// quote makes one word of the shell's out of any text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// execCredential is what kubectl and client-go take from a credential plugin
// (client.authentication.k8s.io/v1beta1).
type execCredential struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Spec       struct{}        `json:"spec"`
	Status     execTokenStatus `json:"status"`
}

type execTokenStatus struct {
	ExpirationTimestamp time.Time `json:"expirationTimestamp"`
	Token               string    `json:"token"`
}

// AWSCommand is the lab's AWS CLI. It knows `--version` and `eks get-token`,
// which is all that the EKS component and kubeconfigs call.
func AWSCommand(ctx context.Context, root string, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 1 && args[0] == "--version" {
		_, err := fmt.Fprintln(stdout, awsVersion)
		return err
	}
	words, flags, err := parseAWS(args)
	if err != nil {
		return err
	}
	if strings.Join(words, " ") != "eks get-token" {
		return fmt.Errorf("run aws %s: the lab's AWS CLI knows `aws --version` and `aws eks get-token` only", strings.Join(args, " "))
	}
	cluster := flags["cluster-name"]
	if cluster == "" {
		return errors.New("run aws eks get-token: --cluster-name is missing")
	}
	token, expires, err := Open(root).EKSToken(ctx, cluster)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(execCredential{
		APIVersion: "client.authentication.k8s.io/v1beta1", Kind: "ExecCredential",
		Status: execTokenStatus{ExpirationTimestamp: expires.UTC().Truncate(time.Second), Token: token},
	})
}

// parseAWS splits a command line of the AWS CLI into its words and its flags,
// all of which take a value.
func parseAWS(args []string) (words []string, flags map[string]string, _ error) {
	flags = map[string]string{}
	for i := 0; i < len(args); i++ {
		flag, isFlag := strings.CutPrefix(args[i], "--")
		if !isFlag {
			words = append(words, args[i])
			continue
		}
		name, value, inline := strings.Cut(flag, "=")
		if !inline {
			if i++; i == len(args) {
				return nil, nil, fmt.Errorf("run aws: --%s needs a value", name)
			}
			value = args[i]
		}
		flags[name] = value
	}
	return words, flags, nil
}
