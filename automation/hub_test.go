package automation

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/hubs"
	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
	"tombolo/config"
	"tombolo/stacks/handoff"
	"tombolo/stacks/owner"
)

// fleet is a driver with a hub and clusters that it can reach.
type fleet struct {
	*bench
	clusters map[string]kube.Cluster
}

func argoCluster(name, hub string) *config.Cluster {
	return &config.Cluster{Name: name, GitOps: config.GitOps{Engine: config.ArgoCD, Hub: hub}}
}

// newFleet is a hub, mgmt, with these objects, and a spoke, both deployed.
func newFleet(t *testing.T, onHub ...string) *fleet {
	t.Helper()
	f := &fleet{bench: newBench(t), clusters: map[string]kube.Cluster{}}
	f.deps.probeTimeout = 10 * time.Millisecond
	f.deps.dial = func(v handoff.Values) (kube.Cluster, error) { return f.clusters[v.ClusterName], nil }
	f.deps.loadHub = func(c *config.Cluster) (*config.Cluster, error) { return argoCluster(c.Hub(), ""), nil }
	f.clusters["mgmt"] = kubetest.ArgoCD(t, append(onHub, kubetest.Registration("mgmt", ""), kubetest.Registration("spoke", ""))...)
	f.clusters["spoke"] = kubetest.ArgoCD(t)
	for _, name := range []string{"mgmt", "spoke"} {
		f.cli.states[name+"-core"] = handedOff(name)
		f.cli.states[name+"-bootstrap"] = registeredWith("mgmt", name)
	}
	return f
}

// handedOff is a core that has a hand-off.
func handedOff(name string) apitype.DeploymentV3 {
	d := withoutHandOff(name + "-core")
	out := map[string]any{"schemaVersion": handoff.SchemaVersion, "cloud": "aws"}
	fields := append(reflect.VisibleFields(reflect.TypeFor[handoff.Values]()), reflect.VisibleFields(reflect.TypeFor[handoff.AWSValues]())...)
	for _, field := range fields {
		if field.Tag.Get("output") == "" {
			continue
		}
		out[field.Tag.Get("output")] = map[reflect.Kind]any{
			reflect.String: name + "-" + field.Name, reflect.Slice: []string{}, reflect.Map: map[string]string{},
		}[field.Type.Kind()]
	}
	out["clusterName"], out["clusterEndpoint"], out["vpcId"] = name, "https://"+name+".test", "vpc-1"
	d.Resources[0].Outputs = out
	d.Resources = append(d.Resources, identity(name))
	return d
}

// identity is the resource that keeps a cluster's identity.
func identity(name string) apitype.ResourceV3 {
	return apitype.ResourceV3{
		URN: resource.URN("urn:pulumi:s::tombolo::" + owner.Type + "::" + owner.ResourceName), Type: owner.Type, Custom: true, ID: "s1",
		Outputs: map[string]any{"output": map[string]any{"id": "identity-of-" + name, "backend": "0123abcd"}},
	}
}

// registeredWith is a bootstrap whose registration is on the hub.
func registeredWith(hub, name string) apitype.DeploymentV3 {
	const provider = "urn:pulumi:s::tombolo::pulumi:providers:kubernetes::hub"
	d := deployed(name + "-bootstrap")
	d.Resources = append(d.Resources, apitype.ResourceV3{
		URN: provider, Type: "pulumi:providers:kubernetes", Custom: true, ID: "p",
		Inputs: map[string]any{"clusterIdentifier": "arn:aws:eks:eu-central-1:111122223333:cluster/" + hub},
	}, apitype.ResourceV3{
		URN: "urn:pulumi:s::tombolo::kubernetes:core/v1:Secret::r", Type: "kubernetes:core/v1:Secret", Custom: true,
		ID: resource.ID("argocd/cluster-" + name), Provider: provider + "::p",
	}, apitype.ResourceV3{
		URN: "urn:pulumi:s::tombolo::kubernetes:core/v1:ConfigMap::c", Type: "kubernetes:core/v1:ConfigMap", Custom: true,
		ID: resource.ID(argoCluster(name, hub).EngineNamespace() + "/infra-config"), Provider: provider + "::p",
	})
	return d
}

