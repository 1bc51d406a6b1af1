package kustomize

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/tree/treetest"
)

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
		if got := strings.Join(built.Read, " "); got != want.read {
			t.Errorf("%s reads %s, want %s", dir, got, want.read)
		}
	}
	at := tree.Place{File: "own/kustomization.yaml", Line: 1, Column: 28}
	if remote := b.Build("own", Options{}).Remote; remote[at] != "https://example.com/a.yaml" {
		t.Errorf("remote references %v", remote)
	}
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
		if got := UnknownField([]byte(text)); got != want {
			t.Errorf("%q has the unknown field %q, want %q", text, got, want)
		}
	}
}
