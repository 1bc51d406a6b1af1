package automation

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/automation/argocd"
	"tombolo/automation/fault"
	"tombolo/config/addon"
	"tombolo/stacks/bootstrap"
)

const (
	labelled = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: istiod, namespace: istio-system, labels: {tombolo/addon: istio}}
`
	fed = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: dns, namespace: external-dns}
spec:
  valuesFrom:
    - {kind: ConfigMap, name: external-dns-values}
`
)

func TestReleasesOfAnAddon(t *testing.T) {
	elsewhere := strings.Replace(fed, "namespace: external-dns", "namespace: other", 1)
	k := fakeCluster(t, nil, labelled, fed, elsewhere)
	for addon, want := range map[string]string{
		"istio":        "HelmRelease istio-system/istiod",
		"external-dns": "HelmRelease external-dns/dns",
		"karpenter":    "",
	} {
		got, err := k.releasesOf(t.Context(), []string{addon})
		if err != nil || strings.Join(got, ", ") != want {
			t.Errorf("%s: %v, %v; want %q", addon, got, err, want)
		}
	}
	if got, err := fakeCluster(t, []string{"HelmRelease"}).releasesOf(t.Context(), []string{"istio"}); err != nil || got != nil {
		t.Errorf("without the kind: %v, %v", got, err)
	}
}

// bootstrapped puts a bootstrap stack with these addons into the backend.
func bootstrapped(b *bench, addons string) {
	d := deployed("demo-bootstrap")
	d.Resources = append(d.Resources, apitype.ResourceV3{
		URN: "urn:pulumi:s::tombolo::kubernetes:core/v1:ConfigMap::g", Type: "kubernetes:core/v1:ConfigMap", Custom: true, ID: "g",
		Inputs: map[string]any{"metadata": map[string]any{"annotations": map[string]any{bootstrap.AddonsAnnotation: addons}}},
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
	if _, err := b.Preview(t.Context(), demo(), PreviewOptions{}); err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(b.seen.notes(), "\n"); !strings.Contains(said, "note demo: turns off external-dns: up waits until Flux has removed the releases") {
		t.Errorf("observer was told %q", said)
	}
}

func TestAwaitNoReleases(t *testing.T) {
	b := newBench(t)
	k := fakeCluster(t, nil, fed)
	off := []string{"external-dns"}
	err := b.awaitNoReleases(t.Context(), demo(), fluxOn(k), off, time.Millisecond)
	var precondition *fault.Precondition
	if !errors.As(err, &precondition) || !strings.Contains(err.Error(), "the cluster file turns external-dns off, but after 1ms Flux still has HelmRelease external-dns/dns") ||
		!strings.Contains(precondition.Remedy, "nothing was changed: take the addon out of the platform tree") {
		t.Errorf("a release that stays: %v", err)
	}
	releases := schema.GroupVersionResource{Group: helmGroup, Version: "v2", Resource: "helmreleases"}
	if err := k.dynamic.Resource(releases).Namespace("external-dns").Delete(t.Context(), "dns", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := b.awaitNoReleases(t.Context(), demo(), fluxOn(k), off, time.Minute); err != nil {
		t.Errorf("a release that is gone: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.awaitNoReleases(cancelled, demo(), fluxOn(fakeCluster(t, nil, fed)), off, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestArgoCDLosesAnAddonBeforeWhatItNeeds(t *testing.T) {
	dns := strings.Replace(onSpoke("spoke-external-dns"), "name: spoke-external-dns", "name: spoke-external-dns, labels: {tombolo/addon: external-dns}", 1)
	secret := strings.Replace(registered("spoke", `, addon-external-dns: "on", addon-reloader: "on"`), "metadata: {",
		`metadata: {annotations: {tombolo/values: '{"addons":{"external-dns":{"a":1},"reloader":{}},"cluster":{"region":"r"}}'}, `, 1)
	s := spokeOn(t, dns, onSpoke("spoke-reloader"))
	hub := argoCD(t, dns, onSpoke("spoke-reloader"), secret)
	s.at = hub
	h := argocd.Hub{Client: hub.dynamic}
	if err := h.DropAddons(t.Context(), "spoke", []string{"external-dns"}); err != nil {
		t.Fatal(err)
	}
	o, err := hub.dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("argocd").Get(t.Context(), "cluster-spoke", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if l := o.GetLabels(); l["addon-external-dns"] != "" || l["addon-reloader"] != "on" {
		t.Errorf("labels are %v", l)
	}
	if got, want := o.GetAnnotations()["tombolo/values"], `{"addons":{"reloader":{}},"cluster":{"region":"r"}}`; got != want {
		t.Errorf("values are %s, want %s", got, want)
	}
	b := newBench(t)
	err = b.awaitNoReleases(t.Context(), argoCluster("spoke", "mgmt"), s, []string{"external-dns"}, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "after 1ms Argo CD still has Application argocd/spoke-external-dns;") {
		t.Errorf("an application that stays: %v", err)
	}
	if err := b.awaitNoReleases(t.Context(), argoCluster("spoke", "mgmt"), s, []string{"karpenter"}, time.Millisecond); err != nil {
		t.Errorf("one that is gone: %v", err)
	}
}
