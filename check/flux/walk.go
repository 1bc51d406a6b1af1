package flux

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tombolo/check/finding"
	"tombolo/check/inventory"
	"tombolo/check/manifest"
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
	// sources are those that were met, generators make more of them.
	sources      map[inventory.ID]*source
	repositories []*repository
	generators   []*generator
	trees        *Trees
	// own is what the tree says of its own repository.
	own *repository
	// gated says that the tree has a kustomize-controller that takes ExternalArtifacts.
	gated      bool
	charts     []chartMet
	releases   []releaseMet
	namespaces []namespaceMet
	channels   []channelMet
	// inventory is what bootstrap makes, and what the tree makes as far as it
	// was followed.
	inventory inventory.Inventory
	// defaults are uses of variables that nothing gave a value when they were met.
	defaults []defaulted
}

// New returns a walk that has everything before it.
func New(w *walk.Walk, trees *Trees) *Walk {
	return &Walk{
		Walk: w, trees: trees, inventory: madeByBootstrap(w.Published),
		sources: map[inventory.ID]*source{platform: {tree: w.SourceOf(nil)}},
	}
}

// platform is the repository that bootstrap has the cluster follow.
var platform = inventory.ID{Kind: "GitRepository", Namespace: names.FluxNamespace, Name: names.Platform}

