package flux

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/findingtest"
	"tombolo/check/published"
)

// TestDefinitions: Flux's own kinds are held to their definitions, where these are known.
func TestDefinitions(t *testing.T) {
	const kustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: b}\nspec:\n  sourceRef: {kind: GitRepository, name: other}\n  interval: 1m\n"
	const release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: b}\nspec:\n  chartRef: {kind: OCIRepository, name: c}\n  interval: 1m\n"
	const repository = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: a, namespace: b}\nspec:\n  interval: 1m\n"
	const a, refuses = "Kustomization b/a: ", ": the API refuses it"
	for name, test := range map[string]struct{ release, object, want string }{
		"as it should be":      {"v2.9.3", kustomization + "  prune: true\n", ""},
		"no field":             {"v2.9.3", kustomization + "  prune: true\n  dependOn: [{name: x}]\n", "start/a.yaml:8:21 " + a + "spec.dependOn is no field of its definition" + refuses},
		"no field below":       {"v2.9.3", kustomization + "  prune: true\n  postBuild: {substituteForm: []}\n", "start/a.yaml:3:18 " + a + "spec.postBuild.substituteForm is no field of its definition" + refuses},
		"text for a list item": {"v2.9.3", kustomization + "  prune: true\n  dependsOn: [x]\n", "start/a.yaml:8:15 " + a + "spec.dependsOn.[] is text, and has to be a mapping" + refuses},
		"text for a boolean":   {"v2.9.3", kustomization + "  prune: \"true\"\n", "start/a.yaml:7:10 " + a + "spec.prune is text, and has to be a boolean" + refuses},
		"what is missing":      {"v2.9.3", kustomization, "start/a.yaml:3:18 " + a + "spec.prune is missing" + refuses},
		"a form":               {"v2.9.3", kustomization + "  prune: true\n  timeout: \"10\"\n", "start/a.yaml:8:12 " + a + `spec.timeout is "10", which is not of the form ^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$` + refuses},
		"a choice":             {"v2.9.3", kustomization + "  prune: true\n  deletionPolicy: Keep\n", "start/a.yaml:8:19 " + a + `spec.deletionPolicy is "Keep", and has to be one of MirrorPrune, Delete, WaitForTermination, Orphan` + refuses},
		"any values":           {"v2.9.3", release + "  values: {any: {thing: 1}}\n", ""},
		"values misspelt":      {"v2.9.3", release + "  value: {any: 1}\n", "start/a.yaml:7:16 HelmRelease b/a: spec.value is no field of its definition" + refuses},
		"a port of a variable": {"v2.9.3", release + "  maxHistory: ${three}\n", ""},
		"scp's form":           {"v2.9.3", repository + "  url: git@git.test:a/b.git\n", "start/a.yaml:6:8 GitRepository b/a: " + `spec.url is "git@git.test:a/b.git", which is not of the form ^(http|https|ssh)://.*$` + refuses},
		"an earlier release":   {"v2.7.5", kustomization + "  prune: true\n  dependOn: []\n", "start/a.yaml:3:18 " + a + "spec.dependOn is no field of its definition" + refuses},
		"a later release":      {"v2.12.0", kustomization + "  prune: true\n  anything: 1\n", ""},
		"no release":           {"", kustomization + "  dependOn: []\n", ""},
		"a kind of others":     {"v2.9.3", "apiVersion: a.test/v1\nkind: Kustomization\nmetadata: {name: a, namespace: b}\nspec: {any: 1}\n", ""},
	} {
		w := of(t, map[string]string{"start/a.yaml": test.object})
		w.Published.Variables["three"] = published.Variable{Example: "3"}
		w = New(w.Walk, w.trees)
		w.Published.Distribution = test.release
		w.Follow()
		assert.Check(t, is.Equal(findingtest.Messages(w.Findings), test.want), name)
	}
}
