package roles

import (
	"context"
	"encoding/json"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/stacks/catalog"
)

func run(t *testing.T, format render.Format, args ...string) (string, error) {
	t.Helper()
	f := clitest.New(t, format)
	f.Programs = catalog.Programs{Roles: made}
	cmd := NewCmdRoles(f.Factory, func(ctx context.Context, o *Options) error {
		o.Clusters = clitest.Clusters(&config.Cluster{Name: "demo"})
		return rolesRun(ctx, o)
	})
	err := clitest.Execute(t, cmd, args...)
	return f.Out.String(), err
}

// made are a role that has a policy, and one that others have made.
func made(_ *config.Cluster, issuer string) ([]catalog.RoleDocument, error) {
	return []catalog.RoleDocument{
		{Key: "cloud.roles.given.addons.karpenter", Trust: `{"Federated":"` + issuer + `"}`, Policy: `{"Sid":"GiveNodesTheirRole"}`},
		{Key: "cloud.roles.given.nodes", ARN: "arn:aws:iam::111122223333:role/team/nodes", Trust: "{}", PolicyARNs: []string{"arn:aws:iam::aws:policy/A", "arn:aws:iam::aws:policy/B"}},
	}, nil
}

func TestRoles(t *testing.T) {
	got, err := run(t, render.Text, "demo")
	assert.NilError(t, err)
	assert.Equal(t, got, `cloud.roles.given.addons.karpenter
trust policy:
  {
    "Federated": ""
  }
policy:
  {
    "Sid": "GiveNodesTheirRole"
  }

cloud.roles.given.nodes: arn:aws:iam::111122223333:role/team/nodes
trust policy:
  {}
policies of AWS:
  arn:aws:iam::aws:policy/A
  arn:aws:iam::aws:policy/B
`)
}

// TestRolesAsJSON: documents that tools take, with the issuer that is known.
func TestRolesAsJSON(t *testing.T) {
	got, err := run(t, render.JSON, "demo", "--issuer", "https://oidc.eks.eu-central-1.amazonaws.com/id/ABC")
	assert.NilError(t, err)
	var doc document
	assert.NilError(t, json.Unmarshal([]byte(got), &doc))
	assert.Equal(t, doc.Cluster, "demo")
	assert.Equal(t, len(doc.Roles), 2)
	assert.Check(t, is.Contains(doc.Roles[0].Trust, "https://oidc.eks.eu-central-1.amazonaws.com/id/ABC"))
	_, err = run(t, render.Text, "demo", "--issuer", "oidc.eks")
	assert.ErrorContains(t, err, "is no URL")
}
