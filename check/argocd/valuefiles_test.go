package argocd

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/walk"
)

// TestValueFiles: patterns and variables become the files that Argo CD reads, in its order.
func TestValueFiles(t *testing.T) {
	files := map[string]string{
		"charts/web/Chart.yaml": chartFile, "charts/web/values-b.yaml": "", "charts/web/values-a.yaml": "", "charts/web/web.yaml": "",
		"charts/web/env/eu/prod.yaml": "", "shared/all.yaml": "",
	}
	for _, test := range []struct {
		name        string
		given, want []string
		notes       int
	}{
		{"a pattern, in lexical order", []string{"values-*.yaml"}, []string{"/charts/web/values-a.yaml", "/charts/web/values-b.yaml"}, 0},
		{"a named file keeps its place", []string{"values-*.yaml", "values-a.yaml"}, []string{"/charts/web/values-b.yaml", "values-a.yaml"}, 0},
		{"each is read once", []string{"values-a*.yaml", "values-*.yaml"}, []string{"/charts/web/values-a.yaml", "/charts/web/values-b.yaml"}, 0},
		{"two stars take in directories", []string{"env/**/*.yaml"}, []string{"/charts/web/env/eu/prod.yaml"}, 0},
		{"one star does not", []string{"env/*.yaml"}, []string{"env/*.yaml"}, 0},
		{"from the root", []string{"/shared/*.yaml"}, []string{"/shared/all.yaml"}, 0},
		{"another source's", []string{"$all/shared/*.yaml"}, []string{"$all/shared/all.yaml"}, 0},
		{"a variable", []string{"$ARGOCD_APP_NAME.yaml", "${ARGOCD_APP_NAME}.yaml"}, []string{"web.yaml"}, 0},
		{"a variable and a pattern", []string{"/$ARGOCD_APP_SOURCE_PATH/values-[a].yaml"}, []string{"/charts/web/values-a.yaml"}, 0},
		{"a variable that only Argo CD knows", []string{"$ARGOCD_APP_REVISION.yaml"}, nil, 1},
		{"no pattern, as it is", []string{"values-{a,b}.yaml"}, []string{"values-{a,b}.yaml"}, 0},
	} {
		w := of(t, files)
		var app Application
		app.Metadata.Name = "web"
		from := Source{RepoURL: "https://git.test/tree.git", Path: "charts/web", Helm: &Helm{ValueFiles: test.given}}
		app.Spec.Sources = []Source{from, {RepoURL: from.RepoURL, Ref: "all"}}
		got := w.withValueFiles(&walk.Origin{}, app, from)
		assert.Check(t, is.DeepEqual(got.Helm.ValueFiles, test.want), test.name)
		assert.Check(t, is.Len(w.Findings, test.notes), test.name)
		assert.Check(t, is.DeepEqual(from.Helm.ValueFiles, test.given), "the Application itself stays")
	}
}

// TestValuesThatAreNone: what Helm cannot take for values has the place where it is written.
func TestValuesThatAreNone(t *testing.T) {
	const web = " Application argocd/it: "
	for given, want := range map[string]string{
		`values: "a: b"`:                             "",
		`values: "- a"`:                              "start/a.yaml:7:72" + web + "Helm cannot take its source's values: it is a list, and has to be a mapping",
		`values: "a: b\n  c: d"`:                     "start/a.yaml:7:72" + web + "Helm cannot take its source's values: yaml: line 2: mapping values are not allowed in this context",
		`valueFiles: [list.yaml]`:                    "start/a.yaml:7:77" + web + "Helm cannot take the values file all/list.yaml: it is a list, and has to be a mapping",
		`parameters: [{name: 'a[', value: b}]`:       "start/a.yaml:7:84" + web + "Helm cannot take parameter a[: error parsing index: EOF",
		`fileParameters: [{name: a, path: no.yaml}]`: "start/a.yaml:7:97" + web + "the file no.yaml of its parameter a is not in the tree",
		`values: "size: big"`:                        "start/a.yaml:7:52" + web + "its chart cannot be rendered: values don't meet the specifications of the schema(s) in the following chart(s): it: - at '/size': got string, want number",
	} {
		got := findings(t, map[string]string{
			"start/a.yaml": application("path: all, helm: {" + given + "}"), "all/Chart.yaml": chartFile, "all/list.yaml": "[a]\n",
			"all/values.schema.json": `{"properties": {"size": {"type": "number"}}}`,
		})
		assert.Check(t, is.Equal(got, want), given)
	}
}
