package aws

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"

	"tombolo/components/eks"
	"tombolo/components/identity"
	"tombolo/components/recorder"
	"tombolo/config"
)

func member(name, hub, account string, credentials config.Credentials) *config.Cluster {
	return &config.Cluster{
		Name: name, Cloud: config.Cloud{Provider: config.AWS, Region: "eu-central-1", Account: account},
		GitOps: config.GitOps{Engine: config.ArgoCD, Hub: hub, ArgoCD: config.ArgoCDOptions{Credentials: credentials}},
	}
}

// TestHubPolicy holds what a hub's Argo CD may do in the cloud to a file, and to
// the roles of spokes in the accounts that the file names.
func TestHubPolicy(t *testing.T) {
	hub := member("mgmt", "mgmt", "111122223333", "")
	hub.GitOps.ArgoCD.Accounts = []string{"222233334444"}
	list := hubStatements(hub, "aws")
	document, err := identity.Document(list)
	assert.NilError(t, err)
	recorder.Golden(t, "fleet/hub.json", document)
	for _, s := range list {
		for _, action := range s.Actions {
			assert.Check(t, !strings.Contains(action, "*"), "action %s is more than one", action)
		}
		for _, resource := range s.Resources {
			account := strings.Split(resource, ":")[4]
			assert.Check(t, !strings.Contains(account, "*") && account != "" && strings.HasSuffix(resource, ":role/*-argocd-spoke"),
				"resource %s is not the spokes' roles of one account", resource)
		}
	}
}

// TestFleetRoles: what the hand-off says about each kind of cluster.
func TestFleetRoles(t *testing.T) {
	hub := member("mgmt", "mgmt", "111122223333", "")
	for name, test := range map[string]struct {
		c                    *config.Cluster
		argocd, registration string // ends of the ARNs
	}{
		"flux":  {&config.Cluster{Name: "old", GitOps: config.GitOps{Engine: config.Flux}}, "", ""},
		"hub":   {hub, "mgmt-argocd-role", ""},
		"spoke": {member("demo", "mgmt", "111122223333", config.CredentialsAWS), "", "demo-hub-role"},
		"token": {member("demo", "mgmt", "111122223333", config.CredentialsServiceAccount), "", ""},
	} {
		text := func(s string) pulumi.StringOutput { return pulumi.String(s).ToStringOutput() }
		r := &recorder.Recorder{}
		err := r.Run("demo-core", func(ctx *pulumi.Context) error {
			cluster := &eks.Cluster{Name: text("demo"), ARN: text("arn"), OIDCProviderARN: text("arn:oidc"), OIDCIssuer: text("https://oidc")}
			roles, err := makeFleetRoles(ctx, test.c, hub, "aws", cluster)
			if err != nil {
				return err
			}
			for _, output := range []struct {
				got  pulumi.StringOutput
				want string
			}{{roles.argocd, test.argocd}, {roles.registration, test.registration}} {
				result, err := internals.UnsafeAwaitOutput(ctx.Context(), output.got)
				if err != nil {
					return err
				}
				if got, _ := result.Value.(string); !strings.HasSuffix(got, output.want) || (got == "") != (output.want == "") {
					t.Errorf("%s: role %q, expected one that ends with %q", name, got, output.want)
				}
			}
			return nil
		})
		assert.Check(t, err)
		if name == "hub" {
			trust := r.OfType("aws:iam/role:Role")[0].String("assumeRolePolicy")
			recorder.Golden(t, "fleet/hub-trust.json", trust)
		}
	}
}
