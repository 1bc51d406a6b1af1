package contract

import (
	"fmt"
	"slices"
	"strings"
)

// dependent is an object that waits for others of its kind.
type dependent struct {
	manifest
	in        *sync
	dependsOn []reference
}

// name is namespace/name.
func (d dependent) name() string { return d.Metadata.Namespace + "/" + d.Metadata.Name }

// checkOrder looks at dependsOn: for what does not exist, and for itself, Flux
// would wait for ever.
func (w *walk) checkOrder() {
	var kustomizations, releases []dependent
	for _, s := range w.met {
		kustomizations = append(kustomizations, dependent{s.manifest, s.parent, s.Spec.DependsOn})
	}
	for _, r := range w.releases {
		releases = append(releases, dependent{r.manifest, r.in, r.Spec.DependsOn})
	}
	w.checkDependents(kustomizations)
	w.checkDependents(releases)
}

func (w *walk) checkDependents(all []dependent) {
	byName := map[string]dependent{}
	for _, d := range all {
		byName[d.name()] = d
	}
	for _, d := range all {
		for _, ref := range d.dependsOn {
			namespace := ref.in(d.Metadata.Namespace)
			if _, ok := byName[namespace+"/"+ref.Name]; ok || w.incomplete {
				continue
			}
			known := w.inNamespace(d.Kind, namespace)
			w.refer(d.in, d.manifest, dependency(ref), Finding{
				Severity: w.gravity(ref.Name, known),
				Message:  fmt.Sprintf("%s: dependsOn names %s %s/%s, which is not in the tree: Flux would wait for ever", d.identity(), d.Kind, namespace, ref.Name),
				Remedy:   didYouMean(ref.Name, known, w.elsewhere(d.Kind, namespace, ref.Name, "add it to the tree, or remove the dependency")),
			})
		}
	}
	w.checkCircles(byName)
}

func dependency(ref reference) wanted {
	return wanted{path: []string{"spec", "dependsOn", "[]", "name"}, value: ref.Name}
}

// checkCircles reports each circle once, at its first member by name.
func (w *walk) checkCircles(all map[string]dependent) {
	reported := map[string]bool{}
	for _, start := range sortedKeys(all) {
		circle := circleFrom(start, all)
		if circle == nil || reported[start] {
			continue
		}
		for _, name := range circle {
			reported[name] = true
		}
		d := all[start]
		next := circle[1%len(circle)]
		at := slices.IndexFunc(d.dependsOn, func(r reference) bool { return r.in(d.Metadata.Namespace)+"/"+r.Name == next })
		w.refer(d.in, d.manifest, dependency(d.dependsOn[at]), Finding{
			Severity: Error,
			Message:  fmt.Sprintf("dependsOn goes in a circle, in which Flux would wait for ever: %s", strings.Join(append(circle, start), " -> ")),
			Remedy:   "remove one of these dependencies",
		})
	}
}

// circleFrom is the way from an object back to itself, or nil.
func circleFrom(start string, all map[string]dependent) []string {
	seen := map[string]bool{}
	var search func(name string, way []string) []string
	search = func(name string, way []string) []string {
		d := all[name]
		for _, ref := range d.dependsOn {
			next := ref.in(d.Metadata.Namespace) + "/" + ref.Name
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