// silent has an API answer nothing.
func silent(k kube.Cluster) { kubetest.Fail(k, errors.New("connection refused")) }

func (f *fleet) applications(t *testing.T) string {
	t.Helper()
	all, err := (argocd.Hub{Client: f.clusters["mgmt"].Client}).Applications(t.Context())
	assert.NilError(t, err)
	var names []string
	for _, a := range all {
		names = append(names, a.GetName())
	}
	return strings.Join(names, " ")
}

func wantPrecondition(t *testing.T, err error, want string) {
	t.Helper()
	var precondition *fault.Error
	assert.Check(t, errors.As(err, &precondition) && err.Error() == want, "error is %T\n%v, want\n%s", err, err, want)
}

func TestUpOfASpokeNeedsItsHub(t *testing.T) {
	f := newFleet(t)
	delete(f.cli.states, "mgmt-bootstrap")
	_, err := f.Up(t.Context(), argoCluster("spoke", "mgmt"), UpOptions{})
	wantPrecondition(t, err, "up spoke: its hub mgmt is not there: stack mgmt-bootstrap was not deployed yet; "+
		"nothing was started: run `tombolo up mgmt spoke`, which makes the hub first")
	ops := f.cli.operations()
	assert.Check(t, len(ops) == 0, "the CLI was asked to %v", ops)
}

func TestDestroyOfASpokeDeregistersItFirst(t *testing.T) {
	f := newFleet(t, kubetest.Application("theirs"), strings.Replace(kubetest.Application("others"), "name: spoke", "name: other", 1))
	seen := ""
	f.cli.during = func(operation string) {
		if operation == "destroy spoke-bootstrap" {
			seen = f.applications(t)
		}
	}
	f.mustDestroy(t, argoCluster("spoke", "mgmt"), DestroyOptions{})
	assert.Check(t, seen == "others", "when bootstrap was destroyed the hub had the applications %q", seen)
	assert.DeepEqual(t, f.cli.operations(), []string{"destroy spoke-bootstrap", "destroy spoke-core"})
	assert.Check(t, !slices.Contains(f.cli.env, "PULUMI_K8S_DELETE_UNREACHABLE=true"), "what is unreachable was given up, and nothing was")
	if _, err := f.Destroy(t.Context(), argoCluster("spoke", "mgmt"), DestroyOptions{}); err != nil {
		t.Errorf("again: %v", err)
	}
}

// TestDestroyLeavesAnotherOwnersRegistration: the hub has registered another cluster of
// the name meanwhile. Nothing on the hub is changed, and the state forgets what it had
// there.
func TestDestroyLeavesAnotherOwnersRegistration(t *testing.T) {
	f := newFleet(t, kubetest.Application("theirs"))
	secrets := f.clusters["mgmt"].Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("argocd")
	there, err := secrets.Get(t.Context(), "cluster-spoke", metav1.GetOptions{})
	assert.NilError(t, err)
	there.SetAnnotations(map[string]string{"cluster_owner": "another"})
	_, err = secrets.Update(t.Context(), there, metav1.UpdateOptions{})
	assert.NilError(t, err)
	f.cli.during = func(operation string) {
		st := &backend.State{Deployment: f.cli.states["spoke-bootstrap"]}
		if _, has := hubs.RegistrationOf(st, "spoke"); operation == "destroy spoke-bootstrap" && has {
			t.Error("the destruction would delete the other owner's registration")
		}
	}
	f.mustDestroy(t, argoCluster("spoke", "mgmt"), DestroyOptions{})
	after, err := secrets.Get(t.Context(), "cluster-spoke", metav1.GetOptions{})
	assert.NilError(t, err)
	assert.DeepEqual(t, after.Object, there.Object)
	assert.Check(t, is.Equal(f.applications(t), "theirs"), "the hub has the applications")
	assert.DeepEqual(t, f.seen.notes(), []string{"note spoke-bootstrap: the hub has registered another cluster spoke, whose owner is another: " +
		"its registration and its applications are left alone"})
}

