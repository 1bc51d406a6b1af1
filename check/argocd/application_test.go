package argocd

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/check/findingtest"
)

// application is one whose source has a path and more.
func application(source string) string {
	return `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: it, namespace: argocd}
spec:
  project: default
  destination: {name: one}
  source: {repoURL: 'https://git.test/tree', ` + source + `}
`
}

func TestApplicationThatIsRefused(t *testing.T) {
	const whole = "path: all"
	const source, sources = "source: {repoURL: 'https://git.test/tree', path: all}", "sources: [{repoURL: 'https://git.test/tree', path: all"
	for name, test := range map[string]struct{ old, new, want string }{
		"all is well":         {"", "", ""},
		"no project":          {"  project: default\n", "", "spec.project is missing: the API refuses it"},
		"project left empty":  {"default", `""`, ""},
		"no destination":      {"  destination: {name: one}\n", "", "has no cluster as its destination"},
		"both":                {"{name: one}", "{name: one, server: 'https://a.test'}", "has both a name and a server"},
		"unknown cluster":     {"{name: one}", "{name: oen}", `goes to the cluster "oen", which no cluster file of this hub registers`},
		"the hub's own":       {"{name: one}", "{name: in-cluster}", ""},
		"an address":          {"{name: one}", "{server: 'https://kubernetes.default.svc'}", ""},
		"project of nobody":   {"project: default", "project: web", `is of the project "web", which nothing in the tree makes`},
		"project of the tree": {"project: default", "project: mine", ""},
		"no source":           {"  source: {repoURL: 'https://git.test/tree', path: all}\n", "", "has no source"},
		"no path":             {"path: all", "directory: {recurse: true}", "has a source without path and chart"},
		"no repository":       {"repoURL: 'https://git.test/tree', ", "repoURL: '', ", "has a source without repoURL"},
		"chart alone":         {"path: all", "chart: web", "has a chart without targetRevision"},
		"another revision":    {"path: all", "path: all, targetRevision: old", "follows the revision old of this repository, and what was checked is the branch main"},
		"this branch":         {"path: all", "path: all, targetRevision: main", ""},
		"ref of no letters":   {source, sources + ", ref: 'a b'}]", `start/a.yaml:7:64 Application argocd/it has a source with the ref "a b"`},
		"ref twice":           {source, sources + ", ref: a}, {repoURL: x, ref: a}]", `has two sources with the ref "a", which Argo CD refuses`},
		"ref of a chart":      {source, sources + ", helm: {valueFiles: [$a/v.yaml]}}, {repoURL: x, chart: c, targetRevision: 1.0.0, ref: a}]", `values file "$a/v.yaml" is in the chart c, and Argo CD takes none from a chart`},
		"another namespace":   {"namespace: argocd}", "namespace: agocd}", "start/a.yaml:3:33 Application agocd/it is in the namespace agocd: Argo CD looks at"},
		"name":                {"name: it,", "name: It,", `"It" is no name: the API refuses it`},
	} {
		t.Run(name, func(t *testing.T) {
			w := of(t, map[string]string{
				"start/a.yaml": strings.Replace(application(whole), test.old, test.new, 1), "all/a.yaml": "",
				"start/p.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: mine}\nspec: {}\n",
			})
			w.Follow()
			w.CheckProjects()
			got := findingtest.Messages(w.Findings)
			assert.Check(t, strings.Contains(got, test.want) && (test.want != "" || got == ""), "found %s\nwant %s", got, test.want)
		})
	}
}

