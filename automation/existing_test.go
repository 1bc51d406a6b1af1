package automation

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/backend"
	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
	"tombolo/config"
	"tombolo/stacks/handoff"
)

// adopted is a cluster that others own.
func adopted(engine config.Engine) *config.Cluster {
	c := demo()
	c.Kubernetes.Existing = &config.ExistingCluster{Name: "theirs"}
	c.GitOps.Engine = engine
	return c
}

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
			b := upped(t)
			ours, err := b.oursOf(t.Context(), adopted(config.Flux), &backend.State{Deployment: apitype.DeploymentV3{Resources: test.made}})
			assert.NilError(t, err)
			assert.Check(t, is.Equal(ours.TakenOver, test.want))
			said := slices.Contains(b.seen.notes(), "note demo-bootstrap: the engine in the namespace flux-system was there before, and stays")
			assert.Check(t, is.Equal(said, test.want))
		})
	}
}

// TestApplicationsOfAClusterOfOthers are told as Argo CD marks what they have made.
func TestApplicationsOfAClusterOfOthers(t *testing.T) {
	b := upped(t)
	k := kubetest.ArgoCD(t, kubetest.Application("shop"), strings.Replace(kubetest.Application("shop"), "namespace: argocd", "namespace: team", 1))
	b.dial = func(handoff.Values) (kube.Cluster, error) { return k, nil }
	got, err := b.applications(t.Context(), adopted(config.ArgoCD))
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(got, []string{"shop", "team_shop"}))
	for _, c := range []*config.Cluster{adopted(config.Flux), demo()} {
		got, err = b.applications(t.Context(), c)
		assert.NilError(t, err)
		assert.Check(t, is.Len(got, 0))
	}
}