func TestDestroyOfASilentSpoke(t *testing.T) {
	f := newFleet(t, kubetest.Application("theirs"))
	silent(f.clusters["spoke"])
	c := argoCluster("spoke", "mgmt")
	_, err := f.Destroy(t.Context(), c, DestroyOptions{})
	wantPrecondition(t, err, "destroy spoke: the Kubernetes API does not answer (connection refused); nothing was changed: "+
		"bring it back and run the command again; if it is gone for good, run `tombolo destroy spoke --unreachable`, which gives up what is on the cluster")
	assert.Check(t, f.applications(t) == "theirs" && len(f.cli.operations()) == 0,
		"something was changed: %s, %v", f.applications(t), f.cli.operations())
	var env []string
	f.cli.during = func(operation string) {
		if operation == "destroy spoke-bootstrap" {
			env = f.cli.env
		}
	}
	f.mustDestroy(t, c, DestroyOptions{Unreachable: true})
	assert.Check(t, f.applications(t) == "" && slices.Contains(env, "PULUMI_K8S_DELETE_UNREACHABLE=true"),
		"applications are %s; the environment is %v", f.applications(t), env)
	assert.DeepEqual(t, f.seen.notes(), []string{
		"note spoke-bootstrap: the Kubernetes API does not answer (connection refused): what is on the cluster is given up with it",
		"note spoke-bootstrap: Application argocd/theirs is released: what it has made on spoke is not deleted",
	})
}

func TestDestroyOfASpokeWhoseHubIsGone(t *testing.T) {
	f := newFleet(t)
	delete(f.cli.states, "mgmt-core")
	f.mustDestroy(t, argoCluster("spoke", "mgmt"), DestroyOptions{})
	if notes := f.seen.notes(); len(notes) != 1 || notes[0] != "note spoke-bootstrap: hub mgmt is gone: there is nothing to deregister" {
		t.Errorf("notes are %q", notes)
	}
}

func TestDestroyOfASpokeWhoseHubIsSilent(t *testing.T) {
	f := newFleet(t)
	silent(f.clusters["mgmt"])
	_, err := f.Destroy(t.Context(), argoCluster("spoke", "mgmt"), DestroyOptions{})
	wantPrecondition(t, err, "destroy spoke: of its hub mgmt, the Kubernetes API does not answer (connection refused); nothing was changed: "+
		"bring the hub back and run the command again; if the hub is gone for good, run `tombolo destroy mgmt --unreachable` before")
}

func TestDestroyOfAHubWithSpokesIsRefused(t *testing.T) {
	f := newFleet(t)
	_, err := f.Destroy(t.Context(), argoCluster("mgmt", ""), DestroyOptions{})
	wantPrecondition(t, err, "destroy mgmt: it is the hub of spoke; nothing was changed: run `tombolo destroy mgmt spoke`, which takes spokes down before their hub; "+
		"of a cluster that is not Tombolo's, delete the Secret in namespace argocd by which it is registered")
	secrets := f.clusters["mgmt"].Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("argocd")
	assert.NilError(t, secrets.Delete(t.Context(), "cluster-spoke", metav1.DeleteOptions{}))
	if _, err := f.Destroy(t.Context(), argoCluster("mgmt", ""), DestroyOptions{}); err != nil {
		t.Errorf("without spokes: %v", err)
	}
}

func TestDestroyOfASilentHub(t *testing.T) {
	f := newFleet(t)
	silent(f.clusters["mgmt"])
	f.mustDestroy(t, argoCluster("mgmt", ""), DestroyOptions{Unreachable: true})
	assert.DeepEqual(t, f.cli.operations(), []string{"destroy mgmt-bootstrap", "destroy mgmt-core"})
}

