package argocd

import (
	"context"
	"slices"
)

// view is what a hub has at one moment.
type view struct {
	applications map[string]Application // by namespace/name
	sets         map[string]Set
	order        []string // of the applications
}

func (h Hub) look(ctx context.Context) (*view, error) {
	applications, err := h.Applications(ctx)
	if err != nil {
		return nil, err
	}
	sets, err := h.Sets(ctx)
	if err != nil {
		return nil, err
	}
	v := &view{applications: map[string]Application{}, sets: map[string]Set{}}
	for _, a := range applications {
		v.applications[id(a)] = a
		v.order = append(v.order, id(a))
	}
	for _, s := range sets {
		v.sets[id(s)] = s
	}
	return v, nil
}

// of lists the cluster's Applications.
func (v *view) of(l Leaving) []Application {
	var out []Application
	for _, name := range v.order {
		if a := v.applications[name]; l.Hub || a.IsOf(l.Cluster) {
			out = append(out, a)
		}
	}
	return out
}

// set is the ApplicationSet that keeps the Application: one that makes it, and
// would delete it if it made it no more.
func (v *view) set(a Application) (Set, bool) {
	if a.Set() == "" {
		return Set{}, false
	}
	s, ok := v.sets[a.GetNamespace()+"/"+a.Set()]
	return s, ok && s.deletes()
}

// parent is the Application that declares the Application.
func (v *view) parent(a Application) (Application, bool) {
	p, ok := v.applications[Parent(a.Unstructured)]
	return p, ok && id(p) != id(a)
}

// goes says that the set goes with the leaving Applications: one of them
// declares it, or it is being deleted.
func (v *view) goes(s Set, leaving []Application) bool {
	return s.GetDeletionTimestamp() != nil ||
		slices.ContainsFunc(leaving, func(a Application) bool { return id(a) == Parent(s.Unstructured) })
}

// keeper is what would make the Application again if it were deleted, and
// whether that goes too: an ApplicationSet, or the Application that declares
// it. Without one the Application is free.
func (v *view) keeper(a Application, leaving []Application) (name string, goes bool) {
	if s, ok := v.set(a); ok {
		return s.String(), v.goes(s, leaving)
	}
	if p, ok := v.parent(a); ok {
		return p.String(), p.deleting() || slices.ContainsFunc(leaving, func(a Application) bool { return id(a) == id(p) })
	}
	return "", false
}

// insisting are the ApplicationSets that will go on to make an Application of
// the leaving cluster, or the one that declares it, when its registration has
// these labels.
func (v *view) insisting(l Leaving, labels map[string]string) []string {
	leaving := v.of(l)
	var out []string
	for _, a := range leaving {
		s, ok := v.set(a)
		if p, declared := v.parent(a); !ok && declared {
			s, ok = v.set(p)
		}
		if ok && s.Reaches(labels) && !v.goes(s, leaving) && !slices.Contains(out, s.String()) {
			out = append(out, s.String())
		}
	}
	return out
}

// Leaving is a cluster that leaves a hub.
type Leaving struct {
	Cluster
	// Hub says that the cluster is the hub itself: every Application that is
	// left there is its own.
	Hub bool
	// LetGo leaves what the Applications have made where it is. Argo CD loses
	// its access first, so that it can delete nothing.
	LetGo bool
}
