package bootstrap

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/tests/samples"
)

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
