package flux

import (
	"maps"
	"slices"
	"strings"

	"tombolo/check/inventory"
	"tombolo/check/published"
	"tombolo/check/substitution"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/names"
)

// Walk follows the tree of a cluster with Flux.
type Walk struct {
	*walk.Walk
	// pending are the Kustomizations that were met and not yet built, met all
	// of them.
	pending, met []*sync
	releases     []releaseMet
	namespaces   []namespaceMet
	channels     []channelMet
	// inventory is what bootstrap makes, and what the tree makes as far as it
	// was followed.
	inventory inventory.Inventory
}

// New returns a walk that has everything before it.
func New(w *walk.Walk) *Walk {
	return &Walk{Walk: w, inventory: madeByBootstrap(w.Published)}
}

func madeByBootstrap(p published.Set) inventory.Inventory {
	examples := p.Examples()
	out := inventory.Inventory{
		{Kind: "ConfigMap", Namespace: names.FluxNamespace, Name: names.InfraConfig}: {
			Keys: slices.Sorted(maps.Keys(examples)), Values: examples, Published: true,
		},
		{Kind: "GitRepository", Namespace: names.FluxNamespace, Name: names.Platform}: {},
		{Kind: "Kustomization", Namespace: names.FluxNamespace, Name: names.Platform}: {},
	}
	for _, o := range p.Objects {
		out[inventory.ID{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}] = inventory.Entry{Keys: o.Keys, Published: true}
	}
	return out
}

// sync is a Flux Kustomization on the way.
type sync struct {
	kustomization
	// origin is where the objects of its build come from.
	origin *walk.Origin
	vars   substitution.Variables
}

// newSync is a Kustomization that a build holds; the first one is in none.
func newSync(in *walk.Origin, k kustomization) *sync {
	s := &sync{kustomization: k}
	s.origin = &walk.Origin{Parent: in, Object: k.Object, Path: k.Spec.Path, Evaluate: s.plain}
	return s
}

// plain is a text of the files after substitution, or the text itself when it
// cannot be substituted.
func (s *sync) plain(text string) string {
	if !s.vars.Substituting || !strings.Contains(text, "$") {
		return text
	}
	out, err := s.vars.Evaluate(text)
	if err != nil {
		return text
	}
	return out
}

// wanted is a value of the Kustomization.
func (s *sync) wanted(value string, path ...string) tree.Wanted {
	return tree.Wanted{Object: s.Object, Path: path, Value: value}
}

// releaseMet is a HelmRelease and the build that holds it.
type releaseMet struct {
	release
	in *walk.Origin
}

// find returns a ConfigMap or Secret that bootstrap or the tree makes.
func (w *Walk) find(kind, namespace, name string) (inventory.Entry, bool) {
	found, ok := w.inventory[inventory.ID{Kind: kind, Namespace: namespace, Name: name}]
	if found.Published {
		w.Used[namespace+"/"+name] = true
	}
	return found, ok
}
