// Package flux follows a platform tree as Flux does for one cluster, and says what
// of it Flux would stop at, wait for, or take for empty.
package flux

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"tombolo/check/finding"
	"tombolo/check/inventory"
	"tombolo/check/kustomize"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// checkSource reports a reference to a source that does not exist, and says whether
// it does.
func (w *Walk) checkSource(in *walk.Origin, o manifest.Object, ref reference, path ...string) bool {
	if ref.Kind == "" || ref.Name == "" {
		return false // the definition asks for both
	}
	a := w.absent(ref, o.Metadata.Namespace)
	if found, ok := w.inventory.Find(a.ID); ok && !found.Published {
		return true
	}
	if w.Incomplete {
		return false
	}
	field := path[len(path)-1]
	if field == "[]" {
		field = path[len(path)-2]
	}
	w.Refer(in, a.suspect(o, path...), finding.New(a.gravity(),
		"%s: %s refers to %s %s/%s, which is not in the tree", o.Identity(), field, a.Kind, a.Namespace, a.Name).
		WithRemedy(a.remedy(addSource(a.Kind))))
	return false
}

// addSource says what makes a source of a kind.
func addSource(kind string) string {
	if kind == externalArtifact {
		return "add an ArtifactGenerator that makes it to the tree; of what another controller makes, check knows nothing"
	}
	return "add it to the tree"
}

// CheckReleases looks at what the HelmReleases refer to.
func (w *Walk) CheckReleases() {
	for _, c := range w.charts {
		w.checkChart(c)
	}
	for _, r := range w.releases {
		w.checkReleased(r)
	}
	for _, r := range w.releases {
		if r.Spec.Chart != nil {
			w.checkSource(r.in, r.Object, r.Spec.Chart.Spec.SourceRef, "spec", "chart", "spec", "sourceRef")
		}
		if r.Spec.ChartRef != nil {
			w.checkSource(r.in, r.Object, *r.Spec.ChartRef, "spec", "chartRef")
		}
		for _, from := range r.Spec.ValuesFrom {
			w.checkValues(r, from)
		}
		w.checkMeetings(r)
	}
}

func (w *Walk) checkValues(r releaseMet, from valuesFrom) {
	found, ok := w.find(from.Kind, r.Metadata.Namespace, from.Name)
	switch {
	case ok:
		w.checkKey(r, from, found)
	case !w.Incomplete:
		w.missingValues(r, from)
	}
}

func (w *Walk) missingValues(r releaseMet, from valuesFrom) {
	a := w.absent(reference{Kind: from.Kind, Name: from.Name}, r.Metadata.Namespace)
	w.referOptional(r.in, a.suspect(r.Object, "spec", "valuesFrom", "[]"), from.Optional, a.misspelt(), finding.New(a.gravity(),
		"%s: valuesFrom refers to %s %s, which neither bootstrap nor the tree makes in namespace %s", r.Identity(), a.Kind, a.Name, a.Namespace).
		WithRemedy(a.remedy(w.generated(a, "turn on the addon or service that publishes it in the cluster file, or make it in the tree"))))
}

// generated advises about an object that a generator of kustomize makes: it ends in a hash, and kustomize knows no HelmRelease
// to put the new name into.
func (w *Walk) generated(a absent, otherwise string) string {
	for _, name := range a.known {
		if hash, ok := strings.CutPrefix(name, a.Name+"-"); ok && hashed.MatchString(hash) {
			return fmt.Sprintf("a generator makes %s: set options.disableNameSuffixHash: true there, or name HelmRelease's spec/valuesFrom/name in its configurations", name)
		}
	}
	return otherwise
}

// hashed is what kustomize ends a generated name with. Source: encode in api/hasher/hasher.go of kubernetes-sigs/kustomize.
var hashed = regexp.MustCompile(`^[2456789bcdfghkmt]{10}$`)

func (w *Walk) checkKey(r releaseMet, from valuesFrom, found inventory.Entry) {
	key := from.ValuesKey
	what := tree.Wanted{
		Object: r.Object, Path: []string{"spec", "valuesFrom", "[]", "valuesKey"}, Value: key,
		Besides: map[string]string{"kind": from.Kind, "name": from.Name},
	}
	if key == "" {
		key = names.ValuesKey
		what.Path, what.Value, what.Besides = []string{"spec", "valuesFrom", "[]", "name"}, from.Name, map[string]string{"kind": from.Kind}
	}
	if found.Has(key) {
		w.checkText(r, from, what, key, found.Values[key])
		return
	}
	w.referOptional(r.in, what, from.Optional, wording.Nearest(key, found.Keys) != "", finding.Errorf(
		"%s: valuesFrom refers to key %q of %s %s, which has %s", r.Identity(), key, from.Kind, from.Name, listed(found.Keys)).
		WithRemedy(near.DidYouMean(key, found.Keys, "set valuesKey to a key that it has")))
}

