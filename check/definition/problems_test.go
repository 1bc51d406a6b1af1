package definition

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// TestProblems: what the definitions say of one value, with rules in the Common Expression Language among them.
func TestProblems(t *testing.T) {
	const api, source = "helm.toolkit.fluxcd.io/v2/HelmRelease", "source.toolkit.fluxcd.io/v1/"
	for name, test := range map[string]struct{ kind, at, text, want string }{
		"chart alone":           {api, "", "{interval: 1m, chart: {}}", ""},
		"both charts":           {api, "", "{interval: 1m, chart: {}, chartRef: {}}", " breaks a rule of its definition: either chart or chartRef must be set"},
		"no chart":              {api, "", "{interval: 1m, chart: null}", " breaks a rule of its definition: either chart or chartRef must be set"},
		"no interval":           {api, "", "{chartRef: {}}", "interval is missing"},
		"default of a rule":     {source + "Bucket", "", "{bucketName: a, endpoint: a, interval: 1m, serviceAccountName: a}", " breaks a rule of its definition: ServiceAccountName is not supported for the 'generic' Bucket provider"},
		"value of a rule":       {source + "Bucket", "", "{bucketName: a, endpoint: a, interval: 1m, provider: aws, serviceAccountName: a}", ""},
		"two fields of a rule":  {source + "HelmChart", "", "{chart: a, interval: 1m, sourceRef: {kind: Bucket, name: a}, verify: {}}", " breaks a rule of its definition: spec.verify is only supported when spec.sourceRef.kind is 'HelmRepository'"},
		"required with default": {source + "HelmChart", "verify", "{secretRef: {name: a}}", ""},
		"too short":             {"kustomize.toolkit.fluxcd.io/v1/Kustomization", "targetNamespace", `""`, ` has 0 characters, and has to have 1 at least`},
		"too long":              {"kustomize.toolkit.fluxcd.io/v1/Kustomization", "targetNamespace", strings.Repeat("a", 64), " has 64 characters, and may have 63"},
		"no items":              {"notification.toolkit.fluxcd.io/v1/Receiver", "resources", "[]", ""},
		"number of text":        {source + "GitRepository", "url", "1", " is a number, and has to be text"},
	} {
		t.Run(name, func(t *testing.T) {
			var n yaml.Node
			assert.NilError(t, yaml.Unmarshal([]byte(test.text), &n))
			schema := Field(Flux()[test.kind], "spec")
			if test.at != "" {
				schema = Field(schema, test.at)
			}
			assert.Assert(t, schema != nil)
			assert.Check(t, is.Equal(said(n.Content[0], schema), test.want))
		})
	}
}

func said(n *yaml.Node, schema *spec.Schema) string {
	var out []string
	for _, p := range Problems(n, schema) {
		out = append(out, p.Field+" "+p.Message)
	}
	return strings.Join(out, "\n")
}

// TestRules: every rule of the definitions can be evaluated where the object has all that it names.
func TestRules(t *testing.T) {
	seen := 0
	var each func(*spec.Schema)
	each = func(schema *spec.Schema) {
		for _, r := range rulesOf(schema) {
			seen++
			var n yaml.Node
			assert.NilError(t, yaml.Unmarshal([]byte("{type: a, name: a, provider: a, sourceRef: {kind: a}, sts: {provider: a}, oidcProviders: [a]}"), &n))
			_, err := r.holds(n.Content[0], schema)
			assert.Check(t, err, r.Message)
		}
		for _, property := range schema.Properties {
			each(&property)
		}
	}
	for _, schema := range Flux() {
		each(schema)
	}
	assert.Check(t, seen > 15, "%d rules", seen)
}
