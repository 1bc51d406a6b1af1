package trees

import (
	"fmt"
	"path"
	"strings"
)

// argocdTree is a tree for Argo CD: a start with a namespace, and Applications and ApplicationSets of what
// is in the tree.
func argocdTree(m *maker) {
	entries := []string{"namespace.yaml", "apps.yaml"}
	m.write("start/namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: NAME\n")
	if m.chance(40) {
		m.write("start/apps.yaml", m.application("apps"))
	} else {
		m.write("start/apps.yaml", m.applicationSet("apps"))
	}
	if m.chance(30) {
		entries = append(entries, "base.yaml")
		m.write("start/base.yaml", m.application("base"))
	}
	if m.chance(40) {
		m.write("start/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"+items(entries))
	}
}

// argoHead begins an object of Argo CD.
func argoHead(kind, name string) string { return head("argoproj.io/v1alpha1", kind, name, "argocd") }

// Repository is the address that trees for Argo CD give for their own.
const Repository = "http://git.lab.test/platform.git"

// application is an Application, and writes what it is of.
func (m *maker) application(part string) string {
	return argoHead("Application", "NAME-"+part) + "spec:\n" + m.applicationSpec("  ", part, "NAME/"+part, "one")
}

// applicationSpec is that of an Application of a directory, a kustomization or a chart, indented. at is
// the path as the Application says it, which may be a template.
func (m *maker) applicationSpec(indent, part, at, cluster string) string {
	spec := "project: default\nsource:\n  repoURL: " + Repository + "\n  targetRevision: main\n  path: " + at + "\n"
	switch m.IntN(3) {
	case 0:
		m.chart(part)
		spec += one(m, "", "  helm:\n    releaseName: web\n", "  helm:\n    valuesObject:\n      region: eu\n      ports: [80, 443]\n",
			"  helm:\n    valueFiles:\n      - values-eu.yaml\n", "  helm:\n    parameters:\n      - name: size\n        value: \"3\"\n")
	case 1:
		m.content(build{dir: part, in: one(m, "NAME", ""), values: []string{"eu-west-1", "plain"}, kustomized: true})
		spec += one(m, "", "  kustomize:\n    namePrefix: my-\n", "  kustomize:\n    images:\n      - registry.example.com/web:1.10\n",
			"  kustomize:\n    patches:\n      - target:\n          kind: Deployment\n        patch: |-\n          - op: replace\n            path: /spec/replicas\n            value: 3\n")
	default:
		m.content(build{dir: part, in: one(m, "NAME", ""), values: []string{"eu-west-1", "plain"}, plain: true})
		spec += one(m, "", "  directory:\n    recurse: true\n", "  directory:\n    exclude: '{none.yaml,*.json}'\n")
	}
	spec += "destination:\n  name: " + cluster + "\n  namespace: NAME\nsyncPolicy:\n  automated:\n    prune: true\n"
	return indent + strings.ReplaceAll(strings.TrimSuffix(spec, "\n"), "\n", "\n"+indent) + "\n"
}

// generator gives parameters, and the paths and clusters that a template makes of them, as Go's templates
// and as the older ones have it.
type generator struct{ text, path, name, cluster string }

// applicationSet is an ApplicationSet with one of the generators, and writes what its Applications are of.
func (m *maker) applicationSet(part string) string {
	modern := m.chance(75)
	g := m.generator(part)
	text := argoHead("ApplicationSet", "NAME-"+part) + "spec:\n"
	if modern {
		text += "  goTemplate: true\n" + one(m, "", "  goTemplateOptions: [missingkey=error]\n", "  goTemplateOptions: [\"missingkey=error\"]\n")
	} else {
		for _, of := range []*string{&g.text, &g.path, &g.name, &g.cluster} {
			*of = strings.NewReplacer("{{ .path.path }}", "{{path}}", "{{ .", "{{", " }}", "}}").Replace(*of)
		}
	}
	text += "  generators:\n" + g.text + "  template:\n    metadata:\n      name: " + quoted("NAME-"+part+"-"+g.name) + "\n    spec:\n"
	return text + m.applicationSpec("      ", part, quoted(g.path), quoted(g.cluster))
}

// quoted is a text that may be a template.
func quoted(text string) string {
	if strings.Contains(text, "{{") {
		return `"` + text + `"`
	}
	return text
}

func (m *maker) generator(part string) generator {
	at, clusters := "NAME/"+part, "clusters:\n        selector:\n          matchLabels:\n            environment: test\n"
	if m.chance(30) {
		clusters = "clusters:\n        selector:\n          matchExpressions:\n            - key: environment\n              operator: In\n              values: [test, prod]\n"
	}
	list := "list:\n        elements:\n          - env: test\n            dir: " + part + "\n"
	directories := "git:\n        repoURL: " + Repository + "\n        revision: main\n        directories:\n          - path: " + at + "\n"
	files := "git:\n        repoURL: " + Repository + "\n        revision: main\n        files:\n          - path: NAME/config/*.yaml\n"
	switch m.IntN(6) {
	case 0:
		return generator{"    - " + clusters, at, "{{ .name }}", "{{ .name }}"}
	case 1:
		return generator{"    - " + list, "NAME/{{ .dir }}", "{{ .env }}", "one"}
	case 2:
		return generator{"    - " + directories, "{{ .path.path }}", "{{ .path.basename }}", "one"}
	case 3:
		m.config(part)
		return generator{"    - " + files, "NAME/{{ .dir }}", "{{ .env }}", "one"}
	case 4:
		m.config(part)
		return generator{"    - matrix:\n        generators:\n          - " + deeper(clusters) + "          - " + deeper(files), "NAME/{{ .dir }}", "{{ .name }}-{{ .env }}", "{{ .name }}"}
	}
	other := "list:\n        elements:\n          - env: test\n            more: yes-please\n"
	return generator{"    - merge:\n        mergeKeys: [env]\n        generators:\n          - " + deeper(list) + "          - " + deeper(other), "NAME/{{ .dir }}", "{{ .env }}-{{ .more }}", "one"}
}

// deeper is a generator inside of another one.
func deeper(text string) string {
	return strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n      ") + "\n"
}

// config is a file that a generator reads.
func (m *maker) config(part string) {
	m.write("config/test.yaml", one(m, "env: test\ndir: "+part+"\n", "- env: test\n  dir: "+part+"\n"))
}

// chart writes a chart at a directory.
func (m *maker) chart(dir string) {
	m.write(path.Join(dir, "Chart.yaml"), "apiVersion: v2\nname: web\nversion: 0.1.0\n")
	m.write(path.Join(dir, "values.yaml"), "region: none\nsize: 1\nlabels: {}\nports: []\n")
	m.write(path.Join(dir, "values-eu.yaml"), "region: eu\nlabels: {team: a, tier: b}\nports:\n  - 80\n  - 443\n")
	m.write(path.Join(dir, chartTemplate), fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-%s
  labels:
    {{- range $key, $value := .Values.labels }}
    {{ $key }}: {{ $value | quote }}
    {{- end }}
data:
  region: {{ required "region is missing" .Values.region | quote }}
  size: {{ .Values.size | int | quote }}
  ports: {{ join "," .Values.ports | quote }}
`, dir))
}

// chartTemplate is the file of a chart that has no fault of YAML: it is none.
const chartTemplate = "templates/map.yaml"
