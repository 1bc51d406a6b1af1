package automation

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
	"tombolo/stacks/handoff"
)

const heldService = "apiVersion: v1\nkind: Service\nmetadata: {namespace: shop, name: front, finalizers: [service.kubernetes.io/load-balancer-cleanup]}\nspec: {type: LoadBalancer}"

var kustomizations = schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}

// withFlux is a cluster with Flux's root, and a Service that nobody lets go.
func withFlux(t *testing.T) (kube.Cluster, *fake.FakeDynamicClient) {
	t.Helper()
	k := kubetest.New(t, kubetest.Kinds{{Version: "v1", Kind: "Service"}, kustomizations}, heldService,
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {namespace: flux-system, name: platform}\nspec: {path: ./}")
	client := kubetest.Fake(k)
	client.PrependReactor("delete", "services", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
	return k, client
}

func fluxSuspended(t *testing.T, client *fake.FakeDynamicClient) bool {
	t.Helper()
	resource, _ := meta.UnsafeGuessKindToResource(kustomizations)
	o, err := client.Tracker().Get(resource, "flux-system", "platform")
	assert.NilError(t, err)
	is, _, _ := unstructured.NestedBool(o.(*unstructured.Unstructured).Object, "spec", "suspend")
	return is
}

// TestDrainThatIsGivenUp holds Flux, stops at what is not given back, and leaves
// it to the next up to let Flux go on.
func TestDrainThatIsGivenUp(t *testing.T) {
	b := upped(t)
	k, client := withFlux(t)
	b.deps.dial = func(handoff.Values) (kube.Cluster, error) { return k, nil }
	_, err := b.Destroy(t.Context(), demo(), DestroyOptions{DrainTimeout: 20 * time.Millisecond})
	var stopped *fault.Error
	want := "destroy demo: load balancers were not given back within 20ms: Service shop/front is still there, or was made again; " +
		"look at the logs of the controllers that hold them, resolve the cause, and run the same command again; " +
		"--leftovers delete takes the finalizers off, and deletes in the cloud what is left over then (stacks demo-bootstrap and demo-core were kept)"
	assert.Check(t, errors.As(err, &stopped) && stopped.Class == fault.Deployment && err.Error() == want,
		"error is %T\n%v, want\n%s", err, err, want)
	assert.Check(t, is.Len(b.cli.operations(), 0), "operations were started")
	assert.Check(t, fluxSuspended(t, client), "Flux is not suspended")
	b.mustUp(t, demo(), UpOptions{})
	assert.Check(t, !fluxSuspended(t, client), "Flux is suspended after an up")
	notes := []string{
		"note demo-bootstrap: Flux is stopped: 1 object is suspended",
		"note demo-bootstrap: recovered: Flux goes on, 1 object is no longer suspended",
	}
	assert.DeepEqual(t, b.seen.notes(), notes)
}

func TestDrainOfAClusterThatDoesNotAnswer(t *testing.T) {
	b := upped(t)
	k, client := withFlux(t)
	client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("connection refused")
	})
	b.deps.dial = func(handoff.Values) (kube.Cluster, error) { return k, nil }
	b.deps.probeTimeout = 10 * time.Millisecond
	_, err := b.Destroy(t.Context(), demo(), DestroyOptions{})
	var refused *fault.Error
	assert.Check(t, errors.As(err, &refused) && strings.Contains(err.Error(), "connection refused") && strings.Contains(err.Error(), "tombolo destroy demo --unreachable"),
		"error is %T: %v", err, err)
	assert.Check(t, is.Len(b.cli.operations(), 0), "operations were started")
	b.mustDestroy(t, demo(), DestroyOptions{Unreachable: true})
	assert.Check(t, slices.Contains(b.cli.operations(), "destroy demo-core"), "operations: %v", b.cli.operations())
}
