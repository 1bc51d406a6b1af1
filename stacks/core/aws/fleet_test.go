package aws

import (
	"errors"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/eks"
	"tombolo/components/identity"
	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/config/addon"
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

// TestHubRoleARN follows from the hub's file, or is told by the spoke's.
func TestHubRoleARN(t *testing.T) {
	hub := &config.Cluster{Name: "mgmt", Cloud: config.Cloud{Account: "111122223333"}, GitOps: config.GitOps{Engine: config.ArgoCD}}
	assert.Equal(t, hubRoleARN(hub, "aws"), "arn:aws:iam::111122223333:role/mgmt-argocd")
	const told = "arn:aws:iam::999988887777:role/company-hub-argocd"
	spoke := &config.Cluster{Name: "demo", GitOps: config.GitOps{Engine: config.ArgoCD, ExternalHub: &config.ExternalHub{Name: "company-hub", RoleARN: told}}}
	assert.Equal(t, hubRoleARN(spoke, "aws"), told)
}

// TestGivenRoles: a role that others own has to be there, and one for Pod Identity to trust it.
func TestGivenRoles(t *testing.T) {
	const arn = "arn:aws:iam::111122223333:role/team/orders"
	for _, test := range []struct {
		name, arn, trust string
		missing          bool
		mode             config.IdentityMode
		want             string
	}{
		{name: "there", arn: arn, mode: config.IRSA},
		{name: "trusts", arn: arn, trust: `{"Service":"pods.eks.amazonaws.com","Action":["sts:AssumeRole","sts:TagSession"]}`, mode: config.PodIdentity},
		{name: "missing", missing: true, mode: config.IRSA, want: "have its owner make it, or correct the ARN"},
		{name: "another path", arn: "arn:aws:iam::111122223333:role/orders", mode: config.IRSA, want: "the role of that name is arn:aws:iam::111122223333:role/orders; correct the path"},
		{name: "no trust", arn: arn, trust: `{"Service":"ec2.amazonaws.com"}`, mode: config.PodIdentity, want: "does not name pods.eks.amazonaws.com"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
				"aws:iam/getRole:getRole": func(args resource.PropertyMap) (resource.PropertyMap, error) {
					assert.Check(t, args["name"].StringValue() == "orders")
					if test.missing {
						return nil, errors.New("couldn't find resource")
					}
					return resource.NewPropertyMapFromMap(map[string]any{"arn": test.arn, "assumeRolePolicy": test.trust}), nil
				},
			}}
			err := r.Run("demo-core", func(ctx *pulumi.Context) error {
				s := config.Service{Name: "orders", Identity: &config.Identity{RoleARN: arn, Mode: test.mode}}
				return checkGiven(ctx, &config.Cluster{Services: []config.Service{s}}, "aws", pulumi.Parent(nil))
			})
			if test.want == "" {
				assert.NilError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// TestOwnProviderComesSecond: a cluster cannot be made with a provider that runs on it.
func TestOwnProviderComesSecond(t *testing.T) {
	c := &config.Cluster{
		Addons:     addon.Selection{"authentik": &addon.AuthentikOptions{Host: "id.example.com"}, "istio": addon.Find("istio").NewOptions()},
		Kubernetes: config.Kubernetes{IdentityProvider: &config.IdentityProvider{IssuerURL: "https://id.example.com/application/o/kubernetes/"}},
	}
	err := refuseOwnProvider(c, made{})
	assert.Check(t, is.ErrorContains(err, "is the addon authentik of this cluster"))
	assert.Check(t, is.ErrorContains(err, "add it with a second up"))
	assert.NilError(t, refuseOwnProvider(c, made{asMade()}))
	c.Kubernetes.IdentityProvider.IssuerURL = "https://id.example.org/"
	assert.NilError(t, refuseOwnProvider(c, made{}))
	c.Kubernetes.IdentityProvider = nil
	assert.NilError(t, refuseOwnProvider(c, made{}))
}
