package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// walk follows the tree for one cluster.
type walk struct {
	files     *files
	builds    *builder
	published Published
	everyone  []Published

	findings []finding
	// pending are the Kustomizations that were met and not yet built, met all
	// of them.
	pending  []*sync
	met      []*sync
	releases []releaseMet
	// applications are those of Argo CD that were met, from the ApplicationSets
	// that made some of them.
	applications []application
	from         map[manifest]manifest
	stock        stock
	// used are the variables and objects that the cluster publishes and the
	// tree uses.
	used map[string]bool
	// incomplete says that something could not be built: then nobody knows
	// what the tree makes, and what seems missing or unused is not judged.
	incomplete bool
	// elsewhereToo says that something was not followed, which may make what
	// is missing here.
	elsewhereToo bool
}

// sync is a Flux Kustomization on the way.
type sync struct {
	kustomization
	// parent is the one whose build holds it; nil at the start.
	parent *sync
	// read are the tree's files that its own build reads.
	read []string
	vars variables
	// followed says that its path is in this tree.
	followed bool
}

// releaseMet is a HelmRelease and the Kustomization whose build holds it.
type releaseMet struct {
	release
	in *sync
}

func newWalk(f *files, b *builder, p Published, everyone []Published) *walk {
	return &walk{files: f, builds: b, published: p, everyone: everyone, stock: stock{}, used: map[string]bool{}, from: map[manifest]manifest{}}
}

// run follows everything from the cluster's path on. References are judged
// when all that the tree makes is known.
func (w *walk) run() {
	if w.files.regular[".sourceignore"] {
		w.note(place{file: ".sourceignore"}, "is not followed: what it leaves out is checked too")
	}
	if !w.files.dirs[relative(w.published.Path)] {
		w.wrongStart()
		return
	}
	w.meet(&sync{kustomization: firstKustomization(w.published), followed: true})
	for len(w.pending) > 0 {
		w.follow(w.next())
	}
	w.checkSources()
	w.checkReleases()
	w.checkOrder()
	if !w.incomplete {
		w.checkUnused()
	}
}

// wrongStart is the finding of a cluster whose path is not in the tree.
func (w *walk) wrongStart() {
	p := w.published
	w.inClusterFile([]string{"gitops", "path"}, Finding{
		Severity: Error,
		Message:  fmt.Sprintf("gitops.path %q is not a directory of the platform tree", p.Path),
		Remedy:   w.nearDir(p.Path, "make the directory, or correct the path"),
	})
}

func (w *walk) nearDir(dir, otherwise string) string {
	if near := w.files.nearDir(relative(dir)); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}

// meet takes note of a Flux Kustomization.
func (w *walk) meet(s *sync) {
	known := func(o *sync) bool { return o.Metadata == s.Metadata }
	if strings.Contains(s.Metadata.Name, unset) || slices.ContainsFunc(w.met, known) {
		return
	}
	w.met = append(w.met, s)
	if s.followed {
		w.pending = append(w.pending, s)
		return
	}
	w.elsewhereToo = true
}

// next takes the first pending Kustomization whose variables are all known:
// another one may yet make the ConfigMap that it waits for. When there is none,
// what is optional is waited for no longer, and in the end nothing is.
func (w *walk) next() *sync {
	at := slices.IndexFunc(w.pending, func(s *sync) bool { return w.ready(s, true) })
	if at < 0 {
		at = max(0, slices.IndexFunc(w.pending, func(s *sync) bool { return w.ready(s, false) }))
	}
	s := w.pending[at]
	w.pending = slices.Delete(w.pending, at, at+1)
	return s
}

func (w *walk) ready(s *sync, optional bool) bool {
	if s.Spec.PostBuild == nil {
		return true
	}
	for _, from := range s.Spec.PostBuild.SubstituteFrom {
		if _, ok := w.find(from.Kind, s.Metadata.Namespace, from.Name); !ok && (optional || !from.Optional) {
			return false
		}
	}
	return true
}

