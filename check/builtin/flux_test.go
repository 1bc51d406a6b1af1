package builtin

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestRefusedOfFlux(t *testing.T) {
	const release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web}\nspec:\n  interval: 1h\n  chartRef: {kind: OCIRepository, name: web}\n  values: {any: 1}\n"
	const git = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: web}\nspec: {interval: 1m, url: https://git.test/a}\n"
	const stage = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: web}\nspec:\n  interval: 1h\n  prune: true\n  path: ./a\n  sourceRef: {kind: GitRepository, name: a}\n"
	for name, test := range map[string]struct{ text, old, new, path, want string }{
		"all is well":               {release, "", "", "", ""},
		"a stage":                   {stage, "", "", "", ""},
		"unknown field":             {release, "chartRef", "chartReff", "spec.chartReff", "HelmRelease has no field spec.chartReff"},
		"case of a field":           {stage, "  path", "  postbuild: {}\n  path", "spec.postbuild", "Kustomization has no field spec.postbuild"},
		"field below":               {stage, "kind: Git", "kin: Git", "spec.sourceRef.kin", "has no field spec.sourceRef.kin"},
		"no kind of Flux":           {release, "kind: HelmRelease", "kind: HelmReleas", "kind", "Flux has no HelmReleas in helm.toolkit.fluxcd.io"},
		"version looked at by name": {release, "/v2\n", "/v2beta1\n", "", ""},
		"no duration":               {release, "1h", "1hour", "spec.interval", `"1hour" is no duration`},
		"days":                      {git, "1m", "1d", "spec.interval", `"1d" is no duration`},
		"text for a boolean":        {stage, "prune: true", `prune: "true"`, "spec.prune", "spec.prune is a string, and has to be a true or false"},
		"name":                      {stage, "name: web", "name: Web", "metadata.name", "the name Web has other things than lower case letters"},
		"address":                   {git, "https://", "oci://", "spec.url", "spec.url begins with none of http://, https://, ssh://"},
		"of others":                 {stage, "kustomize.toolkit", "kustomize.config", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := RefusedOfFlux(strings.Replace(test.text, test.old, test.new, 1))
			if test.want == "" {
				assert.Check(t, len(got) == 0, "%+v", got)
				return
			}
			assert.Check(t, len(got) == 1 && strings.Join(got[0].Path, ".") == test.path && strings.Contains(got[0].Message, test.want), "%+v", got)
		})
	}
}
