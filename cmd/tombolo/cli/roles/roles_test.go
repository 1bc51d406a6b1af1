package roles

import (
	"context"
	"encoding/json"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/streams"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/stacks/catalog"
)

func run(t *testing.T, asJSON bool, args ...string) (string, error) {
	t.Helper()
	s, _, out, _ := streams.Test()
	f := &factory.Factory{Streams: s, Globals: &factory.Globals{Output: render.Text}, Programs: catalog.Programs{Roles: made}}
	cmd := NewCmdRoles(f, func(ctx context.Context, o *Options) error {
		o.Clusters = func([]string) ([]*config.Cluster, error) { return []*config.Cluster{{Name: "demo"}}, nil }
		o.JSON = func() bool { return asJSON }
		return rolesRun(ctx, o)
	})
	err := clitest.Execute(t, cmd, args...)
	return out.String(), err
}

// made are a role that has a policy, and one that others have made.
func made(_ *config.Cluster, issuer string) ([]catalog.RoleDocument, error) {
	return []catalog.RoleDocument{
		{Key: "cloud.roles.given.addons.karpenter", Trust: `{"Federated":"` + issuer + `"}`, Policy: `{"Sid":"GiveNodesTheirRole"}`},
		{Key: "cloud.roles.given.nodes", ARN: "arn:aws:iam::111122223333:role/team/nodes", Trust: "{}", PolicyARNs: []string{"arn:aws:iam::aws:policy/A", "arn:aws:iam::aws:policy/B"}},
	}, nil
}

func TestRoles(t *testing.T) {
	got, err := run(t, false, "demo")
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
	got, err := run(t, true, "demo", "--issuer", "https://oidc.eks.eu-central-1.amazonaws.com/id/ABC")
	assert.NilError(t, err)
	var doc document
	assert.NilError(t, json.Unmarshal([]byte(got), &doc))
	assert.Equal(t, doc.Cluster, "demo")
	assert.Equal(t, len(doc.Roles), 2)
	assert.Check(t, is.Contains(doc.Roles[0].Trust, "https://oidc.eks.eu-central-1.amazonaws.com/id/ABC"))
	_, err = run(t, false, "demo", "--issuer", "oidc.eks")
	assert.ErrorContains(t, err, "is no URL")
}
