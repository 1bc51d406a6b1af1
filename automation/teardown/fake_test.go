package teardown

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"tombolo/automation/kube/kubetest"
)

// world is a cluster whose controllers work a little whenever somebody looks.
type world struct {
	Cluster
	t      *testing.T
	client *fake.FakeDynamicClient
	known  map[schema.GroupVersionResource]schema.GroupVersionKind
	// alive are the finalizers that a controller takes off.
	alive []string
	// makes are objects that are made when they are missing, by the name of the
	// object that must be there for it.
	makes map[string][]string
	// provisioned are volumes that go when their claim has.
	provisioned map[string]string
	// seen are notes and waits, and deletions and patches, in order.
	notes, deleted, patched []string
	waits                   []string
}

// worldKinds are the kinds of the world's API, in the versions that it has.
func worldKinds() kubetest.Kinds {
	var all kubetest.Kinds
	for version, kinds := range map[schema.GroupVersion][]string{
		{Version: "v1"}:                                       {"Service", "Pod", "PersistentVolumeClaim", "PersistentVolume", "Namespace"},
		{Group: "apps", Version: "v1"}:                        {"StatefulSet", "Deployment"},
		{Group: "monitoring.coreos.com", Version: "v1"}:       {"Prometheus"},
		{Group: "networking.k8s.io", Version: "v1"}:           {"Ingress"},
		{Group: "karpenter.sh", Version: "v1"}:                {"NodePool", "NodeClaim"},
		{Group: "kustomize.toolkit.fluxcd.io", Version: "v1"}: {"Kustomization"},
		{Group: "helm.toolkit.fluxcd.io", Version: "v2"}:      {"HelmRelease"},
		{Group: "apiextensions.k8s.io", Version: "v1"}:        {"CustomResourceDefinition"},
		{Group: "external-secrets.io", Version: "v1"}:         {"ExternalSecret"},
		{Group: "storage.azure.com", Version: "v1"}:           {"StorageAccount"},
	} {
		for _, kind := range kinds {
			all = append(all, version.WithKind(kind))
		}
	}
	return all
}

func newWorld(t *testing.T, objects ...string) *world {
	t.Helper()
	w := &world{t: t, known: map[schema.GroupVersionResource]schema.GroupVersionKind{}, makes: map[string][]string{}, provisioned: map[string]string{}}
	for _, kind := range worldKinds() {
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		w.known[resource] = kind
	}
	w.Cluster = Cluster{kubetest.New(t, worldKinds())}
	w.client = kubetest.Fake(w.Cluster.Cluster)
	for _, text := range objects {
		assert.NilError(t, w.client.Tracker().Add(parse(t, text)))
	}
	w.client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		w.work()
		return false, nil, nil
	})
	w.client.PrependReactor("delete", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		w.deleteLater(a.(clienttesting.DeleteAction))
		return true, nil, nil
	})
	w.client.PrependReactor("patch", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		p := a.(clienttesting.PatchAction)
		w.patched = append(w.patched, p.GetName()+" "+string(p.GetPatch()))
		return false, nil, nil
	})
	return w
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := kubetest.Object(t, text)
	if o.GetUID() == "" {
		o.SetUID(types.UID(nameOf(o)))
	}
	return o
}

// all are the objects that there are, with the resources they are of.
func (w *world) all() map[*unstructured.Unstructured]schema.GroupVersionResource {
	w.t.Helper()
	out := map[*unstructured.Unstructured]schema.GroupVersionResource{}
	for gvr, gvk := range w.known {
		list, err := w.client.Tracker().List(gvr, gvk, "")
		assert.NilError(w.t, err)
		items, err := meta.ExtractList(list)
		assert.NilError(w.t, err)
		for _, item := range items {
			out[item.(*unstructured.Unstructured).DeepCopy()] = gvr
		}
	}
	return out
}

// names of all objects, sorted.
func (w *world) names() []string {
	out := []string{}
	for o := range w.all() {
		out = append(out, nameOf(o))
	}
	slices.Sort(out)
	return out
}

func (w *world) get(name string) *unstructured.Unstructured {
	for o := range w.all() {
		if nameOf(o) == name {
			return o
		}
	}
	return nil
}

// work is what the controllers do between two looks.
func (w *world) work() {
	for o, gvr := range w.all() {
		owner := metav1.GetControllerOf(o)
		switch {
		case o.GetDeletionTimestamp() != nil:
			w.finalize(o, gvr)
		case owner != nil && !strings.Contains(strings.Join(w.names(), " "), owner.Kind+" "+o.GetNamespace()+"/"+owner.Name):
			w.mark(o, gvr)
		}
	}
	for claim, volume := range w.provisioned {
		for o, gvr := range w.all() {
			if nameOf(o) == volume && w.get(claim) == nil {
				w.must(w.client.Tracker().Delete(gvr, "", o.GetName()))
			}
		}
	}
	for owner, made := range w.makes {
		if w.get(owner) == nil {
			continue
		}
		for _, text := range made {
			if o := parse(w.t, text); w.get(nameOf(o)) == nil {
				gvr, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
				w.must(w.client.Tracker().Create(gvr, o, o.GetNamespace()))
			}
		}
	}
}

// finalize takes the finalizers of living controllers off.
func (w *world) finalize(o *unstructured.Unstructured, gvr schema.GroupVersionResource) {
	left := slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return slices.Contains(w.alive, f) })
	if len(left) == 0 {
		w.must(w.client.Tracker().Delete(gvr, o.GetNamespace(), o.GetName()))
		return
	}
	o.SetFinalizers(left)
	w.must(w.client.Tracker().Update(gvr, o, o.GetNamespace()))
}

func (w *world) mark(o *unstructured.Unstructured, gvr schema.GroupVersionResource) {
	now := metav1.NewTime(time.Unix(1, 0))
	o.SetDeletionTimestamp(&now)
	w.must(w.client.Tracker().Update(gvr, o, o.GetNamespace()))
}

func (w *world) deleteLater(a clienttesting.DeleteAction) {
	for o, gvr := range w.all() {
		if gvr == a.GetResource() && o.GetName() == a.GetName() && o.GetNamespace() == a.GetNamespace() {
			w.deleted = append(w.deleted, nameOf(o))
			w.mark(o, gvr)
		}
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	assert.NilError(w.t, err)
}

// options for tests: looks in quick succession.
func (w *world) options() Options {
	return Options{
		Timeout: 10 * time.Second, Poll: time.Millisecond,
		Waiting: func(s string) {
			if !slices.Contains(w.waits, s) {
				w.waits = append(w.waits, s)
			}
		},
		Note: func(s string) { w.notes = append(w.notes, s) },
	}
}

// spec of an object, as JSON.
func (w *world) spec(name string) string {
	raw, err := json.Marshal(w.get(name).Object["spec"])
	w.must(err)
	return string(raw)
}
