package bootstrap

import (
	"errors"
	"strings"
	"testing"

	"tombolo/config"
	"tombolo/stacks/catalog"
)

func TestGitCredentials(t *testing.T) {
	kept := func(key string) (string, error) {
		if key != "gitToken" {
			return "", errors.New("no such key")
		}
		return "from pulumi", nil
	}
	env := map[string]string{"TOKEN": "from the environment"}
	for name, test := range map[string]struct {
		auth *config.Auth
		want catalog.Credentials
		err  string
	}{
		"none":        {},
		"environment": {auth: &config.Auth{Type: config.AuthBasic, Username: "git", Password: &config.SecretRef{Env: "TOKEN"}}, want: catalog.Credentials{Username: "git", Password: "from the environment"}},
		"pulumi":      {auth: &config.Auth{Type: config.AuthSSH, KnownHosts: "host key", PrivateKey: &config.SecretRef{Config: "gitToken"}}, want: catalog.Credentials{PrivateKey: "from pulumi", KnownHosts: "host key"}},
		"no such key": {auth: &config.Auth{Type: config.AuthBasic, Password: &config.SecretRef{Config: "other"}}, err: "gitops.auth.password: no such key"},
		"no secret":   {auth: &config.Auth{Type: config.AuthSSH}, err: "gitops.auth.privateKey is required"},
		"no type":     {auth: &config.Auth{}, err: `gitops.auth.type: "" is unknown; expected basic or ssh`},
	} {
		got, err := GitCredentials(&config.Cluster{GitOps: config.GitOps{Auth: test.auth}}, env, kept)
		switch {
		case test.err != "":
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: error %v, expected %q", name, err, test.err)
			}
		case err != nil || (got == nil) != (test.auth == nil) || got != nil && *got != test.want:
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}
