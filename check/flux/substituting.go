package flux

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"tombolo/check/finding"
	"tombolo/check/kustomize"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/published"
	"tombolo/check/substitution"
	"tombolo/check/tree"
	"tombolo/config/addon"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// substitute returns what postBuild makes of the objects of a build. What is
// missing is said once for the whole build.
func (w *Walk) substitute(s *sync, objects []kustomize.Object) []string {
	out := make([]string, len(objects))
	missing := map[string]substitution.How{}
	literal := map[string]bool{}
	broken := false
	for i, o := range objects {
		out[i] = o.Text
		all, err := substitution.Uses(o.Text)
		switch {
		case o.Disabled:
		case !s.vars.Substituting:
			for _, u := range all {
				literal[u.Name] = true
			}
		case err != nil:
			broken = true
		default:
			w.count(s, all, missing)
			out[i], _ = s.vars.Evaluate(o.Text) // it parsed just now, and nothing else fails
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		w.missingVariable(s, name, missing[name])
	}
	for _, name := range slices.Sorted(maps.Keys(literal)) {
		w.literalVariable(s, name)
	}
	if broken {
		w.Occurring(s.origin, func(bool) tree.Finder { return substitution.Malformed }, finding.Errorf(
			"Flux cannot substitute this: it starts like a variable and is none, so %s stops", s.Identity()).
			WithRemedy("write $${ for a literal ${, or label the object "+manifest.Substitute+": disabled"))
	}
	return out
}

// count takes note of the variables that are used, and of those that are not
// there with the gravest of their uses.
func (w *Walk) count(s *sync, all []substitution.Use, missing map[string]substitution.How) {
	for _, u := range all {
		if _, ok := w.Published.Variables[u.Name]; ok {
			w.Used[u.Name] = true
		}
		if s.vars.Has(u.Name) {
			continue
		}
		missing[u.Name] = max(missing[u.Name], u.How) // of none, the least grave
	}
}

func (w *Walk) missingVariable(s *sync, name string, h substitution.How) {
	f := finding.Finding{Severity: finding.Error, Remedy: w.variableAdvice(s, name)}
	switch h {
	case substitution.Plain:
		f.Message = fmt.Sprintf("${%s} is not published: %s stops at it", name, s.Identity())
	case substitution.Changed:
		f.Message = fmt.Sprintf("${%s} is not published: what is made of it becomes empty, and Flux does not say so", name)
	case substitution.Defaulted:
		if w.publisherOf(name) != "" || ofAnAddon(name) {
			return
		}
		f.Severity = finding.Warning
		f.Message = fmt.Sprintf("${%s} has a default, and no cluster publishes it", name)
		f.Remedy = near.DidYouMean(name, s.vars.Names(), "write the default in its place, or publish the variable: add it to the cluster file's values")
		w.defaults = append(w.defaults, defaulted{s, name, wording.Nearest(name, s.vars.Names()) != "", f})
		return
	}
	w.occurring(s, name, f)
}

// defaulted is a use of a variable that takes its default.
type defaulted struct {
	by   *sync
	name string
	// similar says that another variable has a similar name.
	similar bool
	finding finding.Finding
}

// CheckDefaults warns of variables with a default that nothing ever sets. Where a Kustomization
// sets one for itself, it is a parameter of what several build.
func (w *Walk) CheckDefaults() {
	type place struct {
		name, file   string
		line, column int
	}
	said := map[place]bool{}
	for _, d := range w.defaults {
		sets := func(s *sync) bool {
			if s.Spec.PostBuild == nil {
				return false
			}
			_, ok := s.Spec.PostBuild.Substitute[d.name]
			return ok
		}
		if slices.ContainsFunc(w.met, sets) {
			continue
		}
		w.occurring(d.by, d.name, d.finding)
		last := len(w.Findings) - 1
		at := place{d.name, w.Findings[last].File, w.Findings[last].Line, w.Findings[last].Column}
		if said[at] || !d.similar && w.isOfComponent(strings.TrimPrefix(at.file, w.Name+"/")) { // several Kustomizations build the file
			w.Findings = w.Findings[:last]
		}
		said[at] = true
	}
}

// isOfComponent says whether a file is in a component of kustomize: its variables are parameters of those that
// build it, and may have defaults that none of them overrides yet.
func (w *Walk) isOfComponent(file string) bool {
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		name, _ := w.Builds.File(dir)
		text, err := w.Files.Read(name)
		if o, invalid := manifest.Decode[manifest.Object](string(text)); err == nil && invalid == nil && o.Kind == types.ComponentKind {
			return true
		}
	}
	return false
}

// occurring reports a finding at the uses of a variable.
func (w *Walk) occurring(s *sync, name string, f finding.Finding) {
	w.Occurring(s.origin, func(escaped bool) tree.Finder { return substitution.Variable(name, escaped) }, f)
}

func (w *Walk) variableAdvice(s *sync, name string) string {
	if advice := w.Published.OfOtherCloud(name); advice != "" {
		return fmt.Sprintf("%s, or give it a default, ${%s:=…}", advice, name)
	}
	if other := w.publisherOf(name); other != "" {
		if other == w.Published.Cluster {
			return fmt.Sprintf("%s has it: add that to the substituteFrom of %s", names.InfraConfig, s.Identity())
		}
		return fmt.Sprintf("cluster %s publishes it: add it to this cluster's file too, or give it a default, ${%s:=…}", other, name)
	}
	return near.DidYouMean(name, s.vars.Names(), fmt.Sprintf("add %s to the values of the cluster file, or give it a default, ${%s:=…}", name, name))
}

