package argocd

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
)

var (
	applications = schema.GroupVersionResource{Group: Group, Version: Version, Resource: "applications"}
	sets         = schema.GroupVersionResource{Group: Group, Version: Version, Resource: "applicationsets"}
	secrets      = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
)

// world is a hub whose Argo CD works a little whenever somebody looks: sets
// make an Application for each cluster that they reach and delete the others,
// parents make their children again, and what is being deleted goes when its
// cluster answers or is not known.
type world struct {
	Hub
	t      *testing.T
	client *fake.FakeDynamicClient
	// dead are clusters whose API does not answer.
	dead []string
	// children that parents declare, by the parent's name.
	children map[string][]string
	// stopped says that Argo CD does nothing.
	stopped bool
	// cascaded are the Applications whose resources were deleted.
	cascaded []string
	made     int
}

func newWorld(t *testing.T, objects ...string) *world {
	t.Helper()
	w := &world{t: t, children: map[string][]string{}}
	w.client = kubetest.Fake(kubetest.ArgoCD(t, objects...))
	w.client.PrependReactor("list", "applications", func(clienttesting.Action) (bool, runtime.Object, error) {
		if !w.stopped {
			w.work()
		}
		return false, nil, nil
	})
	w.client.PrependReactor("delete", "applications", func(a clienttesting.Action) (bool, runtime.Object, error) {
		deletion := a.(clienttesting.DeleteAction)
		return w.deleteLater(deletion.GetNamespace(), deletion.GetName()), nil, nil
	})
	w.Hub = Hub{Client: w.client}
	w.work()
	return w
}

// deleteLater marks an Application that has finalizers.
func (w *world) deleteLater(namespace, name string) bool {
	o := w.get(namespace, name)
	if o == nil || len(o.GetFinalizers()) == 0 {
		return false
	}
	if o.GetDeletionTimestamp() == nil {
		now := metav1.Now()
		o.SetDeletionTimestamp(&now)
		w.update(o)
	}
	return true
}

func (w *world) get(namespace, name string) *unstructured.Unstructured {
	o, err := w.client.Tracker().Get(applications, namespace, name)
	if err != nil {
		return nil
	}
	return o.(*unstructured.Unstructured).DeepCopy()
}

func (w *world) update(o *unstructured.Unstructured) {
	assert.NilError(w.t, w.client.Tracker().Update(applications, o, o.GetNamespace()))
}

func (w *world) all(gvr schema.GroupVersionResource, kind string) []unstructured.Unstructured {
	list, err := w.client.Tracker().List(gvr, schema.GroupVersionKind{Group: gvr.Group, Version: gvr.Version, Kind: kind}, "")
	assert.NilError(w.t, err)
	items := list.(*unstructured.UnstructuredList).Items
	slices.SortFunc(items, func(a, b unstructured.Unstructured) int { return strings.Compare(id(&a), id(&b)) })
	return items
}

// work is a round of Argo CD's controllers.
func (w *world) work() {
	for _, o := range w.all(sets, "ApplicationSet") {
		w.generate(Set{&o})
	}
	for parent, children := range w.children {
		if o := w.get(Namespace, parent); o == nil || o.GetDeletionTimestamp() != nil {
			continue
		}
		for _, child := range children {
			w.create(child, fmt.Sprintf("annotations: {argocd.argoproj.io/tracking-id: %q}", parent+":"+Group+"/Application:argocd/"+child))
		}
	}
	for _, o := range w.all(applications, "Application") {
		if o.GetDeletionTimestamp() != nil {
			w.finish(Application{&o})
		}
	}
}

