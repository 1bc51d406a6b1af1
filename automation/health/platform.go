package health

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