// publisherOf returns a cluster that publishes a variable: this one, or
// the first of the others.
func (w *Walk) publisherOf(name string) string {
	for _, p := range append([]published.Set{w.Published}, w.Fleet...) {
		if _, ok := p.Variables[name]; ok {
			return p.Cluster
		}
	}
	return ""
}

// ofAnAddon says that some addon publishes a variable: a tree may be for clusters without it.
func ofAnAddon(name string) bool {
	return slices.ContainsFunc(addon.All(), func(a *addon.Addon) bool {
		return slices.ContainsFunc(a.Keys(), func(k addon.Key) bool { return k.Name == name })
	})
}

// literalVariable warns of a variable that looks like a published one, where
// nothing substitutes it. Shell scripts are full of others.
func (w *Walk) literalVariable(s *sync, name string) {
	_, known := w.Published.Variables[name]
	if !known && wording.Nearest(name, slices.Sorted(maps.Keys(w.Published.Variables))) == "" {
		return
	}
	w.occurring(s, name, finding.Warningf("${%s} is not substituted here: %s has no postBuild with variables", name, s.Identity()).
		WithRemedy("add postBuild.substituteFrom, or label the object "+manifest.Substitute+": disabled if it is meant as it is"))
}

var variableName = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

// variables are those of a Kustomization's postBuild; inline ones come last.
func (w *Walk) variables(s *sync) substitution.Variables {
	v := substitution.Variables{Values: map[string]string{}}
	for _, from := range s.sources() {
		found, ok := w.find(from.Kind, s.Metadata.Namespace, from.Name)
		if !ok {
			v.Open = w.missingSource(s, from) || v.Open
			continue
		}
		v.Open = v.Open || found.Open
		for _, key := range found.Keys {
			if !variableName.MatchString(key) {
				w.wrongKey(s, from, key)
				v.Open = true
				continue
			}
			value, known := found.Values[key]
			if !known {
				value = manifest.Unset // of a Secret
			}
			v.Set(key, value)
		}
	}
	if s.Spec.PostBuild != nil {
		for _, key := range slices.Sorted(maps.Keys(s.Spec.PostBuild.Substitute)) {
			value := s.Spec.PostBuild.Substitute[key]
			if !variableName.MatchString(key) {
				w.Refer(s.origin.Parent, s.wanted(value, "spec", "postBuild", "substitute", key), finding.Errorf(
					"%s: postBuild.substitute has %q, which cannot be a variable: %s stops at it", s.Identity(), key, s.Identity()).
					WithRemedy("name it with letters, digits and _, and no digit first"))
				continue
			}
			v.Set(key, value)
		}
	}
	v.Substituting = len(v.Values) > 0 || v.Open
	return v
}

// missingSource reports a source of variables that nothing makes, and says
// whether it did: then no variable of the Kustomization can be judged.
func (w *Walk) missingSource(s *sync, from variablesFrom) bool {
	a := w.absent(reference{Kind: from.Kind, Name: from.Name}, s.Metadata.Namespace)
	if w.Incomplete {
		return !from.Optional
	}
	w.referOptional(s.origin.Parent, a.suspect(s.Object, "spec", "postBuild", "substituteFrom", "[]"), from.Optional, a.misspelt(), finding.New(a.gravity(),
		"%s: substituteFrom refers to %s %s, which neither bootstrap nor the tree makes in namespace %s", s.Identity(), a.Kind, a.Name, a.Namespace).
		WithRemedy(a.remedy("make it in the tree, or mark the reference optional: true")))
	return !from.Optional
}

func (w *Walk) wrongKey(s *sync, from variablesFrom, key string) {
	at := s.wanted(from.Name, "spec", "postBuild", "substituteFrom", "[]", "name")
	at.Besides = map[string]string{"kind": from.Kind}
	w.Refer(s.origin.Parent, at, finding.Errorf(
		"%s: substituteFrom refers to %s %s, whose key %q cannot be a variable", s.Identity(), from.Kind, from.Name, key).
		WithRemedy("refer to one whose keys have only letters, digits and _; Helm values belong in a HelmRelease's valuesFrom"))
}

// few is how many names of unused values a note lists.
const few = 3

// CheckUnused warns of what the cluster file asks for and the tree does not
// use. What every cluster is given, used or not, is no more than a note.
func (w *Walk) CheckUnused() {
	if w.Incomplete {
		return
	}
	var given []string
	for _, name := range slices.Sorted(maps.Keys(w.Published.Variables)) {
		v := w.Published.Variables[name]
		switch {
		case w.Used[name]:
		case v.Setting == nil:
			given = append(given, name)
		default:
			w.unused(name, v.Setting, fmt.Sprintf("%s is published, and nothing in the tree uses ${%s}", name, name))
		}
	}
	for _, o := range w.Published.Objects {
		name := o.Namespace + "/" + o.Name
		if !w.Used[name] && o.Setting != nil {
			w.unused(name, o.Setting, fmt.Sprintf("%s %s is published, and nothing in the tree refers to it", o.Kind, name))
		}
	}
	switch n := len(given); {
	case n > few:
		w.Note(tree.Place{}, fmt.Sprintf("of what every cluster is given, %d values are not used, such as %s", n, wording.And(given[:2])))
	case n > 0:
		w.Note(tree.Place{}, fmt.Sprintf("of what every cluster is given, this is not used: %s", strings.Join(given, ", ")))
	}
}

func (w *Walk) unused(name string, setting []string, message string) {
	remedy := "use it, or remove it from the cluster file"
	if len(setting) > 0 && (setting[0] == "addons" || setting[0] == "labels") {
		remedy = "use it: `tombolo init platform` writes what does; or remove it from the cluster file"
	}
	f := finding.Warningf("%s", message).WithRemedy(remedy)
	w.InClusterFile(setting, f).Unused = name
}
