package bootstrap

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/githubapp"
	"tombolo/stacks/catalog"
	"tombolo/tests/files"
	"tombolo/tests/samples"
)

func TestSecretsAreSecret(t *testing.T) {
	dir := t.TempDir()
	const pem = "-----BEGIN KEY-----\nx\n-----END KEY-----\n"
	for name, content := range map[string]string{"token": "hunter2\n", "key": pem} {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	for want, ref := range map[string]config.SecretRef{
		"from-env":    {Env: "TOKEN"},
		"hunter2":     {File: "token"},
		pem:           {File: filepath.Join(dir, "key")},
		"from-config": {Config: "gitToken"},
	} {
		err := (&recorder.Recorder{}).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
			s := secrets{ctx: ctx, cluster: &config.Cluster{File: filepath.Join(dir, "demo.yaml")}, env: map[string]string{"TOKEN": "from-env"}}
			value, err := s.resolve("x", &ref)
			if err != nil {
				return err
			}
			got, err := internals.UnsafeAwaitOutput(ctx.Context(), value.ToStringOutput())
			if err != nil {
				return err
			}
			assert.Check(t, got.Value == want && got.Secret, "%+v: %q, secret %t; expected %q as a secret", ref, got.Value, got.Secret, want)
			return nil
		}, func(info *pulumi.RunInfo) { info.Config = map[string]string{"tombolo:gitToken": "from-config"} })
		assert.Check(t, err, "%+v", ref)
	}
}

// TestSecretsThatAreNotRead: no value of one that is nowhere, and none of one that is there.
func TestSecretsThatAreNotRead(t *testing.T) {
	for _, ref := range []config.SecretRef{{Env: "TOKEN"}, {Env: "NOWHERE"}, {File: "nowhere"}, {Config: "nowhere"}} {
		err := (&recorder.Recorder{}).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
			s := secrets{ctx: ctx, cluster: &config.Cluster{}, env: map[string]string{"TOKEN": "from-env"}, unknown: true}
			value, err := s.resolve("x", &ref)
			if err != nil {
				return err
			}
			got, err := internals.UnsafeAwaitOutput(ctx.Context(), value.ToStringOutput())
			assert.Check(t, !got.Known, "%+v: %v", ref, got)
			return err
		})
		assert.Check(t, err)
	}
}

// TestVariablesThatAreNotThere: an empty one, and what Azure Pipelines writes in the place of one.
func TestVariablesThatAreNotThere(t *testing.T) {
	for _, value := range []string{"", "$(TOKEN)"} {
		_, err := ReadSecret(&config.Cluster{}, map[string]string{"TOKEN": value}, "gitops.auth.password", &config.SecretRef{Env: "TOKEN"})
		assert.ErrorContains(t, err, "the environment variable TOKEN is not set")
	}
}

// TestPreflightOfTheChannel: an address that cannot be right is refused before anything is
// made, and no error shows any of it.
func TestPreflightOfTheChannel(t *testing.T) {
	c := &config.Cluster{Name: "demo", GitOps: config.GitOps{Engine: config.ArgoCD, Hub: "mgmt", Channel: &config.Channel{
		Type: config.TeamsChannel, Address: &config.SecretRef{Env: "TOMBOLO_CHANNEL"},
	}}}
	for address, want := range map[string]string{
		"https://prod.westeurope.logic.azure.com/hunter2": "",
		"": "gitops.channel.address: the environment variable TOMBOLO_CHANNEL is not set",
		"https://contoso.webhook.office.com/hunter2": "gitops.channel.address: it is a connector at webhook.office.com, " +
			"which Microsoft has retired; make a Workflow in the channel, and take its address",
		"http://hooks.example.com/hunter2": "gitops.channel.address: it is http://, and who listens could write to the channel; use https://",
		"hunter2":                          "gitops.channel.address: it is no address of a webhook; give it as https://host/path",
	} {
		got := ""
		if err := Preflight(t.Context(), c, map[string]string{"TOMBOLO_CHANNEL": address}); err != nil {
			got = err.Error()
		}
		assert.Check(t, is.Equal(got, want))
	}
	c.GitOps.Channel.Address = &config.SecretRef{Config: "channel"}
	assert.Check(t, Preflight(t.Context(), c, nil), "Pulumi keeps the address")
}

// TestPreflightOfTheWebhook: a secret that can be tried out is refused before anything is made, and no error shows
// any of it.
func TestPreflightOfTheWebhook(t *testing.T) {
	c := &config.Cluster{Name: "demo", File: filepath.Join(t.TempDir(), "demo.yaml"), GitOps: config.GitOps{
		Engine: config.Flux, Distribution: config.Distribution{Path: "install.yaml"},
		Webhook: &config.Webhook{Type: config.GitHubWebhook, Secret: &config.SecretRef{Env: "TOMBOLO_HOOK"}},
	}}
	files.Write(t, filepath.Join(filepath.Dir(c.File), "install.yaml"), "kind: Namespace\n")
	for token, want := range map[string]string{
		"hunter2-hunter2-hunter2": "",
		"":                        "gitops.webhook.secret: the environment variable TOMBOLO_HOOK is not set",
		"hunter2":                 "gitops.webhook.secret: it is too short to be safe; make one with `openssl rand -hex 32`",
	} {
		got := ""
		if err := Preflight(t.Context(), c, map[string]string{"TOMBOLO_HOOK": token}); err != nil {
			got = err.Error()
		}
		assert.Check(t, is.Equal(got, want))
	}
	c.GitOps.Webhook.Secret = &config.SecretRef{Config: "hook"}
	assert.NilError(t, Preflight(t.Context(), c, nil))
}

