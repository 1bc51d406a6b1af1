package destroy

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/backend"
	"tombolo/automation/kube/kubetest"
	"tombolo/automation/operation"
	"tombolo/config"
)

// adopted is a cluster that others own.
func adopted(engine config.Engine) *config.Cluster {
	c := &config.Cluster{Name: "demo"}
	c.Kubernetes.Existing = &config.ExistingCluster{Name: "theirs"}
	c.GitOps.Engine = engine
	return c
}

// notes are an observer's.
type notes struct {
	operation.Observer
	lines []string
}

func (n *notes) Note(stack, message string) { n.lines = append(n.lines, stack+": "+message) }

// TestEngineThatWasThere: whether bootstrap made the engine's namespace tells whose the
// engine is, also when the first up failed.
func TestEngineThatWasThere(t *testing.T) {
	namespace := func(name string) apitype.ResourceV3 {
		return apitype.ResourceV3{Type: "kubernetes:core/v1:Namespace", Custom: true, ID: resource.ID(name)}
	}
	for name, test := range map[string]struct {
		made []apitype.ResourceV3
		want bool
	}{
		"ours":   {[]apitype.ResourceV3{namespace("reports"), namespace("flux-system")}, false},
		"theirs": {[]apitype.ResourceV3{namespace("reports")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var notes notes
			d := Destroyer{Runner: &operation.Runner{Observer: &notes}, Live: func(context.Context, *config.Cluster) (*config.Live, error) { return nil, nil }}
			ours, err := d.oursOf(t.Context(), adopted(config.Flux), &backend.State{Deployment: apitype.DeploymentV3{Resources: test.made}})
			assert.NilError(t, err)
			assert.Check(t, is.Equal(ours.TakenOver, test.want))
			said := slices.Contains(notes.lines, "demo-bootstrap: the engine in the namespace flux-system was there before, and stays")
			assert.Check(t, is.Equal(said, test.want))
		})
	}
}

// TestApplicationsOfAClusterOfOthers are told as Argo CD marks what they have made.
func TestApplicationsOfAClusterOfOthers(t *testing.T) {
	k := kubetest.ArgoCD(t, kubetest.Application("shop"), strings.Replace(kubetest.Application("shop"), "namespace: argocd", "namespace: team", 1))
	got, err := applicationsOn(t.Context(), k)
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(got, []string{"shop", "team_shop"}))
	for _, c := range []*config.Cluster{adopted(config.Flux), {Name: "demo"}} {
		got, err = Destroyer{}.applications(t.Context(), c)
		assert.NilError(t, err)
		assert.Check(t, is.Len(got, 0))
	}
}
