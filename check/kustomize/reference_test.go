package kustomize

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/tree/treetest"
)

// elsewhere are the forms in which kustomize takes a reference for one to the
// network (NewRepoSpecFromURL and IsRemoteFile, kustomize api v0.21), and the
// ways to write each.
var elsewhere = []string{
	"https://example.com/o/r", "HTTPS://example.com/o/r", "http://example.com/a.yaml", "hTTp://example.com/a.yaml",
	"ssh://git@example.com/o/r", "SSH://example.com/o/r", "file:///o/r", "File:///o/r.git", "file://user@o/r",
	"git::https://example.com/o/r", "GIT::Https://example.com/o/r", "git::git@example.com:o/r", "git::git::https://example.com/o/r",
	"git@example.com:o/r", "some-one@example.com:o/r.git", "g@h/o/r", "github.com/o/r", "GitHub.com/o/r", "GITHUB.COM:o/r",
	"git@github.com:o/r", "https://user@github.com/o/r", "https://example.com/a/_git/r/p", "https://example.com/r//p",
	"https://example.com/o/r?ref=--upload-pack=x", "SSH://x/o/r?version=-x", "github.com/o/r?ref=--x&timeout=1&submodules=false",
	"git@example.com:o/r?ref=--output=x", "git::{kind: x}@example.com:o/r", "git::https://example.com/o/r?ref=--x: {}",
}

// fields are the ways in which a kustomization file names what kustomize loads.
var fields = []string{
	"resources: [REF]", "bases: [REF]", "components: [REF]", "crds: [REF]", "configurations: [REF]", "generators: [REF]",
	"transformers: [REF]", "validators: [REF]", "patchesStrategicMerge: [REF]", "patches: [{path: REF}]",
	"patchesJson6902: [{path: REF, target: {kind: A, name: b, version: v1}}]", "replacements: [{path: REF}]", "openapi: {path: REF}",
	"configMapGenerator: [{name: a, files: [REF]}]", "configMapGenerator: [{name: a, envs: [REF]}]", "configMapGenerator: [{name: a, env: REF}]",
	"secretGenerator: [{name: a, files: [REF]}]", "secretGenerator: [{name: a, envs: [REF]}]", "secretGenerator: [{name: a, env: REF}]",
	"Resources: [REF]", "RESOURCES: [REF]", "x: &x [REF]\nresources: *x", "{\"resources\": [REF]}", "resources: [a.yaml]\ncomponents:\n- REF",
	"resources: [below]",
}

// watched counts the starts of git and the requests that leave through HTTP.
type watched struct{ dir string }

func watch(t testing.TB) watched {
	t.Helper()
	w := watched{t.TempDir()}
	script := "#!/bin/sh\necho \"$@\" >> " + filepath.Join(w.dir, "ran") + "\nexit 1\n"
	assert.NilError(t, os.WriteFile(filepath.Join(w.dir, "git"), []byte(script), 0o700))
	t.Setenv("PATH", w.dir)
	transport := http.DefaultTransport
	http.DefaultTransport = w
	t.Cleanup(func() { http.DefaultTransport = transport })
	return w
}

func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, errors.Join(errors.New("watched"), os.WriteFile(filepath.Join(w.dir, "asked"), []byte(r.URL.String()), 0o600))
}

// reached says what was started or asked since the last call.
func (w watched) reached() string {
	var out []string
	for _, name := range []string{"ran", "asked"} {
		if text, err := os.ReadFile(filepath.Join(w.dir, name)); err == nil {
			out = append(out, name+" "+string(text))
			_ = os.Remove(filepath.Join(w.dir, name))
		}
	}
	return strings.Join(out, "; ")
}

// TestNothingIsFetched builds a tree for each form of a reference in each field
// that has one, with a git on the path and a way out for HTTP: neither is used,
// and what was not followed is told.
func TestNothingIsFetched(t *testing.T) {
	w := watch(t)
	for _, field := range fields {
		for _, reference := range elsewhere {
			text := strings.ReplaceAll(field, "REF", `"`+reference+`"`)
			below := "resources: [../a.yaml]\n"
			if field == "resources: [below]" {
				below = "resources: [\"" + reference + "\"]\n"
			}
			built := NewBuilder(treetest.Index(t, treetest.FS(map[string]string{
				"own/kustomization.yaml": text + "\n", "own/a.yaml": object, "own/below/kustomization.yaml": below,
			}))).Build("own", Options{})
			assert.Assert(t, is.Equal(w.reached(), ""), text)
			assert.Check(t, built.Err != nil || len(built.Remote) > 0, "%s: nothing tells that it was not followed", text)
		}
	}
}

// TestReferencesOfEnginesAreLocal refuses what the object of an engine adds, in
// every form.
func TestReferencesOfEnginesAreLocal(t *testing.T) {
	w := watch(t)
	for _, reference := range elsewhere {
		b := NewBuilder(treetest.Index(t, treetest.FS(map[string]string{"own/kustomization.yaml": "resources: [a.yaml]\n", "own/a.yaml": object})))
		built := b.Build("own", Options{Components: []string{reference}})
		got := w.reached()
		assert.Check(t, got == "" && built.Err != nil, "%s: %v; %s", reference, built.Err, got)
	}
}

