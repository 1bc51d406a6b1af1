package kustomize

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/platform/contract/tree/treetest"
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
	"transformers: ['{\"apiVersion\": \"builtin\", \"kind\": \"PatchTransformer\", \"metadata\": {\"name\": \"a\"}, \"path\": REF}']",
	"generators: ['{\"apiVersion\": \"builtin\", \"kind\": \"ConfigMapGenerator\", \"metadata\": {\"name\": \"a\"}, \"files\": [REF]}']",
	"transformers: ['{\"apiVersion\": \"builtin\", \"kind\": \"ReplacementTransformer\", \"metadata\": {\"name\": \"a\"}, \"replacements\": [{\"path\": REF}]}']",
	"transformers: [plugin.yaml]", "resources: [below]",
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
				"own/plugin.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: \"" + reference + "\"\n",
			}))).Build("own", Options{})
			if got := w.reached(); got != "" {
				t.Fatalf("%s: %s", text, got)
			}
			if built.Err == nil && len(built.Remote) == 0 {
				t.Errorf("%s: nothing tells that it was not followed", text)
			}
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
		if got := w.reached(); got != "" || built.Err == nil {
			t.Errorf("%s: %v; %s", reference, built.Err, got)
		}
	}
}
