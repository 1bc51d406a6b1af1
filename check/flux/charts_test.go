package flux

import (
	"maps"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/findingtest"
	"tombolo/check/inventory"
)

// TestCharts: a chart of this tree is packaged and rendered as source-controller and helm-controller do.
func TestCharts(t *testing.T) {
	const head = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: apps}\nspec:\n  chart:\n    spec:\n" +
		"      sourceRef: {kind: GitRepository, name: platform, namespace: flux-system}\n"
	const release = head + "      chart: ./charts/web\n"
	const web = "HelmRelease apps/web: "
	const secret = "kind: Secret\napiVersion: v1\nmetadata: {name: {{ .Release.Name }}-{{ .Values.name }}}\n"
	for name, test := range map[string]struct {
		start string
		files map[string]string
		want  string
		made  string
	}{
		"as it is":              {release, nil, "", "web-a"},
		"values of the release": {release + "  values: {name: b}\n", nil, "", "web-b"},
		"a name of its own":     {release + "  targetNamespace: there\n", nil, "", ""},
		"a directory without a chart": {
			head + "      chart: ./charts/wbe\n", nil,
			"start/a.yaml:8:14 " + web + `"./charts/wbe" has no Chart.yaml in GitRepository platform: source-controller makes no chart of it`, "",
		},
		"a path from elsewhere": {head + "      chart: ../../charts/web\n", nil, "", "web-a"}, // .. ends at the root
		"values files":          {release + "      valuesFiles: [charts/web/values.yaml, env/prod.yaml]\n", map[string]string{"env/prod.yaml": "name: p\n"}, "", "web-p"},
		"values files of the chart": {
			release + "      valuesFiles: [prod.yaml]\n",
			map[string]string{"charts/web/prod.yaml": "name: p\n"},
			"start/a.yaml:9:21 " + web + `values file "prod.yaml" is not in GitRepository platform: source-controller makes no chart`, "",
		},
		"values files that may be missing": {release + "      ignoreMissingValuesFiles: true\n      valuesFiles: [charts/web/values.yaml, env/prod.yaml]\n", nil, "", "web-a"},
		"valuesFrom of the tree":           {release + "  valuesFrom: [{kind: ConfigMap, name: v}]\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: apps}\ndata: {values.yaml: 'name: f'}\n", nil, "", "web-f"},
		"valuesFrom with a path":           {release + "  valuesFrom: [{kind: ConfigMap, name: v, valuesKey: n, targetPath: name}]\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: apps}\ndata: {n: g}\n", nil, "", "web-g"},
		"valuesFrom of a text in quotes":   {release + "  valuesFrom: [{kind: ConfigMap, name: v, valuesKey: n, targetPath: name}]\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: apps}\ndata: {n: '\"g\"'}\n", nil, "", "web-g"},
		"valuesFrom of a Secret": {
			release + "  valuesFrom: [{kind: Secret, name: v}]\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: v, namespace: apps}\nstringData: {values.yaml: 'name: f'}\n", nil,
			"start/a.yaml:8:14 " + web + "its chart is not rendered: some of its values are not known here", "",
		},
		"a template that is wrong": {
			release,
			map[string]string{"charts/web/templates/b.yaml": "a: 1\nb: {{ .Values.name\n"},
			"charts/web/templates/b.yaml:3:1 " + web + "its chart cannot be rendered: unclosed action started at web/templates/b.yaml:2", "",
		},
		"a value that is required": {
			release,
			map[string]string{"charts/web/templates/b.yaml": "b: {{ required \"say size\" .Values.size }}\n"},
			"charts/web/templates/b.yaml:1:1 " + web + "its chart cannot be rendered: say size", "",
		},
		"a schema": {
			release,
			map[string]string{"charts/web/values.schema.json": `{"properties": {"name": {"type": "number"}}}`},
			"start/a.yaml:8:14 " + web + "its chart cannot be rendered: values don't meet the specifications of the schema(s) in the following chart(s): web: - at '/name': got string, want number", "",
		},
		"a schema that is off": {release + "  install: {disableSchemaValidation: true}\n", map[string]string{"charts/web/values.schema.json": `{"properties": {"name": {"type": "number"}}}`}, "", "web-a"},
		"a chart of another place": {
			release,
			map[string]string{"charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: lib, version: 1.x, repository: 'https://a.test'}]\n"},
			"start/a.yaml:8:14 " + web + "its chart is not rendered: it depends on charts that are not in this tree", "",
		},
		"a chart beside it": {release, map[string]string{
			"charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: lib, version: 1.x, repository: 'file://../lib'}]\n",
			"charts/lib/Chart.yaml": "apiVersion: v2\nname: lib\nversion: 1.0.0\ntype: library\n", "charts/lib/templates/_a.tpl": "{{ define \"a\" }}x{{ end }}", "charts/web/templates/b.yaml": "kind: {{ include \"a\" . }}\n",
		}, "", "web-a"},
		"a library": {
			release,
			map[string]string{"charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\ntype: library\n"},
			"charts/web/Chart.yaml " + web + "its chart cannot be rendered: the chart is of the type library, which cannot be released", "",
		},
		"no name in Chart.yaml": {
			release,
			map[string]string{"charts/web/Chart.yaml": "apiVersion: v2\nversion: 1.0.0\n"},
			"charts/web/Chart.yaml " + web + "its chart cannot be rendered: validation: chart.metadata.name is required", "",
		},
		"a HelmChart": {
			"apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmChart\nmetadata: {name: c, namespace: flux-system}\nspec:\n  chart: charts/none\n  sourceRef: {kind: GitRepository, name: platform}\n", nil,
			"start/a.yaml:5:10 HelmChart flux-system/c: \"charts/none\" has no Chart.yaml in GitRepository platform: source-controller makes no chart of it", "",
		},
	} {
		files := map[string]string{
			"start/a.yaml": test.start, "charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "charts/web/values.yaml": "name: a\n",
			"charts/web/templates/a.yaml": secret,
		}
		maps.Copy(files, test.files)
		w := of(t, files)
		w.Follow()
		w.CheckSources()
		w.CheckReleases()
		assert.Check(t, is.Equal(findingtest.Messages(w.Findings), test.want), name)
		_, ok := w.inventory[inventory.ID{Kind: "Secret", Namespace: "apps", Name: test.made}]
		assert.Check(t, ok || test.made == "", name)
	}
}