// FuzzReference holds what is taken for a path of the tree to kustomize itself:
// what it would fetch is none.
func FuzzReference(f *testing.F) {
	for _, reference := range append(elsewhere, "a.yaml", "../a", "a=b", "x:y", "./github.com/o/r", "a@b", "a//b?ref=x", ".git/a") {
		f.Add(reference)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		if !IsLocal(reference) {
			return
		}
		w := watch(t)
		for _, list := range []string{"resources", "components", "crds", "generators"} {
			runKustomize(t, map[string][]string{list: {reference}})
		}
		assert.Check(t, is.Equal(w.reached(), ""), reference)
	})
}

// TestElsewhereIsWhatKustomizeFetches shows that the forms of the other tests
// are forms: kustomize on its own starts git for them, or asks by HTTP.
func TestElsewhereIsWhatKustomizeFetches(t *testing.T) {
	w := watch(t)
	for _, reference := range elsewhere {
		if strings.HasPrefix(reference, "git::{") || strings.HasPrefix(reference, "git::git::") {
			continue // kustomize of this version does not know them
		}
		runKustomize(t, map[string][]string{"resources": {reference}})
		assert.Check(t, w.reached() != "", "kustomize does not fetch %s", reference)
		assert.Check(t, !IsLocal(reference), "%s passes for a path of the tree", reference)
	}
}

// runKustomize builds a kustomization file with kustomize as it comes.
func runKustomize(t *testing.T, fields map[string][]string) {
	t.Helper()
	text, err := yaml.Marshal(fields)
	if err != nil {
		return // YAML cannot say it
	}
	disk := filesys.MakeFsInMemory()
	assert.NilError(t, disk.WriteFile("/own/kustomization.yaml", text))
	_, _ = krusty.MakeKustomizer(&krusty.Options{PluginConfig: types.DisabledPluginConfig()}).Run(disk, "/own")
}

// TestFieldsOfAKustomization fails when kustomize knows a field that nobody has
// looked at: whether it names something to load has to be decided in local.go.
func TestFieldsOfAKustomization(t *testing.T) {
	var got []string
	textFields(reflect.TypeOf(types.Kustomization{}), "", map[reflect.Type]bool{}, &got)
	slices.Sort(got)
	want, err := os.ReadFile("testdata/fields.txt")
	assert.NilError(t, err)
	if text := strings.Join(got, "\n") + "\n"; !bytes.Equal([]byte(text), want) {
		t.Errorf("kustomize's fields that hold text are others than testdata/fields.txt has; decide in local.go about the new ones, and write the list anew:\n%s", text)
	}
}

// textFields are the paths of the fields of a type that hold text.
func textFields(of reflect.Type, at string, above map[reflect.Type]bool, out *[]string) {
	switch of.Kind() {
	case reflect.String, reflect.Interface:
		*out = append(*out, at)
	case reflect.Pointer, reflect.Slice:
		textFields(of.Elem(), at, above, out)
	case reflect.Map:
		textFields(of.Elem(), at+".*", above, out)
	case reflect.Struct:
		if above[of] {
			return
		}
		above[of] = true
		for field := range of.Fields() {
			textFields(field.Type, at+"."+field.Name, above, out)
		}
		delete(above, of)
	}
}

const object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: NAME\n"

func names(t *testing.T, b Built) string {
	t.Helper()
	var out []string
	for _, o := range b.Objects {
		object, err := manifest.Decode[manifest.Object](o.Text)
		assert.NilError(t, err)
		out = append(out, object.Identity())
	}
	return strings.Join(out, " ")
}

func TestBuild(t *testing.T) {
	b := NewBuilder(treetest.Index(t, treetest.FS(map[string]string{
		"all/a.yaml": object, "all/below/b.yml": strings.Replace(object, "NAME", "b", 1), "all/c.txt": object,
		"own/kustomization.yaml": "resources: [../all/a.yaml, https://example.com/a.yaml]\nnamePrefix: own-\n",
	})))
	for dir, want := range map[string]struct {
		options     Options
		names, read string
	}{
		"all": {Options{}, "ConfigMap NAME ConfigMap b", "all/a.yaml all/below/b.yml"},
		"own": {Options{Namespace: "there", NameSuffix: "-x"}, "ConfigMap there/own-NAME-x", "all/a.yaml own/kustomization.yaml"},
	} {
		built := b.Build(dir, want.options)
		if got := names(t, built); built.Err != nil || got != want.names {
			t.Errorf("%s makes %s, %v; want %s", dir, got, built.Err, want.names)
		}
		assert.Check(t, is.Equal(strings.Join(built.Read, " "), want.read), dir)
	}
	at := tree.Place{File: "own/kustomization.yaml", Line: 1, Column: 28}
	remote := b.Build("own", Options{}).Remote
	assert.Check(t, remote[at] == "https://example.com/a.yaml", "remote references %v", remote)
}

func TestBuildFails(t *testing.T) {
	b := NewBuilder(treetest.Index(t, treetest.FS(map[string]string{"own/kustomization.yaml": "resources: [none.yaml]\n"})))
	if built := b.Build("own", Options{}); built.Err == nil || !strings.Contains(built.Err.Error(), "none.yaml") || len(built.Read) != 1 {
		t.Errorf("built %v", built)
	}
	if built := b.Build("own", Options{Components: []string{"/abs"}}); built.Err == nil || built.Err.Error() != "component /abs is not a path of the tree relative to own" {
		t.Errorf("built %v", built)
	}
}

func TestUnknownField(t *testing.T) {
	for text, want := range map[string]string{"resource: []\n": "resource", "resources: []\n": "", "a: [": ""} {
		assert.Check(t, is.Equal(UnknownField([]byte(text)), want), text)
	}
}
