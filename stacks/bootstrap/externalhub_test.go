package bootstrap

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/components/recorder"
	"tombolo/config"
)

func ofExternalHub() *config.Cluster {
	return &config.Cluster{
		Name: "demo", Cloud: config.Cloud{Provider: config.AWS},
		GitOps: config.GitOps{Engine: config.ArgoCD, ExternalHub: &config.ExternalHub{
			Name: "company-hub", Endpoint: "https://hub.example.com", CertificateAuthority: "Q0E=",
			Token: &config.SecretRef{Env: "TOMBOLO_HUB_TOKEN"},
		}},
	}
}

// provider is the Kubernetes provider of the hub, with a token.
func hubProvider(t *testing.T, token string) recorder.Resource {
	t.Helper()
	r := &recorder.Recorder{}
	assert.NilError(t, r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		p := &program{ctx: ctx, c: ofExternalHub(), o: Options{Env: map[string]string{"TOMBOLO_HUB_TOKEN": token}}}
		_, err := p.connectHub()
		return err
	}))
	return r.OfType("pulumi:providers:kubernetes")[0]
}

// TestExternalHub: the token is a secret, and another one leaves the hub's identity as
// it is.
func TestExternalHub(t *testing.T) {
	for _, token := range []string{"old", "new"} {
		made := hubProvider(t, token)
		made.Expect(t, map[string]string{"clusterIdentifier": "external-hub/company-hub"})
		kubeconfig, _ := made.Value("kubeconfig")
		assert.Assert(t, kubeconfig.IsSecret(), "the kubeconfig with the token is no secret")
		text := kubeconfig.SecretValue().Element.StringValue()
		for _, want := range []string{"token: " + token, "server: https://hub.example.com", "certificate-authority-data: Q0E="} {
			assert.Check(t, strings.Contains(text, want), "no %q in the kubeconfig", want)
		}
		assert.Check(t, !strings.Contains(text, "exec"), "the kubeconfig starts a program")
	}
}

func TestExternalHubNeedsItsToken(t *testing.T) {
	c := ofExternalHub()
	const want = "gitops.externalHub.token: the environment variable TOMBOLO_HUB_TOKEN is not set"
	assert.Error(t, Preflight(t.Context(), c, map[string]string{"TOMBOLO_HUB_TOKEN": ""}), want)
	assert.NilError(t, Preflight(t.Context(), c, map[string]string{"TOMBOLO_HUB_TOKEN": "t0ken"}))
	_, err := HubKubeconfig(c, map[string]string{"TOMBOLO_HUB_TOKEN": ""}, nil)
	assert.ErrorContains(t, err, want)
	c.GitOps.ExternalHub.Token = &config.SecretRef{Config: "hubToken"}
	text, err := HubKubeconfig(c, nil, func(key string) (string, error) { return "value of " + key, nil })
	assert.NilError(t, err)
	assert.Check(t, strings.Contains(string(text), "token: value of hubToken"))
}
