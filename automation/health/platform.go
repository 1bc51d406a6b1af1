package health

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/automation/kube"
)

// ref names an engine's object.
type ref struct {
	Kind, Namespace, Name string
}

func refOf(o *unstructured.Unstructured) ref {
	return ref{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

func (r ref) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }

// platform is the engine's objects for a cluster at one moment.
type platform struct {
	engine  engine
	objects map[ref]*unstructured.Unstructured
	// order of the objects: by kind, causes before effects, then by name.
	order []ref
	// apart are the objects that deliver teams' systems, by the system.
	apart map[string][]ref
	// refusals are why the last try failed of those that are being tried again.
	refusals map[ref]string
}

func newPlatform(e engine, objects []unstructured.Unstructured) *platform {
	p := &platform{engine: e, objects: map[ref]*unstructured.Unstructured{}}
	for i := range objects {
		r := refOf(&objects[i])
		p.objects[r] = &objects[i]
		p.order = append(p.order, r)
	}
	return p
}

// only keeps the object of root, and what it waits for directly or by others.
func (p *platform) only(root ref) {
	kept := map[ref]bool{}
	var keep func(ref)
	keep = func(r ref) {
		if o, found := p.objects[r]; found && !kept[r] {
			kept[r] = true
			for _, need := range p.engine.needs(o) {
				keep(need)
			}
		}
	}
	keep(root)
	p.order = slices.DeleteFunc(p.order, func(r ref) bool { return !kept[r] })
	maps.DeleteFunc(p.objects, func(r ref, _ *unstructured.Unstructured) bool { return !kept[r] })
}

// engine is what verify has to know of a GitOps engine.
type engine interface {
	// name for people.
	name() string
	// look finds the engine's objects for the cluster that is verified; k is the
	// cluster that the engine is in.
	look(ctx context.Context, k kube.Cluster) (*platform, error)
	// fetch asks the engine to look at the platform's repository now; again, for what is at
	// rest and not ready alone.
	fetch(ctx context.Context, k kube.Cluster, at time.Time, again bool) error
	// repository is the object whose revision is the repository's.
	repository() ref
	// check judges one object.
	check(p *platform, o *unstructured.Unstructured) Check
	// missing are checks about what is not there.
	missing(p *platform) []Check
	// releases lists what the engine has for addons of the cluster.
	releases(ctx context.Context, k kube.Cluster, addons []string) ([]string, error)
	// needs lists what an object waits for.
	needs(o *unstructured.Unstructured) []ref
	// system judges one of the systems of teams.
	system(p *platform, name string) System
}

// fetchManager owns the annotation by which an engine is asked to fetch, and
// nothing else of the object.
const fetchManager = "tombolo-verify"

// platformName is the name of the Git repository that bootstrap sets up.
const platformName = "platform"
