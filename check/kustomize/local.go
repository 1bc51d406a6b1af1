package kustomize

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	"sigs.k8s.io/kustomize/api/types"
	sigsyaml "sigs.k8s.io/yaml"

	"tombolo/check/tree"
)

// IsLocal says whether kustomize takes a reference for a path. What it fetches
// has a scheme, a user before an @, or begins with github.com; a reference that
// could be one of these is none of the tree's, even where a file has that name.
func IsLocal(reference string) bool {
	return reference != "" && !path.IsAbs(reference) && !strings.ContainsAny(reference, ":@?\\\x00\n") &&
		!strings.HasPrefix(strings.ToLower(reference), "github.com/")
}

// inlineStart is how a text begins that stands for a file in the lists that can
// hold either. No reference begins so.
var inlineStart = regexp.MustCompile(`^(---\s|#|\{|\[|-\s|apiVersion:|kind:|metadata:)`)

// isInline says whether an item is such a text.
func isInline(item string) bool {
	var content any
	return inlineStart.MatchString(item) && yaml.Unmarshal([]byte(item), &content) == nil
}

// read decodes the kustomization file of a directory as kustomize does, without what does not
// name a path of the tree, and returns what it left out.
func read(dir string, text []byte) (types.Kustomization, []string, error) {
	var kus types.Kustomization
	if err := kus.Unmarshal(text); err != nil {
		return kus, nil, err
	}
	return kus, dropOthers(dir, &kus), nil
}

// dropOthers leaves out of a kustomization what is not a path of the tree.
// TestFieldsOfAKustomization fails when kustomize gets fields that are not
// looked at here.
func dropOthers(dir string, kus *types.Kustomization) []string {
	d := dropped{dir: dir}
	for _, list := range []*[]string{&kus.Resources, &kus.Bases, &kus.Components, &kus.Crds, &kus.Configurations} { //nolint:staticcheck // what is deprecated is loaded too
		*list = d.from(*list, d.within)
	}
	for _, list := range []*[]string{&kus.Generators, &kus.Transformers, &kus.Validators} {
		*list = d.from(*list, func(item string) bool { return d.within(item) || isInline(item) })
	}
	kus.PatchesStrategicMerge = keep(kus.PatchesStrategicMerge, func(p types.PatchStrategicMerge) bool { //nolint:staticcheck // as above
		return isInline(string(p)) || d.isLocal(string(p))
	})
	byPath := func(p types.Patch) bool { return p.Path == "" || d.isLocal(p.Path) }
	kus.Patches = keep(kus.Patches, byPath)
	kus.PatchesJson6902 = keep(kus.PatchesJson6902, byPath) //nolint:staticcheck // as above
	kus.Replacements = keep(kus.Replacements, func(r types.ReplacementField) bool { return r.Path == "" || d.isLocal(r.Path) })
	for i := range kus.ConfigMapGenerator {
		d.fromSources(&kus.ConfigMapGenerator[i].KvPairSources)
	}
	for i := range kus.SecretGenerator {
		d.fromSources(&kus.SecretGenerator[i].KvPairSources)
	}
	if at, ok := kus.OpenAPI["path"]; ok && !d.isLocal(at) {
		delete(kus.OpenAPI, "path")
	}
	if len(d.references) > 0 && kus.CheckEmpty() != nil {
		kus.GeneratorOptions = &types.GeneratorOptions{} // kustomize refuses a file that says nothing
	}
	return d.references
}

// dropped are references that were left out of the kustomization file of a directory.
type dropped struct {
	dir        string
	references []string
}

// within says whether a reference is a path that stays in the tree.
func (d *dropped) within(reference string) bool {
	return IsLocal(reference) && !tree.Leaves(d.dir, reference)
}

func (d *dropped) isLocal(reference string) bool {
	if d.within(reference) {
		return true
	}
	d.references = append(d.references, reference)
	return false
}

func (d *dropped) from(list []string, keeps func(string) bool) []string {
	return keep(list, func(item string) bool {
		if keeps(item) {
			return true
		}
		d.references = append(d.references, item)
		return false
	})
}

// fromSources looks behind the name= that a generator's file may have.
func (d *dropped) fromSources(s *types.KvPairSources) {
	s.FileSources = d.from(s.FileSources, func(item string) bool {
		return d.within(fileOf(item))
	})
	s.EnvSources = d.from(s.EnvSources, d.within)
	if s.EnvSource != "" && !d.isLocal(s.EnvSource) {
		s.EnvSource = ""
	}
}

// fileOf is the file of an item that may have name= before it.
func fileOf(item string) string {
	if _, file, named := strings.Cut(item, "="); named {
		return file
	}
	return item
}

// keep is a list without what a condition does not hold for, and nil if nothing
// is left: an empty list is something else to kustomize.
func keep[T any](list []T, holds func(T) bool) []T {
	if list = slices.DeleteFunc(list, func(item T) bool { return !holds(item) }); len(list) == 0 {
		return nil
	}
	return list
}

