package addons

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/health"
	"tombolo/automation/kube/kubetest"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/stacks/catalog"
)

// TestTurnedOff: what the last up had and the file has not.
func TestTurnedOff(t *testing.T) {
	c := &config.Cluster{Name: "demo", Addons: addon.Selection{"karpenter": &addon.KarpenterOptions{}}}
	assert.Check(t, is.Len(turnedOff(nil, c), 0), "before the first up")
	off := turnedOff(&backend.State{Deployment: apitype.DeploymentV3{Resources: []apitype.ResourceV3{{
		Type:   "kubernetes:core/v1:ConfigMap",
		Inputs: map[string]any{"metadata": map[string]any{"annotations": map[string]any{catalog.AddonsAnnotation: "external-dns,karpenter"}}},
	}}}}, c)
	assert.DeepEqual(t, off, []string{"external-dns"})
}

// silent is an observer that is told nothing that matters here.
type silent struct{}

func (silent) Waiting(string, string) {}
func (silent) Note(string, string)    {}

const fed = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n" +
	"metadata: {name: dns, namespace: external-dns}\nspec: {valuesFrom: [{kind: ConfigMap, name: external-dns-values}]}"

func TestAwaitNoReleases(t *testing.T) {
	k := kubetest.New(t, kubetest.FluxKinds(), fed)
	s := health.Site{Cluster: &config.Cluster{Name: "demo"}, Own: k, At: k, Observer: silent{}}
	off := []string{"external-dns"}
	err := awaitNoReleases(t.Context(), s, off, time.Millisecond)
	var precondition *fault.Error
	if !errors.As(err, &precondition) || !strings.Contains(err.Error(), "the cluster file turns external-dns off, but after 1ms Flux still has HelmRelease external-dns/dns") ||
		!strings.Contains(precondition.Remedy, "nothing was changed: take the addon out of the platform tree") {
		t.Errorf("a release that stays: %v", err)
	}
	releases := schema.GroupVersionResource{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"}
	assert.NilError(t, k.Client.Resource(releases).Namespace("external-dns").Delete(t.Context(), "dns", metav1.DeleteOptions{}))
	assert.Check(t, awaitNoReleases(t.Context(), s, off, time.Minute), "a release that is gone")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	s.At = kubetest.New(t, kubetest.FluxKinds(), fed)
	err = awaitNoReleases(cancelled, s, off, time.Minute)
	assert.Check(t, errors.Is(err, context.Canceled), "interrupted: %v", err)
}

func TestArgoCDLosesAnAddonBeforeWhatItNeeds(t *testing.T) {
	dns := strings.Replace(kubetest.Application("spoke-external-dns"), "name: spoke-external-dns", "name: spoke-external-dns, labels: {tombolo/addon: external-dns}", 1)
	secret := strings.Replace(kubetest.Registration("spoke", `, addon-external-dns: "on", addon-reloader: "on"`), "metadata: {",
		`metadata: {annotations: {tombolo/values: '{"addons":{"external-dns":{"a":1},"reloader":{}},"cluster":{"region":"r"}}'}, `, 1)
	hub := kubetest.ArgoCD(t, dns, kubetest.Application("spoke-reloader"), secret)
	s := health.Site{Cluster: &config.Cluster{Name: "spoke", GitOps: config.GitOps{Engine: config.ArgoCD, Hub: "mgmt"}}, At: hub, Observer: silent{}}
	h := argocd.Hub{Client: hub.Client}
	assert.NilError(t, h.DropAddons(t.Context(), "spoke", []string{"external-dns"}))
	o, err := hub.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("argocd").Get(t.Context(), "cluster-spoke", metav1.GetOptions{})
	assert.NilError(t, err)
	l := o.GetLabels()
	assert.Check(t, l["addon-external-dns"] == "" && l["addon-reloader"] == "on", "labels are %v", l)
	got, want := o.GetAnnotations()["tombolo/values"], `{"addons":{"reloader":{}},"cluster":{"region":"r"}}`
	assert.Check(t, got == want, "values are %s, want %s", got, want)
	err = awaitNoReleases(t.Context(), s, []string{"external-dns"}, time.Millisecond)
	assert.ErrorContains(t, err, "after 1ms Argo CD still has Application argocd/spoke-external-dns;")
	assert.Check(t, awaitNoReleases(t.Context(), s, []string{"karpenter"}, time.Millisecond), "one that is gone")
}
