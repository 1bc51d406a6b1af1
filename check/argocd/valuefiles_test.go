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