// TestValuesThatAreNone: helm-controller stops at a text that is no mapping, and at one that Helm's --set does not take for a path.
func TestValuesThatAreNone(t *testing.T) {
	for from, want := range map[string]string{
		"{kind: ConfigMap, name: v}":                                               "",
		"{kind: ConfigMap, name: v, valuesKey: list}":                              `start/a.yaml:10:54 HelmRelease apps/web: valuesFrom takes key "list" of ConfigMap v, and Helm cannot take its text for values: it is a list, and has to be a mapping`,
		"{kind: ConfigMap, name: v, valuesKey: broken, optional: true}":            `key "broken" of ConfigMap v, and Helm cannot take its text for values: yaml: line 2: mapping values are not allowed in this context`,
		"{kind: ConfigMap, name: v, valuesKey: set, targetPath: a}":                `key "set" of ConfigMap v, and Helm cannot take its text for values: key "z" has no value`,
		"{kind: ConfigMap, name: v, valuesKey: set, targetPath: a, literal: true}": "",
		"{kind: ConfigMap, name: v, valuesKey: list, targetPath: a}":               "",
	} {
		w := of(t, map[string]string{"start/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: apps}\n" +
			"data: {values.yaml: 'a: b', list: '- a', broken: \"a: b\\n  c: d\", set: 'x,z'}\n---\n" +
			"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: apps}\n" +
			"spec: {interval: 1m,\n  valuesFrom: [" + from + "], chartRef: {kind: HelmChart, name: a}}\n---\n" +
			"apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmChart\nmetadata: {name: a, namespace: apps}\nspec: {chart: a, interval: 1m, sourceRef: {kind: HelmRepository, name: a}}\n"})
		w.Follow()
		w.CheckReleases()
		got := findingtest.Messages(w.Findings)
		assert.Check(t, (want != "" || got == "") && strings.Contains(got, want), "%s: found %s", from, got)
	}
}

// TestGeneratedValues: kustomize ends a generated name with a hash, and does not put it into a HelmRelease.
func TestGeneratedValues(t *testing.T) {
	w := of(t, map[string]string{
		"start/kustomization.yaml": "resources: [a.yaml]\nconfigMapGenerator: [{name: v, namespace: apps, literals: [values.yaml=a]}]\n",
		"start/a.yaml":             "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: apps}\nspec: {interval: 1m, chartRef: {kind: HelmChart, name: a}, valuesFrom: [{kind: ConfigMap, name: v}]}\n",
	})
	w.Follow()
	w.CheckReleases()
	remedy := ""
	for _, f := range w.Findings {
		remedy += f.Remedy
	}
	assert.Check(t, is.Contains(remedy, "set options.disableNameSuffixHash: true there"))
}