// generate names Applications <set>-<cluster>. What a list names is there from
// the start, and stays.
func (w *world) generate(s Set) {
	generators, _, _ := unstructured.NestedSlice(s.Object, "spec", "generators")
	if g, _ := generators[0].(map[string]any); g["list"] != nil {
		return
	}
	var desired []string
	for _, o := range w.all(secrets, "Secret") {
		if r := (Registration{&o}); s.Reaches(r.Labels()) {
			name := s.GetName() + "-" + r.Cluster()
			desired = append(desired, name)
			w.create(name, fmt.Sprintf("ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: %s, uid: s}]", s.GetName()))
		}
	}
	for _, o := range w.all(applications, "Application") {
		if (Application{&o}).Set() == s.GetName() && !slices.Contains(desired, o.GetName()) && s.deletes() {
			w.remove(o.GetName())
		}
	}
}

// create makes an Application for the cluster that its name ends in; an app of
// apps is on the hub.
func (w *world) create(name, metadata string) {
	if w.get(Namespace, name) != nil {
		return
	}
	destination := "{name: " + name[strings.LastIndex(name, "-")+1:] + "}"
	if w.children[name] != nil {
		destination = "{server: \"" + InCluster + "\"}"
	}
	w.made++
	o := kubetest.Object(w.t, fmt.Sprintf("apiVersion: argoproj.io/v1alpha1\nkind: Application\n"+
		"metadata: {namespace: argocd, name: %s, finalizers: [%s], %s}\nspec: {destination: %s}", name, resourcesFinalizer, metadata, destination))
	o.SetUID(types.UID(fmt.Sprint(w.made)))
	assert.NilError(w.t, w.client.Tracker().Create(applications, o, Namespace))
}

func (w *world) remove(name string) {
	if w.deleteLater(Namespace, name) {
		return
	}
	assert.NilError(w.t, w.client.Tracker().Delete(applications, Namespace, name))
}

// finish deletes an Application for good, as far as its cluster lets it.
func (w *world) finish(a Application) {
	cluster := kube.Text(a.Unstructured, "spec", "destination", "name")
	switch {
	case len(a.GetFinalizers()) == 0:
	case slices.Contains(w.dead, cluster) && w.known(cluster):
		return
	case len(a.foreignFinalizers()) > 0:
		return
	case a.cascades() && (w.known(cluster) || cluster == ""):
		w.cascaded = append(w.cascaded, a.GetName())
		for _, child := range w.children[a.GetName()] {
			if w.get(Namespace, child) != nil {
				w.remove(child)
			}
		}
	}
	assert.NilError(w.t, w.client.Tracker().Delete(applications, a.GetNamespace(), a.GetName()))
}

func (w *world) known(cluster string) bool {
	return slices.ContainsFunc(w.all(secrets, "Secret"), func(o unstructured.Unstructured) bool {
		return Registration{&o}.Cluster() == cluster && o.GetLabels()[secretType] == secretTypeCluster
	})
}

// left are the names of all Applications.
func (w *world) left() string {
	var out []string
	for _, o := range w.all(applications, "Application") {
		out = append(out, o.GetName())
	}
	return strings.Join(out, " ")
}

func (w *world) registration(cluster string) Registration {
	w.t.Helper()
	o, err := w.client.Tracker().Get(secrets, Namespace, SecretName(cluster))
	assert.NilError(w.t, err)
	return Registration{o.(*unstructured.Unstructured)}
}

// registered is the registration of a cluster with labels.
func registered(name, labels string) string {
	if labels != "" {
		labels = ", " + labels
	}
	return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {namespace: argocd, name: cluster-%s, uid: secret-%s, labels: {%s: cluster%s}}\ndata: {name: %s, server: %s}",
		name, name, secretType, labels, encoded(name), encoded("https://"+name+".test"))
}

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// set is an ApplicationSet with these generators.
func set(name, generators, rest string) string {
	return fmt.Sprintf("apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {namespace: argocd, name: %s%s}\nspec: {generators: %s}", name, rest, generators)
}

// application is one that nobody generates.
func application(name, metadata, destination string) string {
	return fmt.Sprintf("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {namespace: argocd, name: %s%s}\nspec: {destination: {%s}}", name, metadata, destination)
}
