package contract

import (
	"fmt"
	"maps"
	"slices"

	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// substitute does what postBuild does with the objects of a build, and meets
// what comes out. What is missing is said once for the whole build.
func (w *walk) substitute(s *sync, objects []object) {
	missing := map[string]how{}
	literal := map[string]bool{}
	broken := false
	for _, o := range objects {
		text := o.text
		all, err := uses(text)
		switch {
		case o.disabled:
		case !s.vars.substituting:
			for _, u := range all {
				literal[u.name] = true
			}
		case err != nil:
			broken = true
		default:
			w.count(s, all, missing)
			text, _ = s.vars.evaluate(text) // it parsed just now, and nothing else fails
		}
		w.take(s, text, o)
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		w.missingVariable(s, name, missing[name])
	}
	for _, name := range slices.Sorted(maps.Keys(literal)) {
		w.literalVariable(s, name)
	}
	if broken {
		w.occurring(s, func(bool) finder { return badFinder }, Finding{
			Severity: Error,
			Message:  fmt.Sprintf("Flux cannot substitute this: it starts like a variable and is none, so %s stops", s.identity()),
			Remedy:   "write $${ for a literal ${, or label the object " + disabled + ": disabled",
		})
	}
}

// count takes note of the variables that are used, and of those that are not
// there with the gravest of their uses.
func (w *walk) count(s *sync, all []use, missing map[string]how) {
	for _, u := range all {
		if _, ok := w.published.Variables[u.name]; ok {
			w.used[u.name] = true
		}
		if s.vars.has(u.name) {
			continue
		}
		missing[u.name] = max(missing[u.name], u.how) // of none, the least grave
	}
}

func (w *walk) missingVariable(s *sync, name string, h how) {
	f := Finding{Severity: Error, Remedy: w.variableAdvice(s, name)}
	switch h {
	case plain:
		f.Message = fmt.Sprintf("${%s} is not published: %s stops at it", name, s.identity())
	case changed:
		f.Message = fmt.Sprintf("${%s} is not published: what is made of it becomes empty, and Flux does not say so", name)
	case defaulted:
		if w.somebodyPublishes(name) != "" {
			return
		}
		f.Severity = Warning
		f.Message = fmt.Sprintf("${%s} has a default, and no cluster publishes it", name)
		f.Remedy = didYouMean(name, s.vars.names(), "write the default in its place, or publish the variable: add it to the cluster file's values")
	}
	w.occurring(s, func(escaped bool) finder { return variableFinder(name, escaped) }, f)
}

func (w *walk) variableAdvice(s *sync, name string) string {
	if other := w.somebodyPublishes(name); other != "" {
		if other == w.published.Cluster {
			return fmt.Sprintf("%s has it: add that to the substituteFrom of %s", names.InfraConfig, s.identity())
		}
		return fmt.Sprintf("cluster %s publishes it: add it to this cluster's file too, or give it a default, ${%s:=…}", other, name)
	}
	return didYouMean(name, s.vars.names(), fmt.Sprintf("add %s to the values of the cluster file, or give it a default, ${%s:=…}", name, name))
}

// somebodyPublishes returns a cluster that publishes a variable: this one, or
// the first of the others.
func (w *walk) somebodyPublishes(name string) string {
	for _, p := range append([]Published{w.published}, w.everyone...) {
		if _, ok := p.Variables[name]; ok {
			return p.Cluster
		}
	}
	return ""
}

// literalVariable warns of a variable that looks like a published one, where
// nothing substitutes it. Shell scripts are full of others.
func (w *walk) literalVariable(s *sync, name string) {
	_, published := w.published.Variables[name]
	if !published && wording.Nearest(name, slices.Sorted(maps.Keys(w.published.Variables))) == "" {
		return
	}
	w.occurring(s, func(escaped bool) finder { return variableFinder(name, escaped) }, Finding{
		Severity: Warning,
		Message:  fmt.Sprintf("${%s} is not substituted here: %s has no postBuild with variables", name, s.identity()),
		Remedy:   "add postBuild.substituteFrom, or label the object " + disabled + ": disabled if it is meant as it is",
	})
}

// take decodes an object and takes note of what the check has to follow.
func (w *walk) take(s *sync, text string, before object) {
	m, err := decode[manifest](text)
	if err == nil {
		err = w.stock.add(m, text)
	}
	switch {
	case err != nil:
	case m.group() == kustomizeGroup && m.Kind == "Kustomization":
		var k kustomization
		if k, err = decode[kustomization](text); err == nil {
			w.meet(&sync{kustomization: k, parent: s, followed: ownSource(k)})
		}
	case m.group() == helmGroup && m.Kind == "HelmRelease":
		var r release
		if r, err = decode[release](text); err == nil {
			w.releases = append(w.releases, releaseMet{r, s})
		}
	}
	if err == nil {
		return
	}
	if m, err := decode[manifest](before.text); err == nil {
		at := wanted{path: []string{"metadata", "name"}, value: m.Metadata.Name}
		w.refer(s, m, at, Finding{
			Severity: Error,
			Message:  fmt.Sprintf("%s cannot be read once its variables are substituted", m.identity()),
			Remedy:   "put the values that are substituted into quotes, and give every field the type that it has to have",
		})
	}
}

// ownSource says whether a Kustomization follows this tree.
func ownSource(k kustomization) bool {
	ref := k.Spec.SourceRef
	return ref.Kind == "GitRepository" && ref.Name == names.Platform && ref.in(k.Metadata.Namespace) == names.FluxNamespace
}