// checkText reports what helm-controller cannot take for values, of a key whose text is known.
func (w *Walk) checkText(r releaseMet, from valuesFrom, what tree.Wanted, key, text string) {
	_, err := from.over(map[string]any{}, text)
	if err == nil || strings.Contains(text, manifest.Unset) {
		return
	}
	remedy := "write a mapping of values there, or set targetPath"
	if from.TargetPath != "" {
		remedy = `put a backslash before each comma and brace of the text, or set literal: true`
	}
	w.Refer(r.in, what, finding.Errorf("%s: valuesFrom takes key %q of %s %s, and Helm cannot take its text for values: %s",
		r.Identity(), key, from.Kind, from.Name, walk.Innermost(err)).WithRemedy(remedy))
}

func listed(keys []string) string {
	if len(keys) == 0 {
		return "no keys"
	}
	keys = slices.Clone(keys)
	slices.Sort(keys)
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = strconv.Quote(key)
	}
	return strings.Join(out, ", ")
}

// The API groups of the objects that refer to others.
const (
	kustomizeGroup = "kustomize.toolkit.fluxcd.io"
	helmGroup      = "helm.toolkit.fluxcd.io"
)

// reference to an object by name; the namespace is the referring object's own
// unless it is given.
type reference struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

func (r reference) in(namespace string) string { return cmp.Or(r.Namespace, namespace) }

// kustomization is a Flux Kustomization.
type kustomization struct {
	manifest.Object
	Spec struct {
		Path                    string        `json:"path"`
		SourceRef               reference     `json:"sourceRef"`
		DependsOn               []reference   `json:"dependsOn"`
		PostBuild               *postBuild    `json:"postBuild"`
		TargetNamespace         string        `json:"targetNamespace"`
		NamePrefix              string        `json:"namePrefix"`
		NameSuffix              string        `json:"nameSuffix"`
		Patches                 []types.Patch `json:"patches"`
		Components              []string      `json:"components"`
		IgnoreMissingComponents bool          `json:"ignoreMissingComponents"`
		Images                  []types.Image `json:"images"`
		KubeConfig              *struct{}     `json:"kubeConfig"` // of another cluster
		Decryption              *struct {
			Provider string `json:"provider"`
		} `json:"decryption"`
	} `json:"spec"`
}

// postBuild is the substitution of a Flux Kustomization.
type postBuild struct {
	Substitute     map[string]string `json:"substitute"`
	SubstituteFrom []variablesFrom   `json:"substituteFrom"`
}

// variablesFrom is an object whose data become variables.
type variablesFrom struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Optional bool   `json:"optional"`
}

// valuesFrom is an object with values in a key. The controller forgives an optional one both a missing object and a
// missing key.
type valuesFrom struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	ValuesKey  string `json:"valuesKey"`
	TargetPath string `json:"targetPath"`
	Literal    bool   `json:"literal"`
	Optional   bool   `json:"optional"`
}

// release is a HelmRelease.
type release struct {
	manifest.Object
	Spec struct {
		Chart *struct {
			Spec chartSpec `json:"spec"`
		} `json:"chart"`
		Install struct {
			DisableSchemaValidation bool `json:"disableSchemaValidation"`
		} `json:"install"`
		ChartRef   *reference     `json:"chartRef"`
		DependsOn  []reference    `json:"dependsOn"`
		ValuesFrom []valuesFrom   `json:"valuesFrom"`
		Values     map[string]any `json:"values"`

		// What takes a release elsewhere, or has others at work for it.
		ReleaseName        string    `json:"releaseName"`
		TargetNamespace    string    `json:"targetNamespace"`
		StorageNamespace   string    `json:"storageNamespace"`
		ServiceAccountName string    `json:"serviceAccountName"`
		KubeConfig         *struct{} `json:"kubeConfig"`
		PostRenderers      []any     `json:"postRenderers"`
	} `json:"spec"`
}

