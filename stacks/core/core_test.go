package core

import (
	"encoding/json"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/stacks/catalog"
)

func TestUnknownCloud(t *testing.T) {
	err := new(recorder.Recorder).Run("demo-core", func(ctx *pulumi.Context) error {
		return Run(ctx, &config.Cluster{Name: "demo", Cloud: config.Cloud{Provider: "acme"}}, nil, "")
	})
	assert.Check(t, is.ErrorContains(err, `core of demo: cloud provider "acme" is not known; use aws or azure`))
}

// TestRoles: others can make every role in place of core.
func TestRoles(t *testing.T) {
	c := &config.Cluster{
		Name: "demo", Cloud: config.Cloud{Provider: config.AWS, Region: "eu-central-1", Account: "111122223333"},
		Kubernetes: config.Kubernetes{Addons: []config.ManagedAddon{{Name: "vpc-cni"}}},
		Addons:     addon.Selection{"karpenter": addon.Find("karpenter").NewOptions()},
	}
	c.Addons.SetDefaults()
	c.Cloud.Roles.Given.Nodes = "arn:aws:iam::111122223333:role/team/nodes"
	roles, err := Roles(c, "")
	assert.NilError(t, err)
	byKey := map[string]catalog.RoleDocument{}
	var keys []string
	for _, r := range roles {
		keys, byKey[r.Key] = append(keys, r.Key), r
		assert.Check(t, json.Valid([]byte(r.Trust)), r.Key)
	}
	cluster, nodes, karpenter := "cloud.roles.given.cluster", "cloud.roles.given.nodes", "cloud.roles.given.addons.karpenter"
	assert.DeepEqual(t, keys, []string{cluster, nodes, karpenter, karpenter + "-node"})
	assert.DeepEqual(t, byKey[cluster].PolicyARNs, []string{"arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"})
	assert.Equal(t, byKey[nodes].ARN, c.Cloud.Roles.Given.Nodes)
	assert.Check(t, is.Contains(byKey[karpenter].Trust, "arn:aws:iam::111122223333:oidc-provider/"+catalog.IssuerPlace))
	assert.Check(t, is.Contains(byKey[karpenter].Trust, "system:serviceaccount:kube-system:karpenter"))
	assert.Check(t, is.Contains(byKey[karpenter].Policy, "GiveNodesTheirRole"))
	roles, err = Roles(c, "https://oidc.eks.eu-central-1.amazonaws.com/id/ABC")
	assert.NilError(t, err)
	assert.Check(t, is.Contains(roles[2].Trust, "oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/ABC"))
}
