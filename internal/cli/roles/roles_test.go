package roles

import (
	"context"
	"encoding/json"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/cli/clitest"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/streams"
	"tombolo/internal/render"
)

func run(t *testing.T, asJSON bool, args ...string) (string, error) {
	t.Helper()
	s, _, out, _ := streams.Test()
	f := &factory.Factory{Streams: s, Globals: &factory.Globals{Output: render.Text}}
	cmd := NewCmdRoles(f, func(ctx context.Context, o *Options) error {
		karpenter := addon.Find("karpenter")
		o.Clusters = func([]string) ([]*config.Cluster, error) {
			c := &config.Cluster{
				Name: "demo", Cloud: config.Cloud{Provider: config.AWS, Region: "eu-central-1", Account: "111122223333"},
				Kubernetes: config.Kubernetes{Addons: []config.ManagedAddon{{Name: "vpc-cni"}}},
				Addons:     addon.Selection{"karpenter": karpenter.NewOptions()},
			}
			c.Addons.SetDefaults()
			c.Cloud.Roles.Given.Nodes = "arn:aws:iam::111122223333:role/team/nodes"
			return []*config.Cluster{c}, nil
		}
		o.JSON = func() bool { return asJSON }
		return rolesRun(ctx, o)
	})
	err := clitest.Execute(t, cmd, args...)
	return out.String(), err
}

func TestRoles(t *testing.T) {
	got, err := run(t, false, "demo")
	assert.NilError(t, err)
	for _, want := range []string{
		"cloud.roles.given.cluster\ntrust policy:\n  {\n    \"Version\": \"2012-10-17\",",
		"policies of AWS:\n  arn:aws:iam::aws:policy/AmazonEKSClusterPolicy\n\ncloud.roles.given.nodes: arn:aws:iam::111122223333:role/team/nodes\n",
		"cloud.roles.given.addons.karpenter\n",
		`"Federated": "arn:aws:iam::111122223333:oidc-provider/OIDC_ISSUER"`,
		"system:serviceaccount:kube-system:karpenter",
		`"Sid": "GiveNodesTheirRole"`,
		"cloud.roles.given.addons.karpenter-node\ntrust policy:\n",
	} {
		assert.Check(t, is.Contains(got, want))
	}
}

// TestRolesAsJSON: documents that tools take, with the issuer that is known.
func TestRolesAsJSON(t *testing.T) {
	got, err := run(t, true, "demo", "--issuer", "https://oidc.eks.eu-central-1.amazonaws.com/id/ABC")
	assert.NilError(t, err)
	var doc document
	assert.NilError(t, json.Unmarshal([]byte(got), &doc))
	assert.Equal(t, doc.Cluster, "demo")
	var keys []string
	for _, r := range doc.Roles {
		keys = append(keys, r.Key)
		assert.Check(t, json.Valid([]byte(r.Trust)), r.Key)
	}
	assert.DeepEqual(t, keys, []string{
		"cloud.roles.given.cluster", "cloud.roles.given.nodes", "cloud.roles.given.addons.karpenter", "cloud.roles.given.addons.karpenter-node",
	})
	assert.Check(t, is.Contains(doc.Roles[2].Trust, "oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/ABC"))
	_, err = run(t, false, "demo", "--issuer", "oidc.eks")
	assert.ErrorContains(t, err, "is no URL")
}