// firstKustomization is the one that bootstrap makes, at the cluster's path.
func firstKustomization(p published.Set) kustomization {
	var k kustomization
	k.APIVersion, k.Kind = kustomizeGroup+"/v1", "Kustomization"
	k.Metadata.Name, k.Metadata.Namespace = names.Platform, names.FluxNamespace
	k.Spec.Path = p.Path
	k.Spec.SourceRef = reference{Kind: "GitRepository", Name: names.Platform}
	k.Spec.PostBuild = &postBuild{SubstituteFrom: []variablesFrom{{Kind: "ConfigMap", Name: names.InfraConfig}}}
	return k
}

// sources are the objects that its variables come from.
func (k kustomization) sources() []variablesFrom {
	if k.Spec.PostBuild == nil {
		return nil
	}
	return k.Spec.PostBuild.SubstituteFrom
}

// options are what it adds to a kustomization file.
func (k kustomization) options() kustomize.Options {
	return kustomize.Options{
		Namespace: k.Spec.TargetNamespace, NamePrefix: k.Spec.NamePrefix, NameSuffix: k.Spec.NameSuffix,
		Patches: k.Spec.Patches, Components: k.Spec.Components, IgnoreMissingComponents: k.Spec.IgnoreMissingComponents,
		Images: k.Spec.Images,
	}
}

// absent is a reference to an object that is not there.
type absent struct {
	inventory.ID
	// inNamespace says that the reference itself names the namespace.
	inNamespace bool
	// known are the names of the objects that there are of the kind in the
	// namespace.
	known []string
	// otherKind or otherNamespace has an object of the name.
	otherKind, otherNamespace string
	// elsewhere says that what was not followed may have the object.
	elsewhere bool
}

// absent is a reference from a namespace to an object that is not there.
func (w *Walk) absent(ref reference, namespace string) absent {
	a := absent{ID: inventory.ID{Kind: ref.Kind, Namespace: ref.in(namespace), Name: ref.Name}, inNamespace: ref.Namespace != "", elsewhere: w.Elsewhere}
	a.elsewhere = a.elsewhere || w.inventory.MayBeMade(a.ID)
	a.known = w.inventory.In(a.Kind, a.Namespace)
	a.otherKind, a.otherNamespace = w.inventory.Namesake(a.ID)
	return a
}

// CheckSecrets warns of Secrets that the cluster file names and nothing makes.
func (w *Walk) CheckSecrets() {
	w.Walk.CheckSecrets(w.inventory)
	w.CheckNeeded(w.inventory)
}

// misspelt says whether the name is nearly that of what is there.
func (a absent) misspelt() bool { return wording.Nearest(a.Name, a.known) != "" }

// gravity of what is missing: it may be what was not followed that makes it,
// unless its name is nearly that of what is here.
func (a absent) gravity() finding.Severity {
	if a.elsewhere && !a.misspelt() {
		return finding.Warning
	}
	return finding.Error
}

// remedy names the object that was probably meant, or gives other advice.
func (a absent) remedy(otherwise string) string {
	switch {
	case a.otherNamespace != "":
		otherwise = fmt.Sprintf("%s %s is in namespace %s", a.Kind, a.Name, a.otherNamespace)
	case a.otherKind != "":
		otherwise = fmt.Sprintf("there is a %s of that name", a.otherKind)
	}
	return near.DidYouMean(a.Name, a.known, otherwise)
}

// suspect is the field of the reference that is probably wrong: its kind or
// namespace when the same name exists with another one, and else the name.
func (a absent) suspect(o manifest.Object, path ...string) tree.Wanted {
	field, value, besides := "name", a.Name, map[string]string{"kind": a.Kind}
	switch {
	case a.misspelt():
	case a.otherNamespace != "" && a.inNamespace:
		field, value, besides = "namespace", a.Namespace, map[string]string{"name": a.Name}
	case a.otherKind != "":
		field, value, besides = "kind", a.Kind, map[string]string{"name": a.Name}
	}
	return tree.Wanted{Object: o, Path: slices.Concat(path, []string{field}), Value: value, Besides: besides}
}

// referOptional reports something that is not there; if it is optional, only when
// a name was probably misspelt.
func (w *Walk) referOptional(in *walk.Origin, what tree.Wanted, optional, misspelt bool, f finding.Finding) {
	if optional {
		if !misspelt {
			return
		}
		f.Severity = finding.Warning
		f.Message += "; it is optional, so the engine reports no error"
	}
	w.Refer(in, what, f)
}
