package flux

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/findingtest"
	"tombolo/check/published"
)

// TestTypes: the values are decoded as the controllers decode them; want is of each finding the first words after its place.
func TestTypes(t *testing.T) {
	const configMap, deployment = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: b}\n"
	const release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: b}\n"
	for name, test := range map[string]struct{ object, want string }{
		"text":                       {configMap + `data: {a: "id-${account}", b: "1.36", c: "yes", d: null}` + "\n", ""},
		"digits":                     {configMap + `data: {a: "${account}"}` + "\n", "error data.a is a number"},
		"yes":                        {configMap + `data: {a: "${yes}"}` + "\n", "error data.a is a boolean"},
		"a list":                     {configMap + `data: {a: "${list}"}` + "\n", "error data.a is a list"},
		"a literal number":           {configMap + "data: {a: 1}\n", "error data.a is a number"},
		"quotes by a variable":       {configMap + "data: {a: '${quote}${account}${quote}'}\n", ""},
		"a label of any kind":        {"apiVersion: a.test/v1\nkind: Any\nmetadata: {name: a, namespace: b, labels: {a: '${account}'}}\n", "error metadata.labels.a is a number"},
		"a port and replicas":        {deployment + "spec: {replicas: '${three}', template: {spec: {containers: [{name: a, ports: [{containerPort: 80}], resources: {limits: {cpu: 1}}, readinessProbe: {httpGet: {port: 80}}}]}}}\n", ""},
		"the value of a variable":    {deployment + "spec: {template: {spec: {containers: [{name: a, env: [{name: A, value: '${three}'}]}]}}}\n", "error spec.template.spec.containers.[].env.[].value is a number"},
		"an argument":                {deployment + "spec: {template: {spec: {containers: [{name: a, args: [8080]}]}}}\n", "error spec.template.spec.containers.[].args.[] is a number"},
		"Helm values":                {release + "spec: {values: {account: '${account}', replicas: '${three}', version: '${version}'}}\n", "warning spec.values.account is a number\nwarning spec.values.replicas is a number\nwarning spec.values.version is a number"},
		"Helm values that are meant": {release + "spec:\n  values:\n    replicas: ${three}\n    on: ${true}\n", ""},
		"a chart's version":          {release + "spec: {chart: {spec: {version: 1.40}}}\n", "error spec.chart.spec.version is a number"},
		"variables of another":       {"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: b}\nspec: {sourceRef: {kind: GitRepository, name: other}, postBuild: {substitute: {a: true, b: '${account}'}}}\n", "error spec.postBuild.substitute.a is a boolean\nerror spec.postBuild.substitute.b is a number"},
	} {
		t.Run(name, func(t *testing.T) {
			w := of(t, map[string]string{"start/a.yaml": test.object})
			for key, value := range map[string]string{"account": "012345670123", "yes": "yes", "list": `["a"]`, "three": "3", "version": "1.40", "true": "true", "quote": `"`} {
				w.Published.Variables[key] = published.Variable{Example: value}
			}
			w = New(w.Walk, w.trees)
			w.Follow()
			var got []string
			for _, f := range w.Findings {
				_, says, _ := strings.Cut(f.Message, ": ")
				what, _, _ := strings.Cut(strings.ReplaceAll(says, ",", " once"), " once")
				got = append(got, string(f.Severity)+" "+what)
				assert.Check(t, f.Line > 0, f.Message)
			}
			assert.Check(t, is.Equal(strings.Join(got, "\n"), test.want), findingtest.Messages(w.Findings))
		})
	}
}
