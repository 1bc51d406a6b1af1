package argocd

import (
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/gobwas/glob"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8syaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"tombolo/check/finding"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// skipMarker in a file makes Argo CD leave it out.
const skipMarker = "+argocd:skip-file-rendering"

// directory is how the manifests of a directory are chosen.
type directory struct {
	Recurse bool   `json:"recurse"`
	Include string `json:"include"`
	Exclude string `json:"exclude"`
}

// takes says whether a file of the directory is one of its manifests, by its name from
// there. Source: getPotentiallyValidManifestFile in reposerver/repository/repository.go.
func (d directory) takes(name string) bool {
	excluded := d.Exclude != "" && matches(d.Exclude, name)
	return !excluded && (d.Include == "" || matches(d.Include, name))
}

// matches compares as Argo CD's util/glob does: a star takes in slashes, and a pattern
// that cannot be read matches nothing.
func matches(pattern, name string) bool {
	g, err := glob.Compile(pattern)
	return err == nil && g.Match(name)
}

// directory are the objects of a directory's own manifests.
func (w *Walk) directory(in *walk.Origin, given *directory) []string {
	var d directory
	if given != nil {
		d = *given
	}
	var out []string
	dir := in.Dir()
	linked := slices.DeleteFunc(w.Files.LinkedIn(dir), w.Files.IsDir) // which Argo CD does not go into
	for _, name := range slices.Sorted(slices.Values(slices.Concat(w.Files.Names(), linked))) {
		below, ok := strings.CutPrefix(name, dir+"/")
		if dir == "." {
			below, ok = name, true
		}
		if !ok || strings.Contains(below, "/") && !d.Recurse || !d.takes(below) {
			continue
		}
		out = append(out, w.manifests(in, name)...)
	}
	return out
}

// manifests are the objects of one file.
func (w *Walk) manifests(in *walk.Origin, name string) []string {
	kind := path.Ext(name)
	if !slices.Contains([]string{".yaml", ".yml", ".json", ".jsonnet"}, kind) {
		return nil
	}
	text, err := w.Files.Read(name)
	switch {
	case err != nil || bytes.Contains(text, []byte(skipMarker)):
		return nil
	case kind == ".jsonnet":
		w.Elsewhere = true
		w.Note(tree.Place{File: name}, "is not followed: Argo CD evaluates Jsonnet")
		return nil
	}
	in.Read = append(in.Read, name)
	objects, err := objectsOf(text, kind == ".json")
	if err != nil {
		w.Incomplete = true
		w.unreadableFile(in, name, err)
	}
	return objects
}

// objectsOf are the objects of a file, and why Argo CD stops at it. YAML that is no manifest from its start on
// it leaves out; a file in JSON has to be one object.
// Source: getObjsFromYAMLOrJSON in reposerver/repository/repository.go of argoproj/argo-cd v3.5.
func objectsOf(text []byte, inJSON bool) ([]string, error) {
	decoder := k8syaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	var out []string
	for {
		var o *unstructured.Unstructured
		err := decoder.Decode(&o)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil && !inJSON && len(out) == 0 && !looksLikeManifest(text):
			return nil, nil
		case err != nil:
			return out, err
		case inJSON && len(out) > 0:
			return out, errors.New("a file in JSON can have one object alone")
		case o == nil || len(o.Object) == 0:
			continue
		}
		some, err := itemsOf(o)
		if err != nil {
			return out, err
		}
		out = append(out, some...)
	}
}

// looksLikeManifest says whether Argo CD takes a file that it cannot read for a manifest with a mistake.
func looksLikeManifest(text []byte) bool {
	return bytes.Contains(text, []byte("apiVersion:")) && bytes.Contains(text, []byte("kind:")) && bytes.Contains(text, []byte("metadata:"))
}

// itemsOf is an object, or those of a list.
func itemsOf(o *unstructured.Unstructured) ([]string, error) {
	all := []unstructured.Unstructured{*o}
	if o.IsList() {
		list, err := o.ToList()
		if err != nil {
			return nil, err
		}
		all = list.Items
	}
	var out []string
	for _, item := range all {
		text, err := yaml.Marshal(item.Object)
		if err != nil {
			return nil, err
		}
		out = append(out, string(text))
	}
	return out, nil
}

// unreadableFile reports a file that Argo CD stops at, at the line that is wrong as YAML, if there is one.
func (w *Walk) unreadableFile(in *walk.Origin, name string, err error) {
	before := len(w.Findings)
	w.CheckSyntax(name)
	if len(w.Findings) > before {
		return
	}
	w.At(tree.Place{File: name}, finding.Errorf("%s cannot be read by Argo CD: %s", in.Object.Identity(), walk.Innermost(err)).
		WithRemedy("correct the file, or leave it out by directory.exclude or a comment with "+skipMarker))
}
