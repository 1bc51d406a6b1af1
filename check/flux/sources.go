package flux

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"tombolo/check/artifact"
	"tombolo/check/finding"
	"tombolo/check/inventory"
	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

const (
	extensionsGroup  = "source.extensions.fluxcd.io"
	externalArtifact = "ExternalArtifact"
)

// source is what a Kustomization builds from: a tree that is followed, or why it is not.
type source struct {
	tree *walk.Source
	why  string
}

// generator is an ArtifactGenerator and the build that holds it.
type generator struct {
	manifest.Object
	Spec artifact.Spec `json:"spec"`
	in   *walk.Origin
	// composed says that its artifacts were made, as far as they can be.
	composed bool
}

// id of the source that a reference names.
func (r reference) id(namespace string) inventory.ID {
	return inventory.ID{Kind: r.Kind, Namespace: r.in(namespace), Name: r.Name}
}

// treeOf is the tree that a Kustomization builds from; nil when it is not known, or not followed.
func (w *Walk) treeOf(s *sync) *walk.Source {
	if found := w.sources[s.Spec.SourceRef.id(s.Metadata.Namespace)]; found != nil {
		return found.tree
	}
	return nil
}

// nameOf is how findings name the tree of a Kustomization.
func (w *Walk) nameOf(s *sync) string {
	id := s.Spec.SourceRef.id(s.Metadata.Namespace)
	if id == platform {
		return "the platform tree"
	}
	return fmt.Sprintf("%s %s/%s", id.Kind, id.Namespace, id.Name)
}

// takeSource takes note of a source of another tree.
func (w *Walk) takeSource(o manifest.Object) {
	id := inventory.ID{Kind: o.Kind, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}
	if w.sources[id] == nil {
		w.sources[id] = &source{}
	}
}

// takeGenerator takes note of an ArtifactGenerator: the artifacts that it names exist.
func (w *Walk) takeGenerator(in *walk.Origin, text string) error {
	g, err := manifest.Decode[generator](text)
	if err != nil {
		return err
	}
	g.in = in
	w.generators = append(w.generators, &g)
	for _, name := range g.Spec.Made() {
		w.inventory[g.id(name)] = inventory.Entry{}
	}
	for _, p := range g.Spec.Check() {
		w.refuse(&g, p)
	}
	return nil
}

// id of one of its artifacts.
func (g *generator) id(name string) inventory.ID {
	return inventory.ID{Kind: externalArtifact, Namespace: g.Metadata.Namespace, Name: name}
}

// refuse reports why a generator makes nothing.
func (w *Walk) refuse(g *generator, p artifact.Problem) {
	w.Incomplete = true
	value := p.Value
	if value == "" {
		p.Path, value = []string{"metadata", "name"}, g.Metadata.Name
	}
	w.Refer(g.in, tree.Wanted{Object: g.Object, Path: p.Path, Value: value}, finding.Errorf("%s: %s", g.Identity(), p.Message).WithRemedy(p.Remedy))
}

// compose makes the trees of repositories and generators whose sources were all met. One may be a source of
// another.
func (w *Walk) compose() {
	for again := true; again; {
		again = w.fetch()
		for _, g := range w.generators {
			if trees, ok := w.treesOf(g); ok && !g.composed {
				g.composed, again = true, true
				w.composeOne(g, trees)
			}
		}
	}
}

// treesOf are the trees of a generator's sources that are followed, by alias; ok says that all sources were met.
func (w *Walk) treesOf(g *generator) (trees map[string]*tree.Files, ok bool) {
	trees = map[string]*tree.Files{}
	for _, s := range g.Spec.Sources {
		met := w.sources[sourceRef(s).id(g.Metadata.Namespace)]
		if met == nil {
			return nil, false
		}
		if met.tree != nil {
			trees[s.Alias] = met.tree.Files
		}
	}
	return trees, true
}

func sourceRef(s artifact.Source) reference {
	return reference{Kind: s.Kind, Name: s.Name, Namespace: s.Namespace}
}

func (w *Walk) composeOne(g *generator, trees map[string]*tree.Files) {
	if len(g.Spec.Check()) > 0 {
		return
	}
	if why := g.elsewhere(trees, g.Spec.PathPattern); why != "" {
		w.Elsewhere = true
		w.Refer(g.in, tree.Wanted{Object: g.Object, Path: []string{"spec", "pathPattern"}, Value: g.Spec.PathPattern},
			finding.Notef("%s is not followed: %s", g.Identity(), why))
		return
	}
	outputs, problem := g.Spec.Render(trees)
	if problem != nil {
		w.refuse(g, *problem)
		return
	}
	for _, o := range outputs {
		w.inventory[g.id(o.Name)] = inventory.Entry{}
		w.sources[g.id(o.Name)] = w.artifactOf(g, o, trees)
	}
}

// elsewhere says which source of a text with an alias is not in this tree; "" when all are.
func (g *generator) elsewhere(trees map[string]*tree.Files, texts ...string) string {
	for _, text := range texts {
		for _, s := range g.Spec.Sources {
			if trees[s.Alias] == nil && artifact.Uses(text, s.Alias) {
				return fmt.Sprintf("%s copies from %s %s/%s, not from this tree", g.Identity(), s.Kind, sourceRef(s).in(g.Metadata.Namespace), s.Name)
			}
		}
	}
	return ""
}

