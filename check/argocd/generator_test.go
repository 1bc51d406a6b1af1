package argocd

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/finding"
	"tombolo/check/findingtest"
)

// generated is an ApplicationSet with a generator, whose Applications have a path.
func generated(generator, path string) string {
	return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: apps}
spec:
  goTemplate: true
  goTemplateOptions: [missingkey=error]
  generators: [` + generator + `]
  template:
    metadata: {name: 'x-{{ .name }}'}
    spec:
      project: default
      destination: {name: '{{ .name }}'}
      source: {repoURL: 'https://git.test/tree.git', path: '` + path + `'}
`
}

// findings are what a tree's walk reports, with the empty manifests of apps/web and apps/one.
func findings(t *testing.T, texts map[string]string) string {
	t.Helper()
	all := map[string]string{"apps/web/a.yaml": "", "apps/one/a.yaml": ""}
	maps.Copy(all, texts)
	w := of(t, all)
	w.Follow()
	return findingtest.Messages(w.Findings)
}

func TestGitGenerator(t *testing.T) {
	for name, test := range map[string]struct{ file, text, git, path, want string }{
		"object":          {"set/one/a.yaml", "chart: web\n", `files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/{{ .chart }}", ""},
		"object in JSON":  {"set/one/a.json", `{"chart": {"name": "web"}}`, `files: [{path: 'set/{{ .name }}/a.json'}]`, "apps/{{ .chart.name }}", ""},
		"list in JSON":    {"set/one/a.json", `[{"chart": "web"}]`, `files: [{path: 'set/{{ .name }}/a.json'}]`, "apps/{{ .chart }}", ""},
		"empty file":      {"set/one/a.yaml", "", `files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/{{ .path.basename }}", ""},
		"segments":        {"set/one/a.yaml", "[{a: 1}]", `files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/{{ index .path.segments 1 }}", ""},
		"filename":        {"set/one/a.yaml", "{}", `files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/{{ .path.filename }}", `path "apps/a.yaml" is not`},
		"prefix":          {"set/one/a.yaml", "{}", `pathParamPrefix: cfg, files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/{{ .cfg.path.basename }}", ""},
		"prefix unused":   {"set/one/a.yaml", "{}", `pathParamPrefix: cfg, files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/{{ .path.basename }}", `there is no "path"`},
		"pattern":         {"set/one/deep/a.yaml", "chart: none", `files: [{path: 'set/*.yaml'}]`, "apps/{{ .chart }}", `path "apps/none" is not`},
		"left out":        {"set/one/deep/a.yaml", "chart: none", `files: [{path: 'set/**/a.yaml'}, {path: 'set/*/deep/*', exclude: true}]`, "apps/{{ .chart }}", ""},
		"scalar":          {"set/one/a.yaml", "text", `files: [{path: 'set/{{ .name }}/a.yaml'}]`, "apps/web", "is neither an object nor a list of objects"},
		"directories":     {"set/one/a.yaml", "", `directories: [{path: apps/*}, {path: apps/web, exclude: true}]`, "{{ .path.path }}/none", `path "apps/one/none" is not`},
		"hidden":          {"set/.git/a.yaml", "", `directories: [{path: set/*}]`, "none", `s.yaml:7:133 ApplicationSet apps: the pattern "set/*" of its git generator matches nothing in the tree`},
		"of no directory": {"set/one/a.yaml", "", `directories: [{path: app/*}]`, "none", `the pattern "app/*" of its git generator matches nothing`},
		"of no file":      {"set/one/a.yaml", "", `files: [{path: 'set/**/b.yaml'}]`, "none", `the pattern "set/**/b.yaml" of its git generator matches nothing`},
		"of some":         {"set/two/a.yaml", "", `files: [{path: 'set/{{ .name }}/a.yaml'}]`, "none", ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := generated(`{matrix: {generators: [{clusters: {}}, {git: {repoURL: 'https://git.test/tree', revision: main, `+test.git+`}}]}}`, test.path)
			got := findings(t, map[string]string{"start/s.yaml": set, test.file: test.text})
			assert.Check(t, strings.Contains(got, test.want) && (test.want != "" || got == ""), "found %s\nwant %s", got, test.want)
		})
	}
}

func TestFilterOfGenerator(t *testing.T) {
	const lacks = `path "none" is not a directory`
	for name, test := range map[string]struct{ selector, want string }{
		"label":             {`matchLabels: {metadata.labels.ring: first}`, lacks},
		"other label":       {`matchLabels: {metadata.labels.ring: last}`, ""},
		"annotation":        {`matchLabels: {metadata.annotations.zone: a.test}`, lacks},
		"value":             {`matchLabels: {values.kind: spoke}`, lacks},
		"name":              {`matchLabels: {name: one}`, lacks},
		"in":                {`matchExpressions: [{key: metadata.labels.ring, operator: In, values: [first, second]}]`, lacks},
		"not in":            {`matchExpressions: [{key: metadata.labels.ring, operator: NotIn, values: [first]}]`, ""},
		"exists":            {`matchExpressions: [{key: values.kind, operator: Exists}]`, lacks},
		"does not exist":    {`matchExpressions: [{key: values.none, operator: DoesNotExist}]`, lacks},
		"no operator":       {`matchExpressions: [{key: name, operator: Is, values: [one]}]`, `"Is" is no operator of a selector`},
		"no values":         {`matchExpressions: [{key: name, operator: In}]`, `In of "name" needs values`},
		"key of none":       {`matchLabels: {metadata.labels.rign: first}`, `filters by "metadata.labels.rign", which no cluster of this hub has`},
		"label by itself":   {`matchLabels: {ring: first}`, `filters by "ring", which no cluster of this hub has`},
		"value of none":     {`matchExpressions: [{key: values.knid, operator: Exists}]`, `filters by "values.knid", which no cluster`},
		"addon that is off": {`matchLabels: {metadata.labels.shape: wide}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := generated(`{clusters: {values: {kind: spoke}}, selector: {`+test.selector+`}}`, "none")
			got := findings(t, map[string]string{"start/s.yaml": set})
			assert.Check(t, strings.Contains(got, test.want) && (test.want != "" || got == ""), "found %s\nwant %s", got, test.want)
		})
	}
}

// madeBy are the names of the Applications that a set makes for the cluster, with their paths, and what is found.
func madeBy(t *testing.T, set string, files map[string]string) string {
	t.Helper()
	all := map[string]string{"apps/web/a.yaml": "", "apps/one/a.yaml": "", "start/s.yaml": set}
	maps.Copy(all, files)
	w := of(t, all)
	w.Follow()
	var out []string
	for _, app := range w.Applications {
		source := app.Sources()[0]
		out = append(out, app.Metadata.Name+" "+source.Path)
	}
	found := slices.DeleteFunc(w.Findings, func(f finding.OfCluster) bool { return strings.Contains(f.Message, "goes to the cluster") })
	return strings.Join(out, ", ") + findingtest.Messages(found)
}

func TestGenerators(t *testing.T) {
	const git = `git: {repoURL: 'https://git.test/tree', revision: main, `
	files := map[string]string{"set/web.yaml": "app: web\nname: b\n", "set/one.yaml": "app: one\nname: one\n"}
	for name, test := range map[string]struct{ generator, path, want string }{
		"list":                {`{list: {elements: [{name: a, app: web}, {name: b, app: one}]}}`, "apps/{{ .app }}", "x-a apps/web, x-b apps/one"},
		"list in text":        {`{list: {elementsYaml: "[{name: a, app: web}]"}}`, "apps/{{ .app }}", "x-a apps/web"},
		"list, no list":       {`{list: {elementsYaml: "name: a"}}`, "apps/web", "elementsYaml of its list generator is no list"},
		"list for others":     {`{list: {elements: [{name: hub, app: none}, {name: one, app: web}]}}`, "apps/{{ .app }}", "x-one apps/web"},
		"a key clusters":      {`{list: {elements: [{name: hub, clusters: a}, {name: one, clusters: b}]}}`, "apps/web", "x-one apps/web"},
		"git alone":           {`{` + git + `files: [{path: 'set/*.yaml'}]}}`, "apps/{{ .app }}", "x-one apps/one, x-b apps/web"},
		"git with values":     {`{` + git + `directories: [{path: apps/web}], values: {to: '{{ .path.basename }}'}}}`, "apps/{{ .values.to }}", `there is no "name"`},
		"git, two ways":       {`{` + git + `directories: [{path: apps/web}], files: [{path: 'set/*.yaml'}]}}`, "{{ .path.path }}", `there is no "name"`},
		"git of nothing":      {`{` + git + `values: {}}}`, "apps/web", "names neither files nor directories"},
		"git of others":       {`{git: {repoURL: 'https://git.test/other', revision: main, files: [{path: a}]}}`, "apps/web", "its generator git is not followed"},
		"git, then clusters":  {`{matrix: {generators: [{` + git + `directories: [{path: apps/*}]}}, {clusters: {}}]}}`, "{{ .path.path }}", "makes two Applications of the name x-one"},
		"clusters and a list": {`{clusters: {}}, {list: {elements: [{name: b}]}}`, "apps/web", "x-one apps/web, x-b apps/web"},
		"list of a cluster":   {`{matrix: {generators: [{clusters: {}}, {list: {elements: [{app: web}]}}]}}`, "apps/{{ .app }}", "x-one apps/web"},
		"list by the cluster": {`{matrix: {generators: [{clusters: {values: {app: web}}}, {list: {elements: [{to: '{{ .values.app }}'}]}}]}}`, "apps/{{ .to }}", "x-one apps/web"},
		"first wins":          {`{matrix: {generators: [{clusters: {}}, {list: {elements: [{name: b}]}}]}}`, "apps/web", "x-one apps/web"},
		"matrix in a matrix":  {`{matrix: {generators: [{matrix: {generators: [{clusters: {}}, {list: {elements: [{a: w}]}}]}}, {list: {elements: [{b: eb}]}}]}}`, "apps/{{ .a }}{{ .b }}", "x-one apps/web"},
		"matrix of three":     {`{matrix: {generators: [{clusters: {}}, {clusters: {}}, {clusters: {}}]}}`, "apps/web", "its matrix has 3 generators"},
		"selector in matrix":  {`{matrix: {generators: [{clusters: {}}, {list: {elements: [{app: none}, {app: web}]}, selector: {matchLabels: {app: web}}}]}}`, "apps/{{ .app }}", "x-one apps/web"},
		"merge":               {`{merge: {mergeKeys: [name], generators: [{clusters: {values: {app: none}}}, {list: {elements: [{name: one, values: {app: web}}, {name: new}]}}]}}`, "apps/{{ .values.app }}", "x-one apps/web"},
		"merge keys below":    {`{merge: {mergeKeys: [values.a], generators: [{list: {elements: [{name: a}, {name: b}]}}, {clusters: {}}]}}`, "apps/web", "gives two sets of parameters with the same mergeKeys"},
		"merge without keys":  {`{merge: {generators: [{clusters: {}}, {clusters: {}}]}}`, "apps/web", "its merge has 2 generators and 0 mergeKeys"},
		"flat list":           {`{clusters: {flatList: true}}`, "apps/web", `there is no "name"`},
		"pull requests":       {`{pullRequest: {github: {}}}`, "apps/web", "its generator pullRequest is not followed"},
		"no generator":        {`{cluster: {}}`, "apps/web", `Argo CD has no generator "cluster"`},
		"own template":        {`{clusters: {template: {metadata: {}, spec: {project: default, destination: {}, source: {repoURL: 'https://git.test/tree', path: apps/web}}}}}`, "none", "x-one apps/web"},
		"two of a kind":       {`{clusters: {}}, {clusters: {}}`, "apps/web", "makes two Applications of the name x-one"},
	} {
		t.Run(name, func(t *testing.T) {
			got := madeBy(t, generated(test.generator, test.path), files)
			assert.Check(t, strings.Contains(got, test.want) && (test.want[0] != 'x' || got == test.want), "got %s\nwant %s", got, test.want)
		})
	}
}

func TestWithoutGoTemplate(t *testing.T) {
	for name, test := range map[string]struct{ generator, path, want string }{
		"cluster":             {`{clusters: {}}`, "apps/{{name}}", "x-one apps/one"},
		"with spaces":         {`{clusters: {}}`, "apps/{{ nameNormalized }}", "x-one apps/one"},
		"label":               {`{clusters: {}}`, "apps/{{metadata.labels.ring}}", `path "apps/first" is not`},
		"label that is none":  {`{clusters: {}}`, "apps/{{metadata.labels.rign}}", `uses the label "rign", which the cluster's registration lacks: Argo CD leaves it as it is written`},
		"values":              {`{clusters: {values: {app: web}}}`, "apps/{{values.app}}", "x-one apps/web"},
		"values of a cluster": {`{clusters: {values: {app: '{{name}}'}}}`, "apps/{{values.app}}", "x-one apps/one"},
		"list":                {`{list: {elements: [{name: a, app: web}]}}`, "apps/{{app}}", "x-a apps/web"},
		"list with a number":  {`{list: {elements: [{name: 1}]}}`, "apps/web", "its list has an element with other things than text"},
		"directories":         {`{matrix: {generators: [{clusters: {}}, {git: {repoURL: 'https://git.test/tree', revision: main, directories: [{path: apps/w*}]}}]}}`, "{{path[0]}}/{{path.basename}}", "x-one apps/web"},
		"files":               {`{matrix: {generators: [{clusters: {}}, {git: {repoURL: 'https://git.test/tree', revision: main, files: [{path: 'set/*.yaml'}]}}]}}`, "apps/{{app.of.0}}", "x-one apps/web"},
		"the same name":       {`{matrix: {generators: [{clusters: {}}, {list: {elements: [{name: b}]}}]}}`, "apps/web", `both give name, "one" and "b"`},
		"Go's form":           {`{clusters: {}}`, "apps/{{ .name }}", "without goTemplate, {{.name}} is no parameter of its generators"},
		"misspelt":            {`{clusters: {}}`, "apps/{{nmae}}", "without goTemplate, {{nmae}} is no parameter"},
	} {
		t.Run(name, func(t *testing.T) {
			set := strings.Replace(generated(test.generator, test.path), "goTemplate: true", "goTemplate: false", 1)
			set = strings.NewReplacer("'x-{{ .name }}'", "'x-{{name}}'", "destination: {name: '{{ .name }}'}", "destination: {name: '{{name}}'}").Replace(set)
			got := madeBy(t, set, map[string]string{"set/a.yaml": "app: {of: [web]}\n"})
			assert.Check(t, strings.Contains(got, test.want) && (test.want[0] != 'x' || got == test.want), "got %s\nwant %s", got, test.want)
		})
	}
}

func TestTemplatePatch(t *testing.T) {
	for patch, want := range map[string]string{
		`{spec: {source: {path: 'apps/web'}}}`:                             "x-one apps/web",
		`{{ if eq .name "one" }}spec: {source: {path: apps/one}}{{ end }}`: "x-one apps/one",
		`{spec: {source: {path: null}}}`:                                   "has a source without path and chart",
		"spec: {syncPolicy: {automatedd: {}}}":                             "its templatePatch has spec.syncPolicy.automatedd, which an Application does not have: Argo CD leaves it out, and does not say so",
		"spec: [":                                                          "its templatePatch is no patch of an Application", "{{ .nmae }}": `there is no "nmae"`,
	} {
		set := generated(`{clusters: {}}`, "none") + "  templatePatch: |\n    " + patch + "\n"
		got := madeBy(t, set, nil)
		assert.Check(t, strings.Contains(got, want) && (want[0] != 'x' || got == want), "%s: got %s", patch, got)
	}
}

func TestOptions(t *testing.T) {
	set := generated(`{clusters: {}}`, "apps/web")
	assert.Equal(t, madeBy(t, strings.Replace(set, "missingkey=error", "missingkey=zero", 1), nil), "x-one apps/web")
	assert.Check(t, is.Contains(madeBy(t, strings.Replace(set, "missingkey=error", "missingkey=eror", 1), nil),
		`start/s.yaml:6:23 ApplicationSet apps: Go's templates have no option "missingkey=eror", and so Argo CD makes nothing of it`))
}

func TestSameNameForTwoClusters(t *testing.T) {
	set := strings.Replace(generated(`{clusters: {}}`, "apps/web"), "'x-{{ .name }}'", "same", 1)
	got := madeBy(t, set, nil)
	assert.Check(t, strings.Contains(got, "an Application of the name same for one and for hub"), got)
	set = strings.Replace(generated(`{clusters: {selector: {matchLabels: {ring: first}}}}`, "apps/web"), "'x-{{ .name }}'", "same", 1)
	assert.Equal(t, madeBy(t, set, nil), "same apps/web")
}

// TestSelectorsWithin: what is said of a selector, wherever the generator is, has its line.
func TestSelectorsWithin(t *testing.T) {
	for name, test := range map[string]struct{ generator, want string }{
		"first of a merge":       {`{merge: {mergeKeys: [name], generators: [{clusters: {selector: {matchLabels: {rign: first}}}}, {clusters: {}}]}}`, `start/s.yaml:7:100 ApplicationSet apps selects clusters by the label "rign", which none of this hub has: it reaches none`},
		"value of a matrix":      {`{matrix: {generators: [{clusters: {selector: {matchLabels: {ring: frist}}}}, {list: {elements: [{a: b}]}}]}}`, `start/s.yaml:7:82 ApplicationSet apps selects clusters by the label ring=frist; those of this hub have first: it reaches none`},
		"override for later":     {`{merge: {mergeKeys: [name], generators: [{clusters: {}}, {clusters: {selector: {matchLabels: {ring: last, stage: late}}}}]}}`, ""},
		"override that is wrong": {`{merge: {mergeKeys: [name], generators: [{clusters: {}}, {clusters: {selector: {matchLabels: {ring: frist}}}}]}}`, `start/s.yaml:7:116 ApplicationSet apps selects clusters by the label ring=frist; those of this hub have first: this generator of a merge overrides nothing`},
		"filter within":          {`{merge: {mergeKeys: [name], generators: [{clusters: {}, selector: {matchLabels: {rign: first}}}, {clusters: {}}]}}`, `start/s.yaml:7:103 ApplicationSet apps filters by "rign", which no cluster of this hub has: it reaches none`},
		"switch that is off":     {`{clusters: {selector: {matchLabels: {paging: "true"}}}}`, ""},
		"left out within":        {`{merge: {mergeKeys: [name], generators: [{clusters: {selector: {matchExpressions: [{key: odd, operator: NotIn, values: [a]}]}}}, {clusters: {selector: {matchLabels: {odd: b}}}}]}}, {clusters: {selector: {matchLabels: {odd: b}}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := generated(test.generator, "apps/web")
			assert.Equal(t, strings.TrimSpace(findings(t, map[string]string{"start/s.yaml": set})), test.want)
		})
	}
}