func madeByBootstrap(p published.Set) inventory.Inventory {
	examples := p.Examples()
	out := inventory.Inventory{
		{Kind: "ConfigMap", Namespace: names.FluxNamespace, Name: names.InfraConfig}: {
			Keys: slices.Sorted(maps.Keys(examples)), Values: examples, Published: true,
		},
		platform: {},
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
	found, ok := w.inventory.Find(inventory.ID{Kind: kind, Namespace: namespace, Name: name})
	if found.Published {
		w.Used[namespace+"/"+name] = true
	}
	return found, ok
}

// Follow follows everything from the cluster's path on. What is referred to is
// checked later, when all that the tree makes is known.
func (w *Walk) Follow() {
	if !w.StartsInTree() {
		w.Incomplete = true
		w.WrongStart()
		return
	}
	w.followAll()
	if w.own != nil {
		w.restart()
	}
}

func (w *Walk) followAll() {
	w.meet(newSync(nil, firstKustomization(w.Published)))
	for s := w.next(); s != nil; s = w.next() {
		w.follow(s)
	}
}

// meet takes note of a Flux Kustomization.
func (w *Walk) meet(s *sync) {
	known := func(o *sync) bool { return o.Metadata == s.Metadata }
	if strings.Contains(s.Metadata.Name, manifest.Unset) || slices.ContainsFunc(w.met, known) {
		return
	}
	w.met = append(w.met, s)
	w.pending = append(w.pending, s)
}

// next takes the first pending Kustomization of a tree that is followed whose variables are all known:
// another one may yet make the ConfigMap that it waits for. When there is none, what is optional is waited
// for no longer, and in the end nothing is. What stays is in other trees.
func (w *Walk) next() *sync {
	w.compose()
	for _, ready := range []func(*sync) bool{
		func(s *sync) bool { return w.ready(s, true) },
		func(s *sync) bool { return w.ready(s, false) },
		func(*sync) bool { return true },
	} {
		at := slices.IndexFunc(w.pending, func(s *sync) bool { return w.treeOf(s) != nil && ready(s) })
		if at >= 0 {
			s := w.pending[at]
			w.pending = slices.Delete(w.pending, at, at+1)
			return s
		}
		w.Elsewhere = w.Elsewhere || slices.ContainsFunc(w.pending, func(s *sync) bool { return w.treeOf(s) == nil })
	}
	return nil
}

func (w *Walk) ready(s *sync, optional bool) bool {
	for _, from := range s.sources() {
		if _, ok := w.find(from.Kind, s.Metadata.Namespace, from.Name); !ok && (optional || !from.Optional) {
			return false
		}
	}
	return true
}

// follow builds a Kustomization, substitutes, and takes what comes out.
func (w *Walk) follow(s *sync) {
	if strings.Contains(s.Spec.Path, manifest.Unset) {
		w.Incomplete = true
		return
	}
	tree := w.treeOf(s)
	s.origin.Source = tree
	if !tree.Files.IsDir(s.origin.Dir()) {
		w.Incomplete = true
		w.Refer(s.origin.Parent, s.wanted(s.Spec.Path, "spec", "path"), finding.Errorf(
			"%s: path %q is not a directory of %s", s.Identity(), s.Spec.Path, w.nameOf(s)).WithRemedy(w.nearDir(s, tree)))
		return
	}
	built, ok := w.Build(s.origin, s.options())
	if !ok {
		return
	}
	if s.origin.Parent == nil && len(built) == 0 {
		w.EmptyStart()
	}
	s.vars = w.variables(s)
	for i, text := range w.substitute(s, built) {
		w.take(s, text, built[i].Text)
	}
}

// nearDir advises about a directory that a Kustomization does not have in its tree.
func (w *Walk) nearDir(s *sync, in *walk.Source) string {
	if s.Spec.SourceRef.Kind == "GitRepository" && w.trees.repository.IsDir(s.origin.Dir()) {
		return "the repository has it: a .sourceignore, or spec.ignore or spec.sparseCheckout of the GitRepository, leaves it out"
	}
	return in.NearDir(s.Spec.Path)
}

// take decodes an object and takes note of what the check has to follow. before is
// its text without substitution.
func (w *Walk) take(s *sync, text, before string) {
	said := len(w.Findings)
	o, err := manifest.Decode[manifest.Object](text)
	if err == nil {
		w.checkIdentity(s, o)
		w.checkVersion(s, o)
		if !w.checkEncrypted(s, o, text) {
			w.checkTypes(s, o, text, before)
			w.CheckBuiltin(s.origin, o, text, false)
		}
		w.checkFetched(s.origin, o, text)
		w.TakeNeeded(s.origin, o, text)
		if s.Spec.KubeConfig == nil {
			w.TakeApplied(s.origin, s.Identity(), o, text)
		}
		err = w.inventory.Add(o, text)
	}
	switch {
	case err != nil:
	case o.Group() == kustomizeGroup && o.Kind == "Kustomization":
		var k kustomization
		if k, err = manifest.Decode[kustomization](text); err == nil {
			w.meet(newSync(s.origin, k))
		}
	case o.Group() == helmGroup && o.Kind == "HelmRelease":
		var r release
		if r, err = manifest.Decode[release](text); err == nil {
			w.releases = append(w.releases, releaseMet{r, s.origin})
		}
	case o.Group() == sourceGroup && o.Kind == "GitRepository":
		err = w.takeRepository(s.origin, o, text)
	case o.Group() == sourceGroup && o.Kind == "HelmChart":
		err = w.takeChart(s.origin, o, text)
	case o.Group() == sourceGroup:
		w.takeSource(o)
	case o.Group() == extensionsGroup && o.Kind == "ArtifactGenerator":
		err = w.takeGenerator(s.origin, text)
	case o.Kind == "Deployment" && o.Metadata.Name == "kustomize-controller" && o.Metadata.Namespace == names.FluxNamespace:
		err = w.takeGate(text)
	default:
		err = w.takeOfSystems(s.origin, o, text)
	}
	if err == nil || len(w.Findings) > said { // which says why
		return
	}
	if o, err := manifest.Decode[manifest.Object](before); err == nil {
		at := tree.Wanted{Object: o, Path: []string{"metadata", "name"}, Value: o.Metadata.Name}
		w.Refer(s.origin, at, finding.Errorf("%s cannot be read once its variables are substituted", o.Identity()).
			WithRemedy("put the values that are substituted into quotes, and give every field the type that it has to have"))
	}
}

// checkMeetings looks at the values of a HelmRelease that bootstrap publishes as
// well. Its own win: a note, or an error where the software cannot work with them.
func (w *Walk) checkMeetings(r releaseMet) {
	for _, name := range slices.Sorted(maps.Keys(w.Published.Values)) {
		if !r.readsFrom(names.Values(name)) {
			continue
		}
		for _, m := range w.Published.Values[name].Meet(r.Spec.Values) {
			f := finding.Notef("%s sets %s, which bootstrap publishes too: the tree's value wins", r.Identity(), m.Name())
			if m.Made {
				f.Severity = finding.Error
				f.Message = fmt.Sprintf("%s sets %s, which bootstrap publishes for what core has made: with the tree's value %s does not work", r.Identity(), m.Name(), name)
				f.Remedy = "remove it from the release's values"
			}
			path, value := walk.First(slices.Concat([]string{"spec", "values"}, m.Path), m.Tree)
			w.Refer(r.in, tree.Wanted{Object: r.Object, Path: path, Value: value}, f)
		}
	}
}

// readsFrom says whether the release has values from a ConfigMap.
func (r release) readsFrom(configMap string) bool {
	for _, from := range r.Spec.ValuesFrom {
		if from.Kind == "ConfigMap" && from.Name == configMap {
			return true
		}
	}
	return false
}
