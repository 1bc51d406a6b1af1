package flux

import (
	"maps"
	"slices"
	"strings"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// dependent is an object that waits for others of its kind.
type dependent struct {
	manifest.Object
	in        *walk.Origin
	dependsOn []reference
}

// name is namespace/name.
func (d dependent) name() string { return d.Metadata.Namespace + "/" + d.Metadata.Name }

// nameOf is namespace/name of one that it waits for.
func (d dependent) nameOf(on reference) string { return on.in(d.Metadata.Namespace) + "/" + on.Name }

// CheckOrder looks at dependsOn: for what does not exist, and for itself, Flux
// would wait for ever.
func (w *Walk) CheckOrder() {
	var kustomizations, releases []dependent
	for _, s := range w.met {
		kustomizations = append(kustomizations, dependent{s.Object, s.origin.Parent, s.Spec.DependsOn})
	}
	for _, r := range w.releases {
		releases = append(releases, dependent{r.Object, r.in, r.Spec.DependsOn})
	}
	w.checkDependents(kustomizations)
	w.checkDependents(releases)
}

func (w *Walk) checkDependents(all []dependent) {
	byName := map[string]dependent{}
	for _, d := range all {
		byName[d.name()] = d
	}
	for _, d := range all {
		for _, ref := range d.dependsOn {
			if _, ok := byName[d.nameOf(ref)]; ok || w.Incomplete {
				continue
			}
			a := w.absent(reference{Kind: d.Kind, Name: ref.Name, Namespace: ref.Namespace}, d.Metadata.Namespace)
			w.Refer(d.in, d.dependency(ref), finding.New(a.gravity(),
				"%s: dependsOn names %s %s/%s, which is not in the tree: Flux would wait for ever", d.Identity(), a.Kind, a.Namespace, a.Name).
				WithRemedy(a.remedy("add it to the tree, or remove the dependency")))
		}
	}
	w.checkCircles(byName)
}

// dependency is the name in the list of what it waits for.
func (d dependent) dependency(on reference) tree.Wanted {
	return tree.Wanted{Object: d.Object, Path: []string{"spec", "dependsOn", "[]", "name"}, Value: on.Name}
}

// checkCircles reports each circle once, at its first member by name.
func (w *Walk) checkCircles(all map[string]dependent) {
	reported := map[string]bool{}
	for _, start := range slices.Sorted(maps.Keys(all)) {
		circle := circleFrom(start, all)
		if circle == nil || reported[start] {
			continue
		}
		for _, name := range circle {
			reported[name] = true
		}
		d := all[start]
		next := circle[1%len(circle)]
		at := slices.IndexFunc(d.dependsOn, func(r reference) bool { return d.nameOf(r) == next })
		w.Refer(d.in, d.dependency(d.dependsOn[at]), finding.Errorf(
			"dependsOn goes in a circle, in which Flux would wait for ever: %s", strings.Join(append(circle, start), " -> ")).
			WithRemedy("remove one of these dependencies"))
	}
}

// circleFrom is the way from an object back to itself, or nil.
func circleFrom(start string, all map[string]dependent) []string {
	seen := map[string]bool{}
	var search func(name string, way []string) []string
	search = func(name string, way []string) []string {
		d := all[name]
		for _, ref := range d.dependsOn {
			next := d.nameOf(ref)
			if next == start {
				return way
			}
			if _, ok := all[next]; !ok || seen[next] {
				continue
			}
			seen[next] = true
			if found := search(next, append(slices.Clip(way), next)); found != nil {
				return found
			}
		}
		return nil
	}
	return search(start, []string{start})
}
