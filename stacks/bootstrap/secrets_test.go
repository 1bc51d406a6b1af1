package bootstrap

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"

	"tombolo/components/recorder"
	"tombolo/config"
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
