package argocd

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestDefinitions: what the API refuses of Argo CD's own kinds.
func TestDefinitions(t *testing.T) {
	const app = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web}
spec:
  project: default
  destination: {name: one, namespace: web}
  source: {repoURL: 'https://git.test/other', path: a, helm: {valueFiles: [a.yaml], valuesObject: {any: 1}, parameters: [{name: a, value: b}]}}
  syncPolicy: {automated: {prune: true}, syncOptions: [CreateNamespace=true], retry: {limit: 3, backoff: {factor: 2}}}
`
	set := generated(`{merge: {mergeKeys: [name], generators: [{clusters: {values: {a: b}}}, {list: {elements: [{name: one}]}}]}}`, "apps/web")
	for name, test := range map[string]struct{ text, old, new, want string }{
		"all is well":          {app, "", "", ""},
		"a set":                {set, "", "", ""},
		"field of helm":        {app, "valueFiles", "valuesFiles", "start/s.yaml:7:77 Application web: Application has no field spec.source.helm.valuesFiles: the API drops it, and Argo CD never calls the object synced"},
		"field of an item":     {app, "value: b", "valu: b", "start/s.yaml:7:138 Application web: Application has no field spec.source.helm.parameters.[].valu: the API drops it"},
		"field of the spec":    {app, "  syncPolicy", "  syncpolicy", "Application has no field spec.syncpolicy"},
		"text for a boolean":   {app, "prune: true", `prune: "yes"`, "spec.syncPolicy.automated.prune is text, and has to be a boolean"},
		"number for text":      {app, "path: a", "path: a, targetRevision: 1.10", "start/s.yaml:3:18 Application web: spec.source.targetRevision is a number, and has to be text"},
		"text for a list":      {app, "[CreateNamespace=true]", "CreateNamespace=true", "spec.syncPolicy.syncOptions is text, and has to be a list"},
		"version":              {app, "v1alpha1", "v1", "start/s.yaml:1:13 Application web: Argo CD has no Application in argoproj.io/v1: the API refuses it"},
		"field of a set":       {set, "  goTemplateOptions", "  templateOptions: [a]\n  goTemplateOptions", "ApplicationSet apps: ApplicationSet has no field spec.templateOptions"},
		"field of a template":  {set, "      project: ", "      projct: default\n      project: ", "ApplicationSet has no field spec.template.spec.projct"},
		"what is missing":      {app, "  project: default\n", "", "start/s.yaml:5:23 Application web: spec.project is missing: the API refuses it"},
		"missing in a set":     {set, "mergeKeys: [name], ", "", "spec.generators.[].merge.mergeKeys is missing: the API refuses it"},
		"a form":               {app, "{prune: true}", "{prune: true}, managedNamespaceMetadata: {labels: [a]}", "managedNamespaceMetadata.labels is a list, and has to be a mapping"},
		"field of a generator": {set, "clusters: {values", "clusters: {valus: {c: d}, values", "ApplicationSet has no field spec.generators.[].merge.generators.[].clusters.valus"},
	} {
		t.Run(name, func(t *testing.T) {
			got := findings(t, map[string]string{"start/s.yaml": strings.Replace(test.text, test.old, test.new, 1)})
			got = strings.ReplaceAll(got, "start/s.yaml:7:21 Application argocd/web is not followed: its path is in https://git.test/other, not in this tree", "")
			assert.Check(t, strings.Contains(got, test.want) && strings.TrimSpace(got) != "" == (test.want != ""), "found %s\nwant %s", got, test.want)
		})
	}
}
