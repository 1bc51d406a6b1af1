package argocd

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestDirectory(t *testing.T) {
	const broken, lost = "a: [\n", `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: lost}
spec: {project: default, destination: {name: one}, source: {repoURL: 'https://git.test/tree', path: none}}
`
	for name, test := range map[string]struct{ source, file, text, want string }{
		"not recursed":         {"{}", "all/below/a.yaml", lost, ""},
		"recursed":             {"{directory: {recurse: true}}", "all/below/a.yaml", lost, `path "none" is not`},
		"excluded":             {"{directory: {recurse: true, exclude: 'below/*'}}", "all/below/deep/a.yaml", lost, ""},
		"exclude of another":   {"{directory: {recurse: true, exclude: 'bleow/*'}}", "all/below/a.yaml", lost, `path "none" is not`},
		"excluded by one of":   {"{directory: {exclude: '{a,b}.yaml'}}", "all/a.yaml", lost, ""},
		"included by one of":   {"{directory: {include: '{a,b}.yaml'}}", "all/a.yaml", lost, `path "none" is not`},
		"included not":         {"{directory: {include: 'b.yaml'}}", "all/a.yaml", broken, ""},
		"unreadable include":   {"{directory: {include: '{a'}}", "all/a.yaml", lost, ""},
		"skipped":              {"{}", "all/a.yaml", "# +argocd:skip-file-rendering\n" + broken, ""},
		"a field left empty":   {"{}", "all/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndatta: {}\n", "all/a.yaml:3:18 ConfigMap a: ConfigMap has no field datta"},
		"an annotation":        {"{}", "all/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {wave: 1}}\n", "all/a.yaml:3:41 ConfigMap a: metadata.annotations.wave is a number, and has to be text"},
		"other end of name":    {"{}", "all/a.yaml.tpl", broken, ""},
		"Jsonnet":              {"{}", "all/a.jsonnet", "{}", "all/a.jsonnet is not followed: Argo CD evaluates Jsonnet"},
		"plugin":               {"{plugin: {name: replacer}}", "all/a.yaml", broken, "Application argocd/it is not followed: a config management plugin makes its manifests"},
		"plugin without names": {"{plugin: {}}", "all/a.yaml", broken, "a config management plugin"},
	} {
		t.Run(name, func(t *testing.T) {
			app := `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: it}
spec: {project: default, destination: {name: one}, source: ` + strings.Replace(test.source, "{", "{repoURL: 'https://git.test/tree', path: all, ", 1) + `}
`
			got := findings(t, map[string]string{"start/a.yaml": app, "all/keep.txt": "", test.file: test.text})
			assert.Check(t, strings.Contains(got, test.want) && (test.want != "" || got == ""), "found %s\nwant %s", got, test.want)
		})
	}
}
