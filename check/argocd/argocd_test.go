package argocd

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/check/findingtest"
	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/check/walk"
)

const set = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata:
  name: apps
spec:
  goTemplate: true
  generators:
    - clusters:
        selector:
          matchLabels:
            ring: first
        values: {zone: '{{ .metadata.annotations.zone }}'}
  template:
    metadata: {name: '{{ .name }}-app'}
    spec:
      project: default
      destination: {name: one}
      source:
        repoURL: https://git.test/tree.git
        path: apps
        helm:
          valueFiles: [values.yaml]
          values: 'cluster: {zone: {{ .values.zone }}}'
`

const chartFile = "apiVersion: v2\nname: it\nversion: 1.0.0\n"

const inChart = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: "below-{{ .Values.cluster.zone }}-it", labels: {tombolo/addon: dns}}
spec: {project: default, destination: {name: one}, source: {repoURL: 'https://git.test/other', chart: it, targetRevision: 1.0.0}}
`

// of is a walk of a spoke of a hub whose path is start; the last of the fleet is
// another hub's.
func of(t *testing.T, texts map[string]string) *Walk {
	t.Helper()
	files := treetest.Index(t, treetest.FS(texts))
	cluster := func(name, hub string, labels map[string]string) published.Set {
		return published.Set{Cluster: name, Path: "start", Repository: published.Repository{Branch: "main"}, Kubernetes: "1.35", Registration: &published.Registration{
			Hub: hub, Labels: labels, Annotations: map[string]string{"zone": "a.test", "tombolo/repository": "https://git.test/tree"},
		}}
	}
	fleet := []published.Set{
		cluster("hub", "hub", map[string]string{"paging": "false"}), cluster("one", "hub", map[string]string{"ring": "first"}), cluster("far", "far", map[string]string{"rong": "x"}),
	}
	tree := walk.NewSource(files.WithLinks(files.Links(), true))
	return New(&walk.Walk{Files: tree.Files, Builds: tree.Builds, Published: fleet[1], Fleet: fleet})
}

func TestFollow(t *testing.T) {
	w := of(t, map[string]string{
		"start/apps.yaml": set, "apps/Chart.yaml": chartFile, "apps/values.yaml": "a: 1\n", "apps/templates/a.yaml": inChart,
	})
	w.Follow()
	var names []string
	for _, app := range w.Applications {
		names = append(names, app.Metadata.Name)
	}
	if got := strings.Join(names, " "); got != "one-app below-a.test-it" || len(w.Findings) > 0 {
		t.Errorf("Applications %s, found %s", got, findingtest.Messages(w.Findings))
	}
	assert.Check(t, len(w.Fleet) == 2, "a cluster of another hub counts: %v", w.Fleet)
}

func TestFollowFinds(t *testing.T) {
	for name, test := range map[string]struct{ before, after, want string }{
		"label":       {"ring: first", "rign: first", `start/apps.yaml:11:19 ApplicationSet apps selects clusters by the label "rign", which none of this hub has: it reaches none`},
		"value":       {"ring: first", "ring: frist", `start/apps.yaml:11:19 ApplicationSet apps selects clusters by the label ring=frist; those of this hub have first: it reaches none`},
		"annotation":  {".annotations.zone", ".annotations.zoen", `start/apps.yaml:12:24 ApplicationSet apps uses the annotation "zoen", which the cluster's registration lacks: it becomes <no value>, and Argo CD does not say so`},
		"path":        {"path: apps", "path: app", `start/apps.yaml:20:15 an Application of ApplicationSet apps: path "app" is not a directory of the platform tree`},
		"values file": {"[values.yaml]", "[vals.yaml]", `start/apps.yaml:22:24 an Application of ApplicationSet apps: values file "vals.yaml" is not in the tree`},
		"key":         {"{zone: {{", "{zoen: {{", `apps/templates/a.yaml:3:36 cluster.zone is not published: it becomes empty, and Helm does not say so`},
	} {
		t.Run(name, func(t *testing.T) {
			w := of(t, map[string]string{
				"start/apps.yaml": strings.Replace(set, test.before, test.after, 1), "apps/Chart.yaml": chartFile,
				"apps/values.yaml": "a: 1\n", "apps/templates/a.yaml": inChart,
			})
			w.Follow()
			got := findingtest.Messages(w.Findings)
			assert.Check(t, strings.HasSuffix(got, test.want), "found %q\nwant %q", got, test.want)
		})
	}
}
