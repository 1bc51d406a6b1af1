package trees

import (
	"fmt"
	"path"
	"strings"
)

// fluxTree is a tree for Flux: a start with a namespace, a few Kustomizations, and what these build.
func fluxTree(m *maker) {
	entries := []string{"namespace.yaml"}
	m.write("start/namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: NAME\n")
	if m.chance(40) {
		entries = append(entries, "settings.yaml")
		m.write("start/settings.yaml", head("v1", "ConfigMap", "NAME-settings", "flux-system")+"data:\n  domain: example.com\n  replicas: \"2\"\n")
	}
	before := ""
	for _, part := range []string{"apps", "base"}[:1+m.IntN(2)] {
		entries = append(entries, part+".yaml")
		m.write("start/"+part+".yaml", m.fluxKustomization(part, before, len(entries) > 1 && entries[1] == "settings.yaml"))
		if m.chance(50) {
			before = part
		}
	}
	if m.chance(30) {
		entries = append(entries, "release.yaml")
		m.release()
	}
	if m.chance(40) {
		m.write("start/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"+items(entries))
	}
}

func items(of []string) string {
	var b strings.Builder
	for _, item := range of {
		b.WriteString("  - " + item + "\n")
	}
	return b.String()
}

// fluxKustomization is one of Flux's Kustomizations, and writes what it builds. before is one that it
// waits for; settings says that the tree has a ConfigMap of variables.
func (m *maker) fluxKustomization(part, before string, settings bool) string {
	var spec strings.Builder
	fmt.Fprintf(&spec, "spec:\n  interval: 1h\n  prune: %s\n  path: %sNAME/%s\n", one(m, "true", "false"), one(m, "./", ""), part)
	spec.WriteString("  sourceRef:\n    kind: GitRepository\n    name: platform\n")
	in, b := "NAME", build{dir: part, values: []string{"eu-west-1", "plain"}}
	if m.chance(30) {
		spec.WriteString("  targetNamespace: NAME\n")
		in = ""
	}
	if before != "" {
		spec.WriteString("  dependsOn:\n    - name: NAME-" + before + "\n")
	}
	if m.chance(20) {
		spec.WriteString("  namePrefix: the-\n")
	}
	if m.chance(20) {
		spec.WriteString("  commonMetadata:\n    labels:\n      team: \"7\"\n")
	}
	if m.chance(20) {
		spec.WriteString("  images:\n    - name: registry.example.com/web\n      newTag: \"1.10\"\n")
	}
	if m.chance(20) {
		spec.WriteString("  components:\n    - ../parts/" + part + "\n")
		m.component(part)
	}
	if m.chance(70) {
		text, more := m.postBuild(settings)
		spec.WriteString(text)
		b.values = append(b.values, more...)
	}
	b.in = in
	if m.chance(25) {
		spec.WriteString("  patches:\n    - target:\n        kind: Deployment\n      patch: |\n        - op: replace\n          path: /spec/replicas\n          value: 3\n")
	}
	m.content(b)
	return head("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "NAME-"+part, "flux-system") + spec.String()
}

// postBuild gives a Kustomization variables, and says how they are used.
func (m *maker) postBuild(settings bool) (text string, values []string) {
	text = "  postBuild:\n"
	if m.chance(50) {
		text += "    substitute:\n      zone: eu-west-1a\n      size: \"3\"\n"
		values = append(values, "${zone}", "\"a-${zone}\"", "x${size}x")
	}
	from := "      - kind: ConfigMap\n        name: infra-config\n"
	values = append(values, "${region}", "${cluster_name}", "${region:=eu}", "id-${account_id}", "${none:-empty}", "$${kept}")
	if settings && m.chance(60) {
		from += "      - kind: ConfigMap\n        name: NAME-settings\n"
		values = append(values, "${domain}", "www.${domain}")
	}
	if m.chance(30) {
		from += "      - kind: Secret\n        name: NAME-optional\n        optional: true\n"
	}
	return text + "    substituteFrom:\n" + from, values
}

func (m *maker) component(part string) {
	m.write("parts/"+part+"/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations:\n  example.com/by: component\n")
}

// build is a directory that is built with kustomize.
type build struct {
	dir string
	// in is the namespace of its objects; "" when another gives it.
	in string
	// values for fields that are text.
	values []string
	// kustomized has a kustomization file, plain has none; without either it is random.
	kustomized, plain bool
}

func (b build) path(name string) string { return path.Join(b.dir, name) }

// content fills a directory: plain manifests, or those of a kustomization file.
func (m *maker) content(b build) {
	var files []string
	for i := range 1 + m.IntN(2) {
		name := fmt.Sprintf("%s-%d", b.dir, i)
		file := fmt.Sprintf("%d.yaml", i)
		documents := []string{one(m, objects...)(m, name, b.in, one(m, b.values...))}
		if m.chance(30) {
			documents = append(documents, one(m, objects...)(m, name+"-b", b.in, one(m, b.values...)))
		}
		files = append(files, file)
		m.write(b.path(file), documents...)
	}
	if b.plain || !b.kustomized && m.chance(50) {
		return
	}
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" + one(m, "", "namespace: NAME\n") + "resources:\n" + items(files)
	if m.chance(30) {
		text += "configMapGenerator:\n  - name: " + b.dir + "-made\n    literals: [\"a=1\", b=two]\n"
		if b.in != "" {
			text += "    namespace: NAME\n"
		}
	}
	if m.chance(30) {
		text += "patches:\n  - target:\n      kind: ConfigMap\n    patch: |-\n      - op: add\n        path: /data/patched\n        value: \"1\"\n"
	}
	if m.chance(20) {
		text += "nameSuffix: -x\n"
	}
	m.write(b.path("kustomization.yaml"), text)
}

// release is a HelmRelease of a chart in the tree, with values of several places.
func (m *maker) release() {
	text := head("helm.toolkit.fluxcd.io/v2", "HelmRelease", "NAME-release", "NAME") + `spec:
  interval: 1h
  chart:
    spec:
      chart: ./NAME/chart
      sourceRef:
        kind: GitRepository
        name: platform
        namespace: flux-system
`
	documents := []string{}
	if m.chance(60) {
		text += "  valuesFrom:\n    - kind: ConfigMap\n      name: NAME-values\n"
		if m.chance(50) {
			text += "      valuesKey: size\n      targetPath: size\n"
		}
		documents = append(documents, head("v1", "ConfigMap", "NAME-values", "NAME")+"data:\n  values.yaml: |\n    region: eu\n    size: 2\n  size: \"4\"\n")
	}
	text += "  values:\n    region: ${region}\n    labels: {team: a, tier: b}\n    ports:\n      - 80\n      - 443\n"
	m.write("start/release.yaml", append([]string{text}, documents...)...)
	m.chart("chart")
}