// TestDestroyAsksTheHubOfTheState: the file may name another one by now.
func TestDestroyAsksTheHubOfTheState(t *testing.T) {
	f := newFleet(t, kubetest.Application("theirs"))
	f.mustDestroy(t, argoCluster("spoke", "other"), DestroyOptions{})
	assert.Check(t, is.Equal(f.applications(t), ""), "the hub still has an application")
}

func TestUpTakesBackWhatADestroyBegan(t *testing.T) {
	f := newFleet(t)
	hub := argocd.Hub{Client: f.clusters["mgmt"].Client}
	l := argocd.Leaving{Cluster: argocd.Cluster{Name: "spoke"}}
	assert.NilError(t, hub.Deregister(t.Context(), l, argocd.Options{Poll: time.Millisecond}))
	f.mustUp(t, argoCluster("spoke", "mgmt"), UpOptions{Previewed: true})
	want := []string{"up spoke-core", "refresh spoke-bootstrap", "up spoke-bootstrap"}
	assert.DeepEqual(t, f.cli.operations(), want)
	r, err := hub.Registration(t.Context(), "spoke")
	assert.Check(t, err == nil && !r.Leaving() && r.Labels()["tombolo/cluster"] == "spoke", "the registration has %v, %v", r.Labels(), err)
	want = []string{"note spoke-bootstrap: recovered: the registration of spoke with hub mgmt was restored"}
	assert.DeepEqual(t, f.seen.notes(), want)
}

// TestUpMakesARegistrationWhole that an up had begun to turn an addon off in,
// and that was given up.
func TestUpMakesARegistrationWhole(t *testing.T) {
	f := newFleet(t)
	deployment := f.cli.states["spoke-bootstrap"]
	for i, r := range deployment.Resources {
		if r.Type == "kubernetes:core/v1:Secret" {
			deployment.Resources[i].Inputs = map[string]any{"metadata": map[string]any{"labels": map[string]any{"wave": "0", "addon-reloader": "on"}}}
		}
	}
	f.mustUp(t, argoCluster("spoke", "mgmt"), UpOptions{Previewed: true})
	assert.DeepEqual(t, f.cli.operations(), []string{"up spoke-core", "refresh spoke-bootstrap", "up spoke-bootstrap"})
}

func TestPreviewOfASpokeBeforeItsHub(t *testing.T) {
	f := newFleet(t)
	delete(f.cli.states, "mgmt-core")
	f.mustPreview(t, argoCluster("spoke", "mgmt"), PreviewOptions{})
	assert.DeepEqual(t, f.placeholders, []string{"spoke-bootstrap"})
}

func TestProbeSaysWhoIsRefused(t *testing.T) {
	f := newFleet(t)
	kubetest.Fake(f.clusters["spoke"]).PrependReactor("list", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "", errors.New("no"))
	})
	_, err := f.Destroy(t.Context(), argoCluster("spoke", "mgmt"), DestroyOptions{Unreachable: true})
	assert.ErrorContains(t, err, "the Kubernetes API of spoke refuses this identity: ")
}

func TestDestroyInterruptedAtTheProbe(t *testing.T) {
	f := newFleet(t)
	silent(f.clusters["spoke"])
	f.deps.probeTimeout = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := f.Destroy(ctx, argoCluster("spoke", "mgmt"), DestroyOptions{})
	assert.Check(t, errors.Is(err, context.DeadlineExceeded), "error is %v", err)
}

func TestSiteOfASpoke(t *testing.T) {
	f := newFleet(t)
	s, err := f.hubs().Site(t.Context(), argoCluster("spoke", "mgmt"))
	assert.NilError(t, err)
	assert.Check(t, s.Own.Client == f.clusters["spoke"].Client && s.At.Client == f.clusters["mgmt"].Client, "the site is %+v", s)
	if s, err = f.hubs().Site(t.Context(), argoCluster("mgmt", "")); err != nil || s.At.Client != s.Own.Client {
		t.Errorf("the hub's is %+v, %v", s, err)
	}
}
