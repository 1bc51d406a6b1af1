package argocd

import (
	"maps"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/check/findingtest"
)

// generated is an ApplicationSet with a generator, whose Applications have a path.
func generated(generator, path string) string {
	return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: apps}
spec:
  goTemplate: true
  goTemplateOptions: [missingkey=error]
  generators: [` + generator + `]
  template:
    metadata: {name: 'x-{{ .name }}'}
    spec:
      project: default
      destination: {name: '{{ .name }}'}
      source: {repoURL: 'https://git.test/tree.git', path: '` + path + `'}
`
}

// findings are what a tree's walk reports, with the empty manifests of apps/web and apps/one.
func findings(t *testing.T, texts map[string]string) string {
	t.Helper()
	all := map[string]string{"apps/web/a.yaml": "", "apps/one/a.yaml": ""}
	maps.Copy(all, texts)
	w := of(t, all)
	w.Follow()
	return findingtest.Messages(w.Findings)
}

func TestGitGenerator(t *testing.T) {
	for name, test := range map[string]struct{ file, text, git, path, want string }{
		"object":         {"set/one/a.yaml", "chart: web\n", `files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/{{ .chart }}", ""},
		"object in JSON": {"set/one/a.json", `{"chart": {"name": "web"}}`, `files: [{path: 'set/{{ .name }}/a.json'}]`, "apps/{{ .chart.name }}", ""},
		"list in JSON":   {"set/one/a.json", `[{"chart": "web"}]`, `files: [{path: 'set/{{ .name }}/a.json'}]`, "apps/{{ .chart }}", ""},
		"empty file":     {"set/one/a.yaml", "", `files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/{{ .path.basename }}", ""},
		"segments":       {"set/one/a.yaml", "[{a: 1}]", `files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/{{ index .path.segments 1 }}", ""},
		"filename":       {"set/one/a.yaml", "{}", `files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/{{ .path.filename }}", `path "apps/a.yaml" is not`},
		"prefix":         {"set/one/a.yaml", "{}", `pathParamPrefix: cfg, files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/{{ .cfg.path.basename }}", ""},
		"prefix unused":  {"set/one/a.yaml", "{}", `pathParamPrefix: cfg, files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/{{ .path.basename }}", `there is no "path"`},
		"pattern":        {"set/one/deep/a.yaml", "chart: none", `files: [{path: 'set/*.yaml'}]`, "apps/{{ .chart }}", `path "apps/none" is not`},
		"left out":       {"set/one/deep/a.yaml", "chart: none", `files: [{path: 'set/**/a.yaml'}, {path: 'set/*/deep/*', exclude: true}]`, "apps/{{ .chart }}", ""},
		"scalar":         {"set/one/a.yaml", "text", `files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/web", "is neither an object nor a list of objects"},
		"directories":    {"set/one/a.yaml", "", `directories: [{path: apps/*}, {path: apps/web, exclude: true}]`, "{{ .path.path }}/none", `path "apps/one/none" is not`},
		"hidden":         {"set/.git/a.yaml", "", `directories: [{path: set/*}]`, "none", ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := generated(`{matrix: {generators: [{clusters: {}}, {git: {repoURL: 'https://git.test/tree', `+test.git+`}}]}}`, test.path)
			got := findings(t, map[string]string{"start/s.yaml": set, test.file: test.text})
			assert.Check(t, strings.Contains(got, test.want) && (test.want != "" || got == ""), "found %s\nwant %s", got, test.want)
		})
	}
}

func TestFilterOfGenerator(t *testing.T) {
	const lacks = `path "none" is not a directory`
	for name, test := range map[string]struct{ selector, want string }{
		"label":             {`matchLabels: {metadata.labels.ring: first}`, lacks},
		"other label":       {`matchLabels: {metadata.labels.ring: last}`, ""},
		"annotation":        {`matchLabels: {metadata.annotations.zone: a.test}`, lacks},
		"value":             {`matchLabels: {values.kind: spoke}`, lacks},
		"name":              {`matchLabels: {name: one}`, lacks},
		"in":                {`matchExpressions: [{key: metadata.labels.ring, operator: In, values: [first, second]}]`, lacks},
		"not in":            {`matchExpressions: [{key: metadata.labels.ring, operator: NotIn, values: [first]}]`, ""},
		"exists":            {`matchExpressions: [{key: values.kind, operator: Exists}]`, lacks},
		"does not exist":    {`matchExpressions: [{key: values.none, operator: DoesNotExist}]`, lacks},
		"no operator":       {`matchExpressions: [{key: name, operator: Is, values: [one]}]`, `"Is" is no operator of a selector`},
		"no values":         {`matchExpressions: [{key: name, operator: In}]`, `In of "name" needs values`},
		"key of none":       {`matchLabels: {metadata.labels.rign: first}`, `filters by "metadata.labels.rign", which no cluster of this hub has`},
		"label by itself":   {`matchLabels: {ring: first}`, `filters by "ring", which no cluster of this hub has`},
		"value of none":     {`matchExpressions: [{key: values.knid, operator: Exists}]`, `filters by "values.knid", which no cluster`},
		"addon that is off": {`matchLabels: {metadata.labels.shape: wide}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := generated(`{clusters: {values: {kind: spoke}}, selector: {`+test.selector+`}}`, "none")
			got := findings(t, map[string]string{"start/s.yaml": set})
			assert.Check(t, strings.Contains(got, test.want) && (test.want != "" || got == ""), "found %s\nwant %s", got, test.want)
		})
	}
}
