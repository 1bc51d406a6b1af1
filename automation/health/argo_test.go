package health

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"tombolo/automation/kube/kubetest"
	"tombolo/config"
)

const (
	rootApplication = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {namespace: argocd, name: platform}
spec: {source: {repoURL: "http://git.test/p.git", targetRevision: main, path: clusters/lab}, destination: {server: "https://kubernetes.default.svc", namespace: argocd}}
status:
  health: {status: Healthy, lastTransitionTime: "2026-01-02T03:04:05Z"}
  operationState: {phase: Succeeded, message: successfully synced}
  resources: [{group: argoproj.io, kind: ApplicationSet, namespace: argocd, name: promtail, status: Synced}]
  sync:
    status: Synced
    revision: abc
    comparedTo: {source: {repoURL: "http://git.test/p.git", targetRevision: main, path: clusters/lab}, destination: {server: "https://kubernetes.default.svc", namespace: argocd}}
`
	promtailSet = `
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {namespace: argocd, name: promtail}
spec: {generators: [{clusters: {selector: {matchLabels: {logging: "on"}}}}]}
status:
  conditions:
    - {type: ErrorOccurred, status: "False", reason: ApplicationSetUpToDate, message: all good}
    - {type: ResourcesUpToDate, status: "True", reason: ApplicationSetUpToDate, message: all good}
`
	promtailApp = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {namespace: argocd, name: promtail-spoke, ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: promtail, uid: x}]}
spec: {source: {repoURL: "http://charts.test", chart: promtail, targetRevision: 1.0.0, helm: {parameters: []}}, destination: {name: spoke, namespace: monitoring}}
status:
  health: {status: Healthy}
  sync:
    status: Synced
    revision: 1.0.0
    comparedTo: {source: {repoURL: "http://charts.test", chart: promtail, targetRevision: 1.0.0}, destination: {name: spoke, namespace: monitoring}}
`
	other = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {namespace: argocd, name: promtail-other}
spec: {destination: {name: other}}
`
	spokeInfra = `
apiVersion: v1
kind: ConfigMap
metadata: {namespace: tombolo, name: infra-config}
data: {vpc_id: vpc-1}
`
)

func argoCluster(name, hub string) *config.Cluster {
	return &config.Cluster{Name: name, GitOps: config.GitOps{Engine: config.ArgoCD, Hub: hub}}
}

// spokeOn is the spoke, and a hub with the objects.
func spokeOn(t *testing.T, objects ...string) Site {
	t.Helper()
	hub := kubetest.ArgoCD(t, append(objects, kubetest.Registration("mgmt", ""), kubetest.Registration("spoke", `, logging: "on"`))...)
	return Site{
		Cluster: argoCluster("spoke", "mgmt"), Own: kubetest.ArgoCD(t, spokeInfra), At: hub,
		Values: core, Observer: &witness{},
	}
}

func TestVerifyASpokeLooksAtItsHub(t *testing.T) {
	s := spokeOn(t, rootApplication, promtailSet, promtailApp, other)
	v, err := s.await(t.Context(), Options{Timeout: time.Second, Revision: "abc"})
	assert.NilError(t, err)
	assert.DeepEqual(t, checked(v), []string{
		"ConfigMap tombolo/infra-config true ",
		"ApplicationSet argocd/promtail true ",
		"Application argocd/platform true abc",
		"Application argocd/promtail-spoke true 1.0.0",
		"Secret argocd/cluster-spoke true ",
	})
	s.Cluster = argoCluster("mgmt", "")
	s.Own = kubetest.ArgoCD(t, strings.Replace(spokeInfra, "namespace: tombolo", "namespace: argocd", 1))
	v, err = s.await(t.Context(), Options{Timeout: time.Millisecond})
	assert.Check(t, err != nil && slices.ContainsFunc(v.Checks, func(c Check) bool { return c.Name == "promtail-other" }),
		"of a hub all is looked at; error %v, checks %v", err, v.Checks)
}

func TestVerifyNamesTheFirstCauseInArgoCD(t *testing.T) {
	change := func(text string, pairs ...string) string {
		out := strings.NewReplacer(pairs...).Replace(text)
		assert.Assert(t, out != text, "nothing changed by %q", pairs)
		return out
	}
	failed := change(promtailApp, "status: Synced\n", "status: OutOfSync\n", "health: {status: Healthy}", "health: {status: Missing}\n"+
		"  operationState: {phase: Failed, message: one or more objects failed, syncResult: {revision: 1.0.0, resources: ["+
		"{kind: Namespace, name: monitoring, status: Synced}, {kind: DaemonSet, namespace: monitoring, name: promtail, status: SyncFailed, message: quota exceeded}]}}")
	for _, test := range []struct {
		name    string
		objects []string
		want    string
	}{
		{"no root", []string{promtailSet, promtailApp}, "Application argocd/platform: there is no root Application"},
		{
			"a set fails, and what is declared by it waits",
			[]string{
				change(rootApplication, "health: {status: Healthy", "health: {status: Degraded"), promtailApp,
				change(promtailSet, `ErrorOccurred, status: "False", reason: ApplicationSetUpToDate, message: all good`, `ErrorOccurred, status: "True", reason: RenderTemplateParamsError, message: no entry for key`),
			},
			"ApplicationSet argocd/promtail: RenderTemplateParamsError: no entry for key",
		},
		{"a set that has not made all", []string{rootApplication, promtailSet}, "ApplicationSet argocd/promtail: has made 0 Applications for 1 cluster that its generators reach"},
		{"a set that nobody reconciled", []string{rootApplication, promtailApp, promtailSet[:strings.Index(promtailSet, "status:")]}, "ApplicationSet argocd/promtail: not reconciled yet: is Argo CD's ApplicationSet controller running?"},
		{"a sync that failed", []string{rootApplication, promtailSet, failed}, "Application argocd/promtail-spoke: sync failed: DaemonSet monitoring/promtail: quota exceeded"},
		{
			"an older failure, and nothing since",
			[]string{rootApplication, promtailSet, change(failed, "revision: 1.0.0, resources", "revision: 0.9.0, resources")},
			"Application argocd/promtail-spoke: OutOfSync",
		},
		{
			"a comparison that failed",
			[]string{rootApplication, promtailSet, change(promtailApp, "health: {status: Healthy}", "conditions: [{type: ComparisonError, message: no such chart}]")},
			"Application argocd/promtail-spoke: ComparisonError: no such chart",
		},
		{
			"degraded",
			[]string{rootApplication, promtailSet, change(promtailApp, "health: {status: Healthy}", "health: {status: Degraded}\n  resources: [{kind: DaemonSet, namespace: monitoring, name: promtail, health: {status: Degraded, message: no node}}]")},
			"Application argocd/promtail-spoke: Degraded: DaemonSet monitoring/promtail is Degraded: no node",
		},
		{"never compared", []string{rootApplication, promtailSet, promtailApp[:strings.Index(promtailApp, "status:")]}, "Application argocd/promtail-spoke: not compared with Git yet: is Argo CD's application controller running?"},
		{"another version since", []string{rootApplication, promtailSet, change(promtailApp, "1.0.0, helm", "1.1.0, helm")}, "Application argocd/promtail-spoke: its latest change is not compared with the cluster yet"},
		{"asked", []string{rootApplication, promtailSet, change(promtailApp, "name: promtail-spoke,", "name: promtail-spoke, annotations: {argocd.argoproj.io/refresh: normal},")}, "Application argocd/promtail-spoke: was asked to look at Git now and has not yet"},
		{"an older commit", []string{change(rootApplication, "revision: abc", "revision: def"), promtailSet, promtailApp, strings.NewReplacer("name: platform", "name: spoke-apps, labels: {tombolo/cluster: spoke}").Replace(rootApplication)}, "Application argocd/spoke-apps: is at revision abc, and the root at def"},
		{"running", []string{rootApplication, promtailSet, change(promtailApp, "health: {status: Healthy}", "health: {status: Healthy}\n  operationState: {phase: Running, message: waiting for wave -1}")}, "Application argocd/promtail-spoke: is being synced: waiting for wave -1"},
		{"running behind", []string{rootApplication, promtailSet, change(promtailApp, "health: {status: Healthy}", "health: {status: Healthy}\n  operationState: {phase: Running, startedAt: \"2026-01-02T03:04:05Z\", message: waiting for wave -1, syncResult: {revision: old}}")}, "Application argocd/promtail-spoke: is being synced to old since 03:04:05 UTC: waiting for wave -1; 1.0.0 is not synced before this ends"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := spokeOn(t, test.objects...).await(t.Context(), Options{Timeout: time.Millisecond})
			var failed *Error
			assert.Assert(t, errors.As(err, &failed), "error is %T: %v", err, err)
			got := v.Cause.String()
			assert.Check(t, got == test.want, "cause is\n%s, want\n%s", got, test.want)
		})
	}
}

// TestVerifyMissesWhatALabelTurnsOn: the addons of the label monitoring each have an Application of the cluster's
// own. Those of another cluster do not count.
func TestVerifyMissesWhatALabelTurnsOn(t *testing.T) {
	of := func(addon, cluster string) string {
		return strings.NewReplacer(
			"name: promtail-spoke,", "name: "+addon+"-"+cluster+", labels: {tombolo/addon: "+addon+"},", "ApplicationSet, name: promtail", "ApplicationSet, name: "+addon,
			"destination: {name: spoke,", "destination: {name: "+cluster+",",
		).Replace(promtailApp)
	}
	objects := []string{rootApplication, promtailSet, promtailApp}
	for _, addon := range []string{"kube-prometheus-stack", "loki", "alloy"} {
		objects = append(objects, of(addon, "spoke"))
	}
	for cluster, want := range map[string]string{
		"other": "Addon monitoring/event-exporter: the cluster's label monitoring turns it on, and Argo CD has no release of it",
		"spoke": "",
	} {
		s := spokeOn(t, append(objects, of("event-exporter", cluster))...)
		s.Cluster.Labels = map[string]string{"monitoring": "on"}
		v, err := s.await(t.Context(), Options{Timeout: time.Millisecond})
		if want == "" {
			assert.NilError(t, err)
			continue
		}
		assert.Check(t, is.ErrorContains(err, "1 of 9 checks not passed"))
		assert.Check(t, is.ErrorContains(err, want+"; put its folder into the lists of the platform tree"))
		assert.Check(t, is.Equal(v.Cause.String(), want))
	}
	hub := argoCluster("mgmt", "") // whose Argo CD has the Applications of its spokes, too
	hub.Labels = map[string]string{"monitoring": "on"}
	p, err := engineOf(hub).look(t.Context(), spokeOn(t, objects...).At)
	assert.NilError(t, err)
	assert.Check(t, is.Len(slices.DeleteFunc(p.engine.missing(p), func(c Check) bool { return c.Kind != addonKind }), 4))
}

// TestTheRootsHealthIsNoMatterOfASpoke: it is that of all clusters.
func TestTheRootsHealthIsNoMatterOfASpoke(t *testing.T) {
	s := spokeOn(t, strings.Replace(rootApplication, "{status: Healthy,", "{status: Degraded,", 1), promtailSet, promtailApp)
	if _, err := s.await(t.Context(), Options{Timeout: time.Millisecond}); err != nil {
		t.Errorf("of the spoke: %v", err)
	}
}

func TestVerifyOfAClusterThatTheHubDoesNotKnow(t *testing.T) {
	c := argoCluster("spoke", "mgmt")
	s := Site{Cluster: c, Own: kubetest.ArgoCD(t, spokeInfra), At: kubetest.ArgoCD(t, rootApplication), Values: core, Observer: &witness{}}
	v, err := s.await(t.Context(), Options{Timeout: time.Millisecond})
	want := "Secret argocd/cluster-spoke: does not exist: the hub does not know the cluster"
	assert.Check(t, err != nil && v.Cause.String() == want, "cause is %v, error %v", v.Cause, err)
}

func TestArgoCDIsAskedForTheClustersApplicationsAlone(t *testing.T) {
	s := spokeOn(t, rootApplication, promtailSet, promtailApp, other)
	var asked []string
	kubetest.Fake(s.At).PrependReactor("patch", "applications", func(a clienttesting.Action) (bool, runtime.Object, error) {
		patch := a.(clienttesting.PatchActionImpl)
		assert.Check(t, strings.Contains(string(patch.Patch), `"argocd.argoproj.io/refresh":"normal"`) && !strings.Contains(string(patch.Patch), "spec") && patch.PatchOptions.FieldManager == fetchManager,
			"patched by %s: %s", patch.PatchOptions.FieldManager, patch.Patch)
		asked = append(asked, patch.Name)
		return true, kubetest.Object(t, other), nil
	})
	assert.NilError(t, engineOf(s.Cluster).fetch(t.Context(), s.At, time.Now(), false))
	got := strings.Join(asked, " ")
	assert.Check(t, got == "platform promtail-spoke", "asked for %s", got)
}

// TestVerifyAsksAgain: a comparison that failed is one that Argo CD repeats at its interval, which is
// longer than anybody waits. What is ready, or being synced, is left alone.
func TestVerifyAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := strings.Replace(promtailApp, "health: {status: Healthy}", "conditions: [{type: ComparisonError, message: connection refused}]", 1)
		busy := strings.NewReplacer("promtail-spoke", "busy", "health: {status: Healthy}", "operationState: {phase: Running}").Replace(promtailApp)
		s := spokeOn(t, rootApplication, promtailSet, failed, busy)
		asked := map[string]int{}
		kubetest.Fake(s.At).PrependReactor("patch", "applications", func(a clienttesting.Action) (bool, runtime.Object, error) {
			asked[a.(clienttesting.PatchActionImpl).Name]++
			return true, kubetest.Object(t, other), nil
		})
		_, err := s.Verify(t.Context(), Options{Timeout: time.Minute})
		assert.Check(t, is.ErrorContains(err, "2 of 6 checks not passed"))
		assert.Check(t, is.DeepEqual(asked, map[string]int{"platform": 1, "busy": 1, "promtail-spoke": 3}))
	})
}

func TestEngineOf(t *testing.T) {
	name := EngineName(&config.Cluster{})
	assert.Check(t, name == "Flux", "without an engine: %s", name)
}