// artifactOf is the tree of an artifact, or why it is not followed.
func (w *Walk) artifactOf(g *generator, o artifact.Output, trees map[string]*tree.Files) *source {
	for _, op := range o.Copy {
		if why := g.elsewhere(trees, op.From); why != "" {
			return &source{why: why}
		}
	}
	made, err := w.trees.once(keyOf(o, trees), func() (*tree.Files, error) { return o.Compose(trees) })
	var problem *artifact.Problem
	switch {
	case errors.As(err, &problem):
		w.refuse(g, *problem)
		return &source{why: g.Identity() + " does not make it"}
	case err != nil:
		return &source{why: fmt.Sprintf("%s makes it, and %v", g.Identity(), err)}
	}
	return &source{tree: made}
}

// keyOf tells what is composed alike from the same trees.
func keyOf(o artifact.Output, trees map[string]*tree.Files) string {
	key := fmt.Sprintf("%q", o.Copy)
	for _, alias := range slices.Sorted(maps.Keys(trees)) {
		key += fmt.Sprintf(" %s %p", alias, trees[alias])
	}
	return key
}

// CheckSources looks at the sources of the Kustomizations and generators; those of other trees are not followed, and
// have to exist none the less.
func (w *Walk) CheckSources() {
	for _, s := range w.met {
		ref := s.Spec.SourceRef
		if w.treeOf(s) != nil || !w.checkSource(s.origin.Parent, s.Object, ref, "spec", "sourceRef") {
			continue
		}
		id := ref.id(s.Metadata.Namespace)
		why := fmt.Sprintf("its path is in %s %s/%s, not in this tree", id.Kind, id.Namespace, id.Name)
		if met := w.sources[id]; met != nil && met.why != "" {
			why = fmt.Sprintf("its path is in %s %s/%s, and %s", id.Kind, id.Namespace, id.Name, met.why)
		}
		w.Refer(s.origin.Parent, s.wanted(ref.Name, "spec", "sourceRef", "name"), finding.Notef("%s is not followed: %s", s.Identity(), why))
	}
	for _, g := range w.generators {
		for _, s := range g.Spec.Sources {
			if w.sources[sourceRef(s).id(g.Metadata.Namespace)] == nil {
				w.checkSource(g.in, g.Object, sourceRef(s), "spec", "sources", "[]")
			}
		}
	}
	w.checkIncludes()
	w.checkGate()
	w.checkWatcher()
}

// gate is the flag with which Flux's controllers take ExternalArtifacts; they are released without it.
// Sources: internal/features of kustomize-controller v1.7 to v1.10; manifests/install of flux2 v2.9.3, which has
// source-watcher since v2.9 and sets no gate, as `flux install --components-extra=source-watcher` does.
const gate = "ExternalArtifact=true"

// checkGate warns of Kustomizations that kustomize-controller refuses.
func (w *Walk) checkGate() {
	if !w.Published.Released || w.gated {
		return
	}
	for _, s := range w.met {
		if s.Spec.SourceRef.Kind == externalArtifact {
			w.Refer(s.origin.Parent, s.wanted(externalArtifact, "spec", "sourceRef", "kind"), finding.Warningf(
				"%s: the install.yaml of Flux %s leaves the feature gate %s off, and kustomize-controller refuses the source without it",
				s.Identity(), w.Published.Distribution, externalArtifact).WithRemedy(
				"name a manifest in gitops.distribution.path that `flux install --components-extra=source-watcher --export` has made; it has source-watcher and the gate"))
		}
	}
}

// takeGate takes note of controllers that the tree itself has, with the gate.
func (w *Walk) takeGate(text string) error {
	d, err := manifest.Decode[struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Args []string `json:"args"`
					} `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}](text)
	if err != nil {
		return err
	}
	for _, c := range d.Spec.Template.Spec.Containers {
		w.gated = w.gated || strings.Contains(strings.Join(c.Args, ","), gate)
	}
	return nil
}

// watcherSince is the first release of Flux whose install.yaml has source-watcher, and the definition of its kind.
const watcherSince = "v2.9"

// watcherDefinition is the name of that definition.
const watcherDefinition = "artifactgenerators." + extensionsGroup

// checkWatcher reports generators that no controller reads.
func (w *Walk) checkWatcher() {
	_, own := w.inventory.Find(inventory.ID{Kind: "CustomResourceDefinition", Name: watcherDefinition})
	if !w.Published.Released || own || semver.Compare(w.Published.Distribution, watcherSince) >= 0 {
		return
	}
	for _, g := range w.generators {
		w.Refer(g.in, tree.Wanted{Object: g.Object, Path: []string{"kind"}, Value: g.Kind}, finding.Errorf(
			"%s: the install.yaml of Flux %s has no source-watcher, nor this kind", g.Identity(), w.Published.Distribution).WithRemedy(
			"take Flux "+watcherSince+" or later, or name a manifest in gitops.distribution.path that `flux install --components-extra=source-watcher --export` has made"))
	}
}