func TestKindOfSource(t *testing.T) {
	const lost = "spec: {project: default, destination: {name: one}, source: {repoURL: 'https://git.test/tree', path: none}}\n"
	inside := "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: lost}\n" + lost
	const fetching = chartFile + "dependencies: [{name: b, version: 1.0.0, repository: 'https://charts.test'}]\n"
	const beside = "dependencies: [{name: b, version: 1.0.0, repository: 'file://../b'}]\n"
	// Helm's, of that dependency.
	const lock = "dependencies:\n- name: b\n  repository: file://../b\n  version: 1.0.0\n" +
		"digest: sha256:c13ba59994ad84210425fb6ae9bf71aaa91fcb62c97754e2d1ac0304e7c00ad3\ngenerated: \"2026-11-29T18:37:15Z\"\n"
	for name, test := range map[string]struct {
		source string
		files  map[string]string
		want   string
	}{
		"helm without a chart":      {"path: all, helm: {releaseName: a}", map[string]string{"all/a.yaml": ""}, "has settings for Helm, and all has no Chart.yaml"},
		"kustomize without a file":  {"path: all, kustomize: {namePrefix: a-}", map[string]string{"all/a.yaml": ""}, "has settings for kustomize, and all has no kustomization.yaml"},
		"two kinds":                 {"path: all, kustomize: {namePrefix: a-}, helm: {releaseName: a}", map[string]string{"all/a.yaml": ""}, "is of Helm and of kustomize"},
		"empty blocks":              {"path: all, kustomize: {}, helm: {}, directory: {}", map[string]string{"all/a.yaml": ""}, ""},
		"directory over a chart":    {"path: all, directory: {include: '*.json'}", map[string]string{"all/Chart.yaml": "a: [", "all/a.yaml": inside}, ""},
		"chart before kustomize":    {"path: all", map[string]string{"all/Chart.yaml": chartFile, "all/kustomization.yaml": "resources: [none]\n"}, ""},
		"library":                   {"path: all", map[string]string{"all/Chart.yaml": chartFile + "type: library\n"}, "the chart is of the type library, which cannot be released"},
		"Kubernetes of the chart":   {"path: all", map[string]string{"all/Chart.yaml": chartFile + "kubeVersion: '<1.30'\n"}, "the chart takes Kubernetes <1.30, and the cluster has 1.35"},
		"Kubernetes that fits":      {"path: all", map[string]string{"all/Chart.yaml": chartFile + "kubeVersion: '>=1.30.0-0'\n"}, ""},
		"name of the release":       {"path: all, helm: {releaseName: It}", map[string]string{"all/Chart.yaml": chartFile}, `"It" is no name of a release`},
		"ignored by Helm":           {"path: all", map[string]string{"all/Chart.yaml": chartFile, "all/.helmignore": "# x\n*.bak.yaml\n", "all/templates/a.bak.yaml": "{{ end }}"}, ""},
		"file of a parameter":       {"path: all, helm: {fileParameters: [{name: a, path: a.txt}]}", map[string]string{"all/Chart.yaml": chartFile}, "the file a.txt of its parameter a is not in the tree"},
		"text of a file":            {"path: all, helm: {fileParameters: [{name: a, path: a.txt}]}", map[string]string{"all/Chart.yaml": chartFile, "all/a.txt": "none", "all/templates/a.yaml": "{{ if .Values.a }}\n" + strings.Replace(inside, "path: none", "path: {{ .Values.a }}", 1) + "{{ end }}"}, `path "none" is not`},
		"subchart that is off":      {"path: all, helm: {values: 'b: {enabled: false}'}", map[string]string{"all/Chart.yaml": chartFile + "dependencies: [{name: b, version: 1.0.0, repository: '', condition: b.enabled}]\n", "all/charts/b/Chart.yaml": "apiVersion: v2\nname: b\nversion: 1.0.0\n", "all/charts/b/templates/a.yaml": inside}, ""},
		"chart beside it":           {"path: all", map[string]string{"all/Chart.yaml": chartFile + beside, "b/Chart.yaml": "apiVersion: v2\nname: b\nversion: 1.0.0\n", "b/templates/a.yaml": inside}, `path "none" is not`},
		"chart of no repository":    {"path: all", map[string]string{"all/Chart.yaml": chartFile + "dependencies: [{name: b, version: 1.0.0}]\n"}, "its dependency b has no repository, and is not in charts"},
		"fetched chart":             {"path: all", map[string]string{"all/Chart.yaml": fetching, "all/values.yaml": "b: {x: 1}\nglobal: {}\n"}, "is followed without b, which Argo CD fetches"},
		"templates without it":      {"path: all", map[string]string{"all/Chart.yaml": fetching, "all/templates/a.yaml": inside}, `path "none" is not`},
		"helpers of it":             {"path: all", map[string]string{"all/Chart.yaml": fetching, "all/templates/a.yaml": "{{ include \"b.name\" . }}\n"}, "is not followed: its templates need b, which Argo CD fetches"},
		"value of another name":     {"path: all, helm: {values: 'bb: {x: 1}'}", map[string]string{"all/Chart.yaml": fetching}, "its value bb has no effect: the chart has no templates, and no dependency of this name"},
		"lock of others":            {"path: all", map[string]string{"all/Chart.yaml": fetching, "all/Chart.lock": lock}, "the file Chart.lock is not of these dependencies"},
		"lock of its own":           {"path: all", map[string]string{"all/Chart.yaml": chartFile + beside, "all/Chart.lock": lock, "b/Chart.yaml": "apiVersion: v2\nname: b\nversion: 1.0.0\n", "b/templates/a.yaml": inside}, `path "none" is not`},
		"file of the source":        {"path: all", map[string]string{"all/.argocd-source.yaml": "directory: {exclude: a.yaml}\n", "all/a.yaml": inside}, ""},
		"file of the Application":   {"path: all, directory: {recurse: true}", map[string]string{"all/.argocd-source-it.yaml": "directory: {recurse: false}\n", "all/b/a.yaml": inside}, ""},
		"file of another":           {"path: all", map[string]string{"all/.argocd-source-at.yaml": "directory: {exclude: a.yaml}\n", "all/a.yaml": inside}, `path "none" is not`},
		"file that leads away":      {"path: all", map[string]string{"all/.argocd-source.yaml": "path: none\n", "all/a.yaml": ""}, ""},
		"file that is none":         {"path: all", map[string]string{"all/.argocd-source.yaml": "directory: 1\n", "all/a.yaml": ""}, "cannot be put over the source of Application argocd/it"},
		"file outside":              {"path: all", map[string]string{"all/kustomization.yaml": "resources: [../common/a.yaml]\n", "common/a.yaml": inside}, "../common/a.yaml is outside of all"},
		"directory outside":         {"path: all", map[string]string{"all/kustomization.yaml": "resources: [../common]\n", "common/a.yaml": inside, "common/kustomization.yaml": "resources: [a.yaml]\n"}, `path "none" is not`},
		"generator's file outside":  {"path: all", map[string]string{"all/kustomization.yaml": "configMapGenerator: [{name: a, files: [../a.txt]}]\n", "a.txt": "a"}, "../a.txt is outside of all"},
		"JSON that is no object":    {"path: all", map[string]string{"all/package.json": `{"name": "web"}`}, "cannot be read by Argo CD"},
		"two objects in JSON":       {"path: all", map[string]string{"all/a.json": `{"kind": "A", "apiVersion": "a/v1"} {"kind": "A", "apiVersion": "a/v1"}`}, "can have one object alone"},
		"values beside manifests":   {"path: all", map[string]string{"all/values.yaml": "replicas: 1\n"}, ""},
		"template of a chart":       {"path: all", map[string]string{"all/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ x }}\n"}, "all/a.yaml Application argocd/it cannot be read by Argo CD"},
		"template without its kind": {"path: all", map[string]string{"all/a.yaml": "{{ if x }}\n"}, ""},
		"no kind after an object":   {"path: all", map[string]string{"all/a.yaml": inside + "---\na: 1\n"}, "Object 'Kind' is missing"},
		"a key twice":               {"path: all", map[string]string{"all/a.yaml": strings.Replace(inside, "kind: A", "kind: B\nkind: A", 1)}, `path "none" is not`},
		"a list":                    {"path: all", map[string]string{"all/a.yaml": "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(inside), "\n", "\n  ") + "\n"}, `path "none" is not`},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"start/a.yaml": application(test.source)}
			for file, text := range test.files {
				files[file] = text
			}
			w := of(t, files)
			w.Follow()
			got := findingtest.Messages(w.Findings)
			assert.Check(t, strings.Contains(got, test.want) && (test.want != "" || got == ""), "found %s\nwant %s", got, test.want)
		})
	}
}
