package bootstrap

import (
	"maps"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/components/infraconfig"
	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/stacks/handoff"
)

// TestRegistrationBeforeTheCluster: a preview without core shows which
// annotations there will be.
func TestRegistrationBeforeTheCluster(t *testing.T) {
	hub := &config.Cluster{Name: "mgmt", GitOps: config.GitOps{Engine: config.ArgoCD, URL: "https://git.example.com/platform.git", Branch: "main"}}
	c := &config.Cluster{
		Name: "demo", Environment: "dev", Cloud: config.Cloud{Provider: config.AWS}, GitOps: config.GitOps{Engine: config.ArgoCD, Hub: "mgmt"},
		Annotations: map[string]string{"contact": "team platform"}, Values: map[string]config.Value{"domain": {Text: "example.com"}},
		Addons: addon.Selection{"metrics-server": nil},
	}
	err := (&recorder.Recorder{}).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		h, err := handoff.Import(ctx, "demo-core", "aws", true)
		if err != nil {
			return err
		}
		published, err := infraconfig.NewInfraConfig(ctx, "demo", infraConfigArgs(c, hub, h, nil))
		if err != nil {
			return err
		}
		p := &program{ctx: ctx, c: c, o: Options{Hub: hub}, h: h, published: published}
		args := p.registrationArgs(h.ClusterEndpoint, nil)
		if got, want := slices.Sorted(maps.Keys(args.Annotations)), c.RegistrationAnnotationKeys(); !slices.Equal(got, want) {
			t.Errorf("annotations %v, expected %v", got, want)
		}
		assert.Check(t, maps.Equal(args.Labels, c.RegistrationLabels()), "labels %v", args.Labels)
		return nil
	}, recorder.Preview)
	assert.Check(t, err)
}