// local is the text of a kustomization file without what is not a path of the
// tree.
func local(dir string, text []byte) ([]byte, error) {
	kus, others, err := read(dir, text)
	if err != nil || len(others) == 0 {
		return text, err
	}
	return sigsyaml.Marshal(kus)
}

// places are where in a file the references are, in the order of the file. One
// that is written in another way than kustomize reads it is at the file's start.
func places(file string, text []byte, references []string) map[tree.Place]string {
	out := map[tree.Place]string{}
	found := map[string]bool{}
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) == nil {
		eachScalar(&doc, func(n *yaml.Node) {
			if slices.Contains(references, n.Value) {
				out[tree.Place{File: file, Line: n.Line, Column: n.Column}] = n.Value
				found[n.Value] = true
			}
		})
	}
	for _, reference := range references {
		if !found[reference] {
			out[tree.Place{File: file, Line: 1, Column: 1}] = reference
		}
	}
	return out
}

func eachScalar(n *yaml.Node, visit func(*yaml.Node)) {
	if n.Kind == yaml.ScalarNode {
		visit(n)
	}
	for _, below := range n.Content {
		eachScalar(below, visit)
	}
}

// loading are the lists of a kustomization file whose items kustomize loads.
var loading = []string{
	"resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators",
	"patchesStrategicMerge", "files", "envs",
}

// Lists are the fields of a kustomization file that hold what kustomize loads.
func Lists() []string { return slices.Clone(loading) }

// Loads returns the file or directory that a value of a kustomization file
// names.
func Loads(v tree.Value) (string, bool) {
	if v.IsKey || v.Node.Kind != yaml.ScalarNode || strings.Contains(v.Node.Value, "\n") || len(v.Path) < 2 {
		return "", false
	}
	last := len(v.Path) - 1
	switch {
	case v.Path[last] == "[]" && slices.Contains(loading, v.Path[last-1]):
		name := fileOf(v.Node.Value)
		return name, IsLocal(name)
	case v.Path[last] == "path" && v.Path[0] != "replacements" && len(v.Path) == 3:
		return v.Node.Value, IsLocal(v.Node.Value)
	}
	return "", false
}

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// UnknownField is a field in the text of a kustomization file that it cannot
// have, or "".
func UnknownField(text []byte) string {
	var kus types.Kustomization
	if m := unknownField.FindStringSubmatch(fmt.Sprint(kus.Unmarshal(text))); m != nil {
		return m[1]
	}
	return ""
}

// Kind says what kustomize makes of a reference that is no path of the tree.
type Kind string

const (
	// Outside is what no engine builds: a place of the machine that builds, or one above
	// the tree.
	Outside Kind = "outside"
	// Git is what kustomize starts Git for.
	Git Kind = "git"
	// HTTP is the address of a manifest, which kustomize fetches by itself.
	HTTP Kind = "http"
	// Address is one that kustomize fetches, or starts Git for where that brings no manifest.
	Address Kind = "address"
	// Unclear is a name that could be a file's or a repository's.
	Unclear Kind = "unclear"
)

var (
	// keyBefore is the name= before a generator's file.
	keyBefore = regexp.MustCompile(`^[-._a-zA-Z0-9]+=`)
	// userBefore is the user before a host, as kustomize knows repositories by.
	userBefore = regexp.MustCompile(`^[a-z][-a-z0-9]*@[^/:]+[/:]`)
	// gitMarks are in the path of a repository, which kustomize parts from a directory in it.
	// Source: NewRepoSpecFromURL in api/internal/git/repospec.go of kubernetes-sigs/kustomize.
	gitMarks = regexp.MustCompile(`\.git(/|$)|/_git/|//`)
)

// KindOf is what a reference is in a kustomization file of a directory of the tree.
func KindOf(dir, reference string) Kind {
	r := strings.ToLower(keyBefore.ReplaceAllString(reference, ""))
	forced := strings.HasPrefix(r, "git::")
	for strings.HasPrefix(r, "git::") {
		r = strings.TrimPrefix(r, "git::")
	}
	scheme, _, isURL := strings.Cut(r, "://")
	switch {
	case path.IsAbs(r), strings.HasPrefix(r, "file:"), !isURL && tree.Leaves(dir, r):
		return Outside
	case forced, isURL && scheme != "http" && scheme != "https", userBefore.MatchString(r), strings.HasPrefix(r, "github.com/"), strings.HasPrefix(r, "github.com:"):
		return Git
	case isURL:
		return kindOfAddress(r)
	}
	return Unclear
}

func kindOfAddress(address string) Kind {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return Address
	case gitMarks.MatchString(u.Path), u.User != nil, u.Query().Has("ref"), u.Query().Has("version"):
		return Git
	case slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(u.Path)):
		return HTTP
	case u.Hostname() == "github.com" && strings.Count(strings.Trim(u.Path, "/"), "/") == 1:
		return Git
	}
	return Address
}
