package automation

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/automation/argocd"
	"tombolo/automation/fault"
	"tombolo/automation/health"
	"tombolo/automation/kube/kubetest"
	"tombolo/config/addon"
	"tombolo/stacks/catalog"
)

// bootstrapped puts a bootstrap stack with these addons into the backend.
func bootstrapped(b *bench, addons string) {
	d := deployed("demo-bootstrap")
	d.Resources = append(d.Resources, apitype.ResourceV3{
		URN: "urn:pulumi:s::tombolo::kubernetes:core/v1:ConfigMap::g", Type: "kubernetes:core/v1:ConfigMap", Custom: true, ID: "g",
		Inputs: map[string]any{"metadata": map[string]any{"annotations": map[string]any{catalog.AddonsAnnotation: addons}}},
	})
	b.cli.states["demo-bootstrap"] = d
}

func TestTurnedOffIsWhatTheLastUpHadAndTheFileHasNot(t *testing.T) {
	b := newBench(t)
	c := demo()
	if off, err := b.turnedOff(t.Context(), c); err != nil || off != nil {
		t.Errorf("before the first up: %v, %v", off, err)
	}
	bootstrapped(b, "external-dns,karpenter")
	c.Addons = addon.Selection{"karpenter": &addon.KarpenterOptions{}}
	off, err := b.turnedOff(t.Context(), c)
	if err != nil || strings.Join(off, ",") != "external-dns" {
		t.Errorf("turned off are %v, %v", off, err)
	}
}

func TestUpRefusesBeforeItStartsWhenTheClusterCannotBeAsked(t *testing.T) {
	b := newBench(t)
	bootstrapped(b, "external-dns")
	if _, err := b.Up(t.Context(), demo(), UpOptions{}); err == nil {
		t.Error("up went on")
	}
	if ops := b.cli.operations(); len(ops) > 0 {
		t.Errorf("the CLI was asked to %v", ops)
	}
}

func TestPreviewNotesWhatIsTurnedOff(t *testing.T) {
	b := newBench(t)
	bootstrapped(b, "external-dns")
	_, err := b.Preview(t.Context(), demo(), PreviewOptions{})
	assert.NilError(t, err)
	if said := strings.Join(b.seen.notes(), "\n"); !strings.Contains(said, "note demo: turns off external-dns: up waits until Flux has removed the releases") {
		t.Errorf("observer was told %q", said)
	}
}

const fed = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n" +
	"metadata: {name: dns, namespace: external-dns}\nspec: {valuesFrom: [{kind: ConfigMap, name: external-dns-values}]}"

func TestAwaitNoReleases(t *testing.T) {
	k := kubetest.New(t, kubetest.FluxKinds(), fed)
	s := health.Site{Cluster: demo(), Own: k, At: k, Observer: noObserver{}}
	off := []string{"external-dns"}
	err := awaitNoReleases(t.Context(), s, off, time.Millisecond)
	var precondition *fault.Error
	if !errors.As(err, &precondition) || !strings.Contains(err.Error(), "the cluster file turns external-dns off, but after 1ms Flux still has HelmRelease external-dns/dns") ||
		!strings.Contains(precondition.Remedy, "nothing was changed: take the addon out of the platform tree") {
		t.Errorf("a release that stays: %v", err)
	}
	releases := schema.GroupVersionResource{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"}
	assert.NilError(t, k.Client.Resource(releases).Namespace("external-dns").Delete(t.Context(), "dns", metav1.DeleteOptions{}))
	if err := awaitNoReleases(t.Context(), s, off, time.Minute); err != nil {
		t.Errorf("a release that is gone: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	s.At = kubetest.New(t, kubetest.FluxKinds(), fed)
	if err := awaitNoReleases(cancelled, s, off, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestArgoCDLosesAnAddonBeforeWhatItNeeds(t *testing.T) {
	dns := strings.Replace(kubetest.Application("spoke-external-dns"), "name: spoke-external-dns", "name: spoke-external-dns, labels: {tombolo/addon: external-dns}", 1)
	secret := strings.Replace(kubetest.Registration("spoke", `, addon-external-dns: "on", addon-reloader: "on"`), "metadata: {",
		`metadata: {annotations: {tombolo/values: '{"addons":{"external-dns":{"a":1},"reloader":{}},"cluster":{"region":"r"}}'}, `, 1)
	hub := kubetest.ArgoCD(t, dns, kubetest.Application("spoke-reloader"), secret)
	s := health.Site{Cluster: argoCluster("spoke", "mgmt"), At: hub, Observer: noObserver{}}
	h := argocd.Hub{Client: hub.Client}
	assert.NilError(t, h.DropAddons(t.Context(), "spoke", []string{"external-dns"}))
	o, err := hub.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("argocd").Get(t.Context(), "cluster-spoke", metav1.GetOptions{})
	assert.NilError(t, err)
	if l := o.GetLabels(); l["addon-external-dns"] != "" || l["addon-reloader"] != "on" {
		t.Errorf("labels are %v", l)
	}
	if got, want := o.GetAnnotations()["tombolo/values"], `{"addons":{"reloader":{}},"cluster":{"region":"r"}}`; got != want {
		t.Errorf("values are %s, want %s", got, want)
	}
	err = awaitNoReleases(t.Context(), s, []string{"external-dns"}, time.Millisecond)
	assert.ErrorContains(t, err, "after 1ms Argo CD still has Application argocd/spoke-external-dns;")
	if err := awaitNoReleases(t.Context(), s, []string{"karpenter"}, time.Millisecond); err != nil {
		t.Errorf("one that is gone: %v", err)
	}
}
