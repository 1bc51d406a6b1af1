package plan

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// clusters is a cloud that has nothing but clusters.
type clusters struct{}

func (clusters) Danger(token, _ string) Danger {
	if token == "aws:eks/cluster:Cluster" {
		return ClusterDanger
	}
	return ""
}

func TestDangerOf(t *testing.T) {
	for _, test := range []struct {
		token, id string
		want      Danger
	}{
		{"aws:eks/cluster:Cluster", "demo", ClusterDanger},
		{"kubernetes:core/v1:Namespace", "loki", DataDanger},
		{"kubernetes:core/v1:Secret", "argocd/cluster-demo", RegistrationDanger},
		{"kubernetes:core/v1:ConfigMap", "flux-system/infra-config", InfraConfigDanger},
		{"kubernetes:core/v1:Secret", "argocd/other", ""},
		{"kubernetes:core/v1:Secret", "default/cluster-demo", ""},
		{"kubernetes:core/v1:ConfigMap", "flux-system/values", ""},
	} {
		for _, op := range Ops() {
			want := test.want
			if op != Delete && op != Replace {
				want = ""
			}
			assert.Check(t, is.Equal(dangerOf(clusters{}, Resource{Type: test.token, ID: test.id, Op: op}), want),
				"%s of %s %s", op, test.token, test.id)
		}
	}
}
