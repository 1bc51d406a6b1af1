package walk

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/finding"
	"tombolo/check/kustomize"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/check/tree/treetest"
)

func walkOf(t *testing.T, texts map[string]string) *Walk {
	t.Helper()
	files := treetest.Index(t, treetest.FS(texts))
	return &Walk{Name: "tree", Files: files, Builds: kustomize.NewBuilder(files), Published: published.Set{Cluster: "one", Path: "start"}}
}

// found are the findings, a line each.
func found(w *Walk) string {
	var b strings.Builder
	for _, f := range w.Findings {
		f.Clusters = []string{"one"}
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

func TestRefer(t *testing.T) {
	w := walkOf(t, map[string]string{"a.yaml": "kind: App\nmetadata:\n  name: x\nspec:\n  path: ${p}\n"})
	parent := &Origin{Read: []string{"a.yaml"}, Evaluate: func(text string) string { return strings.ReplaceAll(text, "${p}", "there") }}
	in := &Origin{Parent: parent, Path: "./below/"}
	what := tree.Wanted{Path: []string{"spec", "path"}, Value: "there"}
	what.Object.Kind, what.Object.Metadata.Name = "App", "x"
	w.Refer(in, what, finding.Finding{Severity: finding.Error, Message: "a"})
	what.Value = "nowhere"
	w.Refer(in, what, finding.Finding{Severity: finding.Error, Message: "b"})
	w.Refer(nil, what, finding.Finding{Severity: finding.Error, Message: "c"})
	assert.Check(t, is.Equal(found(w), "tree/a.yaml:5:9: error: a (cluster one)\ntree/below: error: b (cluster one)\ntree: error: c (cluster one)\n"))
}

func TestBuildReports(t *testing.T) {
	for name, test := range map[string]struct {
		texts map[string]string
		want  string
	}{
		"what is not there": {
			map[string]string{"start/kustomization.yaml": "resources: [b.yaml]\n", "start/a.yaml": ""},
			"tree/start/kustomization.yaml:1:13: error: b.yaml is not in the tree (cluster one); did you mean \"a.yaml\"?\n",
		},
		"what is no field": {
			map[string]string{"start/kustomization.yaml": "resources: [../apps]\n", "apps/kustomization.yaml": "resource: []\n"},
			"tree/apps/kustomization.yaml:1:1: error: kustomize knows no field \"resource\" here (cluster one); did you mean \"resources\"?\n",
		},
		"what is no YAML": {
			map[string]string{"start/kustomization.yaml": "resources: [a.yaml]\n", "start/a.yaml": "a: 1\nb: [\n"},
			"tree/start/a.yaml:2:1: error: this is not YAML: ",
		},
		"a component as a resource": {
			map[string]string{"start/kustomization.yaml": "resources: [../c]\n", "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: a-\n"},
			"tree/start/kustomization.yaml:1:13: error: App platform cannot be built: expected kind != 'Component' for path '/c' (cluster one); list it in components\n",
		},
		"a patch of nothing": {
			map[string]string{"start/kustomization.yaml": "resources: [a.yaml]\npatches:\n- patch: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: b}\n", "start/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"},
			"tree/start/kustomization.yaml:6:22: error: App platform cannot be built: no resource matches strategic merge patch \"ConfigMap.v1.[noGrp]/b.[noNs]\": no matches for Id ConfigMap.v1.[noGrp]/b.[noNs]; failed to find unique target for patch ConfigMap.v1.[noGrp]/b.[noNs] (cluster one); correct the kind, name or namespace in the patch, or remove it\n",
		},
		"an alias of another document": {
			map[string]string{"start/kustomization.yaml": "resources: [a.yaml]\n", "start/a.yaml": "a: &a 1\n---\nb: *a\n"},
			"tree/start/a.yaml:3:4: error: this is not YAML: unknown anchor 'a' referenced (cluster one); define it with & before the alias, in the same document\n",
		},
		"an end without a start": {
			map[string]string{"start/kustomization.yaml": "resources: [a.yaml]\n", "start/a.yaml": "a: 1\n---\n...\n---"},
			"tree/start/a.yaml:2:1: error: this is not YAML: did not find expected node content (cluster one); look at what is between its documents\n",
		},
		"what is elsewhere": {
			map[string]string{"start/kustomization.yaml": "resources: [https://example.com/a.yaml]\n"},
			"tree/start/kustomization.yaml:1:13: note: https://example.com/a.yaml is not followed: it is not in this tree (cluster one)\n",
		},
		"what kustomize says": {
			map[string]string{"start/kustomization.yaml": "nameReference: {}\nresources: []\nnamePrefix: [a]\n"},
			"tree/start/kustomization.yaml:3:13: error: App platform cannot be built: namePrefix is a list, and has to be text (cluster one)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := walkOf(t, test.texts)
			in := &Origin{Path: "start"}
			in.Object.Kind, in.Object.Metadata.Name = "App", "platform"
			_, ok := w.Build(in, kustomize.Options{})
			got := found(w)
			assert.Check(t, strings.HasPrefix(got, test.want) && w.Incomplete != ok, "found\n%swant\n%s", got, test.want)
		})
	}
}

func TestInClusterFile(t *testing.T) {
	w := walkOf(t, map[string]string{"starts/a.yaml": ""})
	w.Published.File, w.Published.Source = "one.yaml", "name: one\ngitops:\n  path: start\nservices:\n  - namespace: net\n    name: dns\n"
	w.Published.Shared = []published.Source{{File: "_prod.yaml", Text: "gitops: {}\nvalues:\n  zone: a\n"}}
	w.WrongStart()
	w.InClusterFile([]string{"values", "zone"}, finding.Finding{Severity: finding.Warning, Message: "is not used"})
	w.InClusterFile([]string{"services", "dns"}, finding.Finding{Severity: finding.Warning, Message: "is idle"}).Unused = "dns"
	got := found(w)
	want := `one.yaml:3:3: error: gitops.path "start" is not a directory of the platform tree (cluster one); did you mean "starts"?
_prod.yaml:3:3: warning: is not used (cluster one)
one.yaml:6:11: warning: is idle (cluster one)
`
	assert.Check(t, got == want && w.Findings[2].Unused == "dns", "found\n%swant\n%s", got, want)
}