func TestWhoWritesToTheChannel(t *testing.T) {
	flux := &config.Cluster{GitOps: config.GitOps{Engine: config.Flux}}
	assert.DeepEqual(t, channelNamespaces(flux), []string{"flux-system"})
	flux.Addons = addon.Selection{config.PrometheusAddon: nil}
	assert.DeepEqual(t, channelNamespaces(flux), []string{"flux-system", "monitoring"})
	flux.GitOps.Engine = config.ArgoCD
	assert.DeepEqual(t, channelNamespaces(flux), []string{"monitoring"})
	flux.Addons = nil
	assert.Check(t, is.Len(channelNamespaces(flux), 0), "only notices of tombolo go there")
}

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
		"no type":     {auth: &config.Auth{}, err: `gitops.auth.type: "" is unknown; expected basic, ssh, github-app or workload-identity`},
	} {
		got, err := GitCredentials(&config.Cluster{GitOps: config.GitOps{Auth: test.auth}}, env, kept)
		switch {
		case test.err != "":
			assert.Check(t, is.ErrorContains(err, test.err), name)
		case err != nil || (got == nil) != (test.auth == nil) || got != nil && *got != test.want:
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// TestGitHubAppCredentials: the driver reads the repository by the App, too, and what is no key
// of an App is told before anything is made, without any of it.
func TestGitHubAppCredentials(t *testing.T) {
	key, _ := samples.SealingKey() // RSA, as that of an App
	c := &config.Cluster{Name: "demo", File: filepath.Join(t.TempDir(), "demo.yaml"), GitOps: config.GitOps{
		Engine: config.Flux, URL: "https://github.example.com/acme/platform.git", Distribution: config.Distribution{Path: "install.yaml"},
		Auth: &config.Auth{Type: config.AuthGitHubApp, AppID: 12, InstallationID: 34, PrivateKey: &config.SecretRef{Env: "TOMBOLO_KEY"}},
	}}
	assert.NilError(t, os.WriteFile(filepath.Join(filepath.Dir(c.File), "install.yaml"), []byte("kind: Namespace\n"), 0o600))
	got, err := GitCredentials(c, map[string]string{"TOMBOLO_KEY": key}, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, &catalog.Credentials{App: &githubapp.App{ID: 12, Installation: 34, Key: key, API: "https://github.example.com/api/v3"}})
	assert.NilError(t, Preflight(t.Context(), c, map[string]string{"TOMBOLO_KEY": key}))
	err = Preflight(t.Context(), c, map[string]string{"TOMBOLO_KEY": "hunter2"})
	assert.Check(t, is.Error(err, "gitops.auth.privateKey is no private key in PEM; take the file that GitHub gave when the key was made"))
	err = Preflight(t.Context(), c, nil)
	assert.Check(t, is.Error(err, "gitops.auth.privateKey: the environment variable TOMBOLO_KEY is not set"))
	c.GitOps.Auth.PrivateKey = &config.SecretRef{Config: "appKey"}
	assert.NilError(t, Preflight(t.Context(), c, nil), "Pulumi keeps the key")
}

// TestPreflightOfTheSealingKey: what is kept outside of Pulumi is held together before
// anything is made, and no error shows any of it. A spoke has a controller, too.
func TestPreflightOfTheSealingKey(t *testing.T) {
	key, certificate := samples.SealingKey()
	c := &config.Cluster{Name: "demo", GitOps: config.GitOps{Engine: config.ArgoCD, Hub: "mgmt", SealedSecrets: &config.SealedSecrets{
		Key: &config.SecretRef{Env: "TOMBOLO_KEY"}, Certificate: &config.SecretRef{Env: "TOMBOLO_CERTIFICATE"},
	}}}
	for _, test := range []struct{ name, key, certificate, want string }{
		{"both are right", key, certificate, ""},
		{"no key", "", certificate, "gitops.sealedSecrets.key: the environment variable TOMBOLO_KEY is not set"},
		{"no certificate", key, "", "gitops.sealedSecrets.certificate: the environment variable TOMBOLO_CERTIFICATE is not set"},
		{"a key that is none", "hunter2", certificate, "gitops.sealedSecrets.key is no private key in PEM without a passphrase"},
	} {
		err := Preflight(t.Context(), c, map[string]string{"TOMBOLO_KEY": test.key, "TOMBOLO_CERTIFICATE": test.certificate})
		if test.want == "" {
			assert.Check(t, err, test.name)
			continue
		}
		assert.Check(t, is.Error(err, test.want), test.name)
		assert.Check(t, !strings.Contains(err.Error(), "hunter2"))
	}
	c.GitOps.SealedSecrets.Key = &config.SecretRef{Config: "sealingKey"}
	assert.Check(t, Preflight(t.Context(), c, map[string]string{"TOMBOLO_CERTIFICATE": certificate}), "Pulumi keeps the key")
}
