package kustomize

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/tree/treetest"
)

// TestRefused: each reason has the place of the entry that it names; want are line and column, of kustomization.yaml
// unless it says another file, and a part of the cause.
func TestRefused(t *testing.T) {
	const all = "resources: [a.yaml]\n"
	const generator = all + "configMapGenerator:\n- name: z\n"
	for name, test := range map[string]struct {
		own   string
		files map[string]string
		want  string
	}{
		"text for a list":              {"resources: a.yaml\n", nil, "1:12 resources is text, and has to be a list"},
		"a list for text":              {all + "namePrefix: [a]\n", nil, "2:13 namePrefix is a list, and has to be text"},
		"a number for text":            {all + "namespace: 12\n", nil, "2:12 namespace is a number, and has to be text"},
		"text for a boolean":           {all + "generatorOptions: {disableNameSuffixHash: 'yes'}\n", nil, "2:43 generatorOptions.disableNameSuffixHash is text, and has to be a boolean"},
		"a boolean in a list":          {all + "patches:\n- {target: {kind: A, name: y}, path: a.yaml}\n", nil, "3:28 patches.target.name is a boolean, and has to be text"},
		"a list in a mapping":          {all + "labels: [{pairs: {a: [b]}}]\n", nil, "2:22 labels.pairs is a list, and has to be text"},
		"a patch of nothing":           {all + "patches:\n- patch: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: b}\n", nil, "6:22 no resource matches strategic merge patch"},
		"a patch of what is not there": {all + "patches:\n- target: {kind: ConfigMap}\n  patch: |\n    - {op: replace, path: /spec/b, value: c}\n", nil, "5:27 replace operation does not apply"},
		"a patch without a name":       {all + "patches:\n- patch: |\n    data: {b: c}\n", nil, "3:10 trouble configuring builtin PatchTransformer"},
		"an object twice":              {"resources: [a.yaml, b.yaml]\n", map[string]string{"b.yaml": object}, "1:21 may not add resource with an already registered id: ConfigMap.v1.[noGrp]/NAME"},
		"an entry twice":               {"resources: [a.yaml, a.yaml]\n", nil, "1:21 may not add resource with an already registered id"},
		"an object twice below":        {"resources: [a.yaml, ../base]\n", map[string]string{"../base/kustomization.yaml": "resources: [b.yaml]\n", "../base/b.yaml": object}, "1:21 may not add resource with an already registered id"},
		"a component of resources":     {"resources: [a.yaml, ../base]\n", map[string]string{"../base/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: []\n"}, "1:21 expected kind != 'Component' for path '/base'"},
		"a directory without a file":   {"resources: [a.yaml, ../base]\n", map[string]string{"../base/b.yaml": object}, "1:21 couldn't make target for path '/base'"},
		"a circle":                     {"resources: [../base]\n", map[string]string{"../base/kustomization.yaml": "resources: [../own]\n"}, "base/kustomization.yaml 1:13 cycle detected"},
		"a literal without a value":    {generator + "  literals: [ab]\n", nil, "4:14 loading KV pairs: literal sources [ab]"},
		"a key twice":                  {generator + "  literals: [a=b, a=c]\n", nil, "3:9 configmap z illegally repeats the key"},
		"a generator without a name":   {all + "configMapGenerator:\n- literals: [a=b]\n", nil, "2:1 a configmap must have a name"},
		"nothing to merge with":        {generator + "  behavior: merge\n", nil, "4:13 merging from generator: id resid.ResId"},
		"no source of a replacement":   {all + "replacements:\n- source: {kind: ConfigMap, name: none, fieldPath: data.a}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.c]}]\n", nil, "3:52 nothing selected by ConfigMap"},
		"another kind":                 {"kind: Other\nresources: [a.yaml]\n", nil, "1:1 Failed to read kustomization file"},
		"replicas of nothing":          {all + "replicas: [{name: none, count: 2}]\n", nil, "2:19 resource with name none does not match"},
		"an object without a kind":     {"resources: [a.yaml, b.yaml]\n", map[string]string{"b.yaml": "# one\na: b\n"}, "own/b.yaml 2:1 missing Resource metadata"},
		"an object without a name":     {"resources: [b.yaml]\n", map[string]string{"b.yaml": object + "---\nkind: ConfigMap\napiVersion: v1\n"}, "own/b.yaml 6:1 missing metadata.name in object"},
	} {
		texts := map[string]string{"own/kustomization.yaml": test.own, "own/a.yaml": object}
		for name, text := range test.files {
			maps.Copy(texts, map[string]string{strings.TrimPrefix("own/"+name, "own/../"): text})
		}
		b := NewBuilder(treetest.Index(t, treetest.FS(texts)))
		built := b.Build("own", Options{})
		assert.Assert(t, built.Err != nil, name)
		r, _ := b.Refused("own", built, nil, nil)
		got := strings.TrimPrefix(fmt.Sprintf("%s %d:%d %s", r.At.File, r.At.Line, r.At.Column, r.Cause), "own/kustomization.yaml ")
		assert.Check(t, is.Equal(got[:min(len(got), len(test.want))], test.want), name)
	}
}
