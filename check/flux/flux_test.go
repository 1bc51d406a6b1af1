package flux

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/findingtest"
	"tombolo/check/inventory"
	"tombolo/check/kustomize"
	"tombolo/check/manifest"
	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/check/walk"
)

const head = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: NAME, namespace: flux-system}\nspec:\n  path: PATH\n"

// stage is a Kustomization of the tree, with more of its spec.
func stage(name, path, more string) string {
	return strings.NewReplacer("NAME", name, "PATH", path).Replace(head) + "  sourceRef: {kind: GitRepository, name: platform}\n" + more
}

// of is a walk of a cluster that publishes a region and starts at start.
func of(t *testing.T, texts map[string]string) *Walk {
	t.Helper()
	files := treetest.Index(t, treetest.FS(texts))
	p := published.Set{Cluster: "one", Path: "start", Variables: map[string]published.Variable{"region": {Example: "eu"}, "zone": {Example: "z", Setting: []string{"values", "zone"}}}}
	return New(&walk.Walk{Files: files, Builds: kustomize.NewBuilder(files), Published: p, Fleet: []published.Set{p}, Used: map[string]bool{}}, NewTrees(files))
}

func TestFollow(t *testing.T) {
	w := of(t, map[string]string{
		"start/stage.yaml": stage("stage", "./${region}", "  postBuild: {substituteFrom: [{kind: ConfigMap, name: infra-config}]}\n"),
		"eu/a.yaml":        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {region: \"${region}\"}\n",
	})
	w.Follow()
	if got := findingtest.Messages(w.Findings); got != "" || w.Incomplete {
		t.Errorf("found %s", got)
	}
	assert.Check(t, len(w.met) == 2 && w.met[1].Spec.Path == "./eu", "met %v", w.met)
	a := w.inventory[inventory.ID{Kind: "ConfigMap", Namespace: "b", Name: "a"}]
	assert.Check(t, a.Values["region"] == "eu", "the tree makes %v", a)
	w.CheckUnused()
	if got, want := findingtest.Messages(w.Findings), "zone is published, and nothing in the tree uses ${zone}"; !strings.HasSuffix(got, want) || !w.Used["region"] {
		t.Errorf("found %s, want %s", got, want)
	}
}

// TestUnused: many names are counted, and what an addon publishes has a command that uses it.
func TestUnused(t *testing.T) {
	w := of(t, map[string]string{"start/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"})
	for _, name := range []string{"cloud", "account", "cluster"} {
		w.Published.Variables[name] = published.Variable{}
	}
	w.Published.Objects = []published.Object{{Kind: "ConfigMap", Namespace: "dns", Name: "dns-values", Setting: []string{"addons", "external-dns"}}}
	w.Follow()
	w.CheckUnused()
	got := findingtest.Messages(w.Findings)
	assert.Check(t, is.Contains(got, "of what every cluster is given, 4 values are not used, such as account and cloud"))
	for _, f := range w.Findings {
		assert.Check(t, is.Equal(f.Unused == "dns/dns-values", strings.HasPrefix(f.Remedy, "use it: `tombolo init platform` writes what does")), f.Message)
	}
}

func TestWhatIsMissingIsNotJudgedAfterAFailure(t *testing.T) {
	w := of(t, map[string]string{"start/stage.yaml": stage("stage", "./none", "  dependsOn: [{name: nobody}]\n")})
	w.Follow()
	w.CheckSources()
	w.CheckOrder()
	w.CheckUnused()
	if got, want := findingtest.Messages(w.Findings), `start/stage.yaml:5:9 Kustomization flux-system/stage: path "./none" is not a directory of the platform tree`; got != want || !w.Incomplete {
		t.Errorf("found %s, want %s", got, want)
	}
}

// TestNamesOfVariables: Flux stops at an inline name that is none, too. Source: varSubstitution in fluxcd/pkg/kustomize v1.35.
func TestNamesOfVariables(t *testing.T) {
	w := of(t, map[string]string{"start/stage.yaml": stage("stage", "./apps", "  postBuild: {substitute: {a_1: x, a-b: y}}\n"), "apps/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"})
	w.Follow()
	assert.Equal(t, findingtest.Messages(w.Findings), `start/stage.yaml:7:41 Kustomization flux-system/stage: postBuild.substitute has "a-b", which cannot be a variable: Kustomization flux-system/stage stops at it`)
}

func TestAbsent(t *testing.T) {
	w := of(t, nil)
	w.inventory[inventory.ID{Kind: "HelmRepository", Namespace: "apps", Name: "charts"}] = inventory.Entry{}
	for ref, want := range map[reference]string{
		{Kind: "HelmRepository", Name: "chart", Namespace: "apps"}:                 `name did you mean "charts"?`,
		{Kind: "GitRepository", Name: "charts", Namespace: "apps"}:                 "kind there is a HelmRepository of that name",
		{Kind: "HelmRepository", Name: "charts", Namespace: "other"}:               "namespace HelmRepository charts is in namespace apps",
		{Kind: "HelmRepository", Name: "charts"}:                                   "name HelmRepository charts is in namespace apps",
		{Kind: "HelmRepository", Name: "far from all others", Namespace: "nobody"}: "name add it",
	} {
		a := w.absent(ref, "default")
		what := a.suspect(manifest.Object{}, "spec")
		assert.Check(t, is.Equal(what.Path[len(what.Path)-1]+" "+a.remedy("add it"), want), ref)
	}
}

func TestCircleFrom(t *testing.T) {
	all := map[string]dependent{}
	for name, on := range map[string]string{"a": "b", "b": "c", "c": "a", "d": "a"} {
		d := dependent{dependsOn: []reference{{Name: on}}}
		d.Metadata.Name, d.Metadata.Namespace = name, "n"
		all[d.name()] = d
	}
	assert.Check(t, is.Equal(strings.Join(circleFrom("n/a", all), " "), "n/a n/b n/c"))
	got := circleFrom("n/d", all)
	assert.Check(t, got == nil, "circle %v from what is in none", got)
}

// TestStart: a start that makes nothing is an error, and one whose objects are all elsewhere is said to be not checked.
func TestStart(t *testing.T) {
	for start, want := range map[string]string{
		"":                                     `gitops.path "start" makes no objects`,
		"resources: []\n":                      `gitops.path "start" makes no objects`,
		"resources: [https://a.test/a.yaml]\n": `nothing is checked: all that gitops.path "start" makes is in none of this tree's files`,
		"resources: [a.yaml]\n":                "",
		"resources: [https://a.test/a.yaml, a.yaml]\n": "",
	} {
		w := of(t, map[string]string{"start/kustomization.yaml": start, "start/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"})
		w.Follow()
		got := ""
		for _, f := range w.Findings {
			if f.File == "" {
				got += f.Message
			}
		}
		assert.Check(t, is.Equal(got, want), start)
	}
}