// find returns a ConfigMap or Secret that bootstrap or the tree makes.
func (w *walk) find(kind, namespace, name string) (stocked, bool) {
	if o, ok := w.published.object(kind, namespace, name); ok {
		w.used[o.Namespace+"/"+o.Name] = true
		out := stocked{keys: o.Keys, values: map[string]string{}}
		if kind == "ConfigMap" && namespace == names.FluxNamespace && name == names.InfraConfig {
			for key, v := range w.published.Variables {
				out.values[key] = v.Example
			}
		}
		return out, true
	}
	s, ok := w.stock[id{kind, namespace, name}]
	return s, ok
}

// follow builds a Kustomization, substitutes, and meets what comes out.
func (w *walk) follow(s *sync) {
	dir := relative(s.Spec.Path)
	if strings.Contains(s.Spec.Path, unset) {
		w.incomplete = true
		return
	}
	if !w.files.dirs[dir] {
		w.incomplete = true
		w.refer(s.parent, s.manifest, wanted{path: []string{"spec", "path"}, value: s.Spec.Path}, Finding{
			Severity: Error,
			Message:  fmt.Sprintf("%s: path %q is not a directory of the platform tree", s.identity(), s.Spec.Path),
			Remedy:   w.nearDir(dir, "make the directory, or correct the path"),
		})
		return
	}
	b := w.builds.build(s.kustomization)
	s.read = b.read
	for at, reference := range b.remote {
		w.elsewhereToo = true
		w.note(at, fmt.Sprintf("%s is not followed: it is not in this tree", reference))
	}
	if b.err != nil {
		w.incomplete = true
		w.failedBuild(s, b)
		return
	}
	s.vars = w.variables(s)
	w.substitute(s, b.objects)
}

var variableName = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

// variables are those of a Kustomization's postBuild; inline ones come last.
func (w *walk) variables(s *sync) variables {
	v := variables{values: map[string]string{}}
	if s.Spec.PostBuild == nil {
		return v
	}
	for _, from := range s.Spec.PostBuild.SubstituteFrom {
		found, ok := w.find(from.Kind, s.Metadata.Namespace, from.Name)
		if !ok {
			v.open = w.missingSource(s, from.Kind, from.Name, from.Optional) || v.open
			continue
		}
		v.open = v.open || found.open
		for _, key := range found.keys {
			if !variableName.MatchString(key) {
				w.wrongKey(s, from.Kind, from.Name, key)
				v.open = true
				continue
			}
			v.set(key, found.values[key])
		}
	}
	for key, value := range s.Spec.PostBuild.Substitute {
		v.set(key, value)
	}
	v.substituting = len(v.values) > 0 || v.open
	return v
}

// missingSource reports a source of variables that nothing makes, and says
// whether it did: then no variable of the Kustomization can be judged.
func (w *walk) missingSource(s *sync, kind, name string, optional bool) bool {
	known := w.inNamespace(kind, s.Metadata.Namespace)
	at := w.suspect(reference{Kind: kind, Name: name}, s.Metadata.Namespace, []string{"spec", "postBuild", "substituteFrom", "[]"}, known)
	f := Finding{
		Severity: w.gravity(name, known),
		Message:  fmt.Sprintf("%s: substituteFrom refers to %s %s, which neither bootstrap nor the tree makes in namespace %s", s.identity(), kind, name, s.Metadata.Namespace),
		Remedy:   didYouMean(name, known, w.elsewhere(kind, s.Metadata.Namespace, name, "make it in the tree, or mark the reference optional: true")),
	}
	if optional {
		if wording.Nearest(name, known) == "" {
			return false
		}
		f.Severity = Warning
		f.Message += "; it is optional, so nobody will say so"
	}
	if !w.incomplete {
		w.refer(s.parent, s.manifest, at, f)
	}
	return !optional
}

func (w *walk) wrongKey(s *sync, kind, name, key string) {
	at := wanted{path: []string{"spec", "postBuild", "substituteFrom", "[]", "name"}, value: name, besides: map[string]string{"kind": kind}}
	w.refer(s.parent, s.manifest, at, Finding{
		Severity: Error,
		Message:  fmt.Sprintf("%s: substituteFrom refers to %s %s, whose key %q cannot be a variable", s.identity(), kind, name, key),
		Remedy:   "refer to one whose keys have only letters, digits and _; Helm values belong in a HelmRelease's valuesFrom",
	})
}
