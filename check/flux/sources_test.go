package flux

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/findingtest"
)

const (
	wrong     = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {x: \"${regoin}\"}\n"
	variables = "  postBuild: {substituteFrom: [{kind: ConfigMap, name: infra-config}]}\n"
)

// generating is an ArtifactGenerator of the platform tree with artifacts, and more of its spec.
func generating(artifacts, more string) string {
	return "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: gen, namespace: flux-system}\nspec:\n" + more +
		"  sources:\n  - {alias: mono, kind: GitRepository, name: platform}\n" + "  artifacts:\n" + artifacts + "---\n"
}

// external is a Kustomization of an ExternalArtifact.
func external(name, path string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\nspec:\n" +
		"  path: " + path + "\n  sourceRef: {kind: ExternalArtifact, name: " + name + "}\n  interval: 1m\n  prune: true\n" + variables + "---\n"
}

// TestArtifacts: what a generator copies from this tree is followed, with the places of this tree's files.
func TestArtifacts(t *testing.T) {
	const stops = "apps/web/cm.yaml:4:12 ${regoin} is not published: Kustomization flux-system/web stops at it"
	const copyAll = "  - {name: web, copy: [{from: '@mono/apps/web/**', to: '@artifact/x/'}]}\n"
	const bucket = "  - {alias: other, kind: Bucket, name: other}\n"
	for name, test := range map[string]struct {
		start string
		want  string
	}{
		"a directory":                      {generating(copyAll, "") + external("web", "./x"), stops},
		"a Kustomization before it":        {external("web", "./x") + generating(copyAll, ""), stops},
		"a path that the artifact has not": {generating(copyAll, "") + external("web", "./y"), "start/a.yaml:14:9 Kustomization flux-system/web: path \"./y\" is not a directory of ExternalArtifact flux-system/web"},
		"a pattern of directories":         {generating("  - {name: '{app}', copy: [{from: '@mono/apps/{app}', to: '@artifact/'}]}\n", "  pathPattern: '@mono/apps/{app}'\n") + external("web", "./web"), stops},
		"an artifact of an artifact": {
			generating("  - {name: all, copy: [{from: '@mono/apps/', to: '@artifact/'}]}\n", "") +
				"apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: next, namespace: flux-system}\nspec: {sources: [{alias: all, kind: ExternalArtifact, name: all}], artifacts: [{name: web, copy: [{from: '@all/apps/web/**', to: '@artifact/'}]}]}\n---\n" +
				external("web", "./"), stops,
		},
		"a directory that is not there": {
			generating("  - {name: web, copy: [{from: '@mono/apps/wbe', to: '@artifact/'}]}\n", "") + external("web", "./"),
			"start/a.yaml:8:31 ArtifactGenerator flux-system/gen: \"apps/wbe\" is not in the source\n" +
				"start/a.yaml:15:45 Kustomization flux-system/web is not followed: its path is in ExternalArtifact flux-system/web, and ArtifactGenerator flux-system/gen does not make it",
		},
		"an alias that is not there": {
			generating("  - {name: web, copy: [{from: '@mon/apps/web/**', to: '@artifact/'}]}\n", ""),
			`start/a.yaml:8:31 ArtifactGenerator flux-system/gen: no source has the alias "mon"`,
		},
		"a source that nothing makes": {
			"apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: gen, namespace: flux-system}\nspec: {sources: [{alias: a, kind: GitRepository, name: platfor}], artifacts: [{name: web, copy: [{from: '@a/x', to: '@artifact/'}]}]}\n",
			"start/a.yaml:4:56 ArtifactGenerator flux-system/gen: sources refers to GitRepository flux-system/platfor, which is not in the tree",
		},
		"a source of another tree": {
			"apiVersion: source.toolkit.fluxcd.io/v1\nkind: Bucket\nmetadata: {name: other, namespace: flux-system}\n---\n" +
				"apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: gen, namespace: flux-system}\nspec:\n  sources:\n" + bucket + "  artifacts:\n  - {name: web, copy: [{from: '@other/x', to: '@artifact/'}]}\n---\n" + external("web", "./"),
			"start/a.yaml:19:45 Kustomization flux-system/web is not followed: its path is in ExternalArtifact flux-system/web, and ArtifactGenerator flux-system/gen copies from Bucket flux-system/other, not from this tree",
		},
		"archives": {
			generating("  - {name: web, copy: [{from: '@mono/a.tgz', to: '@artifact/', strategy: Extract}]}\n", "") + external("web", "./"),
			"start/a.yaml:15:45 Kustomization flux-system/web is not followed: its path is in ExternalArtifact flux-system/web, and ArtifactGenerator flux-system/gen makes it, and it extracts archives",
		},
		"an artifact of another name": {
			generating("  - {name: webs, copy: [{from: '@mono/apps/', to: '@artifact/'}]}\n", "") + external("web", "./"),
			"start/a.yaml:15:45 Kustomization flux-system/web: sourceRef refers to ExternalArtifact flux-system/web, which is not in the tree",
		},
		"an artifact of another controller": {
			"apiVersion: source.toolkit.fluxcd.io/v1\nkind: ExternalArtifact\nmetadata: {name: web, namespace: flux-system}\nspec: {sourceRef: {apiVersion: a.test/v1, kind: Any, name: x}}\n---\n" + external("web", "./"),
			"start/a.yaml:11:45 Kustomization flux-system/web is not followed: its path is in ExternalArtifact flux-system/web, not in this tree",
		},
	} {
		w := of(t, map[string]string{"start/a.yaml": test.start, "apps/web/cm.yaml": wrong, "a.tgz": ""})
		w.Follow()
		w.CheckSources()
		assert.Check(t, is.Equal(findingtest.Messages(w.Findings), test.want), name)
	}
}

// TestGate: Flux as it is released takes no ExternalArtifacts, and before v2.9 has no source-watcher.
func TestGate(t *testing.T) {
	const made = "  - {name: web, copy: [{from: '@mono/apps/web/**', to: '@artifact/'}]}\n"
	const controller = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kustomize-controller, namespace: flux-system}\n" +
		"spec: {template: {spec: {containers: [{name: manager, args: [--log-level=info, '--feature-gates=A=true,ExternalArtifact=true']}]}}}\n---\n"
	for name, test := range map[string]struct {
		start, version string
		released       bool
		want           string
	}{
		"as released":                {generating(made, "") + external("web", "./"), "v2.9.3", true, "start/a.yaml:15:21 Kustomization flux-system/web: the install.yaml of Flux v2.9.3 leaves the feature gate ExternalArtifact off, and kustomize-controller refuses the source without it"},
		"from a manifest of its own": {generating(made, "") + external("web", "./"), "v2.9.3", false, ""},
		"with the gate in the tree":  {controller + generating(made, "") + external("web", "./"), "v2.9.3", true, ""},
		"no watcher":                 {generating(made, ""), "v2.8.1", true, "start/a.yaml:2:7 ArtifactGenerator flux-system/gen: the install.yaml of Flux v2.8.1 has no source-watcher, nor this kind"},
		"no such kind":               {generating(made, ""), "v2.6.0", false, "start/a.yaml:2:7 ArtifactGenerator flux-system/gen: Flux v2.6.0, which gitops.distribution.version names, does not have the kind ArtifactGenerator: Kustomization flux-system/platform stops at it"},
	} {
		w := of(t, map[string]string{"start/a.yaml": test.start, "apps/web/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"})
		w.Published.Distribution, w.Published.Released = test.version, test.released
		w.Follow()
		w.CheckSources()
		assert.Check(t, is.Equal(findingtest.Messages(w.Findings), test.want), name)
	}
}
