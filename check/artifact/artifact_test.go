package artifact

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/tree"
	"tombolo/check/tree/treetest"
)

func sources(t *testing.T) map[string]*tree.Files {
	t.Helper()
	return map[string]*tree.Files{
		"mono": treetest.Index(t, treetest.FS(map[string]string{
			"apps/web/base/a.yaml": "a", "apps/web/base/.sops.yaml": "", "apps/web/README.md": "", "apps/api/base/a.yaml": "a",
			"apps/api/envs/dev/x.yaml": "x", "root.yaml": "replicas: 1\nimage: {tag: a, name: b}\n", "charts/c.tgz": "",
		})),
		"env": treetest.Index(t, treetest.FS(map[string]string{"values.yaml": "image: {tag: c}\n", "broken.yaml": "a: [\n"})),
	}
}

// TestCompose: want are the files of the artifact, or why there is none.
func TestCompose(t *testing.T) {
	for name, test := range map[string]struct {
		copy []Operation
		want string
	}{
		"what is in a directory":            {[]Operation{{From: "@mono/apps/web/**", To: "@artifact/"}}, "README.md base/a.yaml"},
		"what is below all directories":     {[]Operation{{From: "@mono/apps/**", To: "@artifact/x/"}}, "x/api/base/a.yaml x/api/envs/dev/x.yaml x/web/README.md x/web/base/a.yaml"},
		"a directory by its name":           {[]Operation{{From: "@mono/apps/web", To: "@artifact/"}}, "web/README.md web/base/a.yaml"},
		"a directory with a slash":          {[]Operation{{From: "@mono/apps/web/", To: "@artifact/x"}}, "x/web/README.md x/web/base/a.yaml"},
		"one star keeps the path":           {[]Operation{{From: "@mono/apps/*", To: "@artifact/"}}, "apps/api/base/a.yaml apps/api/envs/dev/x.yaml apps/web/README.md apps/web/base/a.yaml"},
		"a star before two keeps it, too":   {[]Operation{{From: "@mono/apps/*/base/**", To: "@artifact/"}}, "apps/api/base/a.yaml apps/web/base/a.yaml"},
		"two stars are one":                 {[]Operation{{From: "@mono/**/*.yaml", To: "@artifact/"}}, `no file of the source matches "**/*.yaml"`},
		"all of a source":                   {[]Operation{{From: "@mono/", To: "@artifact/"}}, "apps/api/base/a.yaml apps/api/envs/dev/x.yaml apps/web/README.md apps/web/base/a.yaml charts/c.tgz root.yaml"},
		"a file to a name":                  {[]Operation{{From: "@mono/root.yaml", To: "@artifact/values.yaml"}}, "values.yaml"},
		"a file into a directory":           {[]Operation{{From: "@mono/root.yaml", To: "@artifact/x/"}}, "x/root.yaml"},
		"a file onto a directory":           {[]Operation{{From: "@mono/apps/web", To: "@artifact/"}, {From: "@mono/root.yaml", To: "@artifact/web"}}, "web/README.md web/base/a.yaml web/root.yaml"},
		"excluded by its last part":         {[]Operation{{From: "@mono/apps/**", To: "@artifact/", Exclude: []string{"*.md", "envs"}}}, "api/base/a.yaml web/base/a.yaml"},
		"excluded by its path":              {[]Operation{{From: "@mono/apps/**", To: "@artifact/", Exclude: []string{"web/**", "apps/api/envs/**"}}}, "api/base/a.yaml"},
		"all of it excluded":                {[]Operation{{From: "@mono/*.yaml", To: "@artifact/", Exclude: []string{"*.yaml"}}}, `all files that match "*.yaml" are excluded`},
		"a file that is not there":          {[]Operation{{From: "@mono/apps/wbe", To: "@artifact/"}}, `"apps/wbe" is not in the source`},
		"a brace is no pattern":             {[]Operation{{From: "@mono/apps/{web,api}", To: "@artifact/"}}, `"apps/{web,api}" is not in the source`},
		"an alias that is not there":        {[]Operation{{From: "@other/apps", To: "@artifact/"}}, `no source has the alias of "@other/apps"`},
		"a place outside":                   {[]Operation{{From: "@mono/root.yaml", To: "@artifact/../x"}}, `"@artifact/../x" leaves the artifact`},
		"a pattern that is none":            {[]Operation{{From: "@mono/[", To: "@artifact/"}}, `"[" is no pattern`},
		"archives":                          {[]Operation{{From: "@mono/charts/c.tgz", To: "@artifact/", Strategy: "Extract"}}, ErrNotFollowed.Error()},
		"what no YAML is cannot be merged":  {[]Operation{{From: "@mono/root.yaml", To: "@artifact/v"}, {From: "@env/broken.yaml", To: "@artifact/v", Strategy: "Merge"}}, "v"},
		"a later copy overwrites":           {[]Operation{{From: "@mono/root.yaml", To: "@artifact/v"}, {From: "@env/values.yaml", To: "@artifact/v"}}, "v"},
		"a directory and its own directory": {[]Operation{{From: "@mono/apps/api/envs", To: "@artifact/a/"}, {From: "@mono/apps/api/base", To: "@artifact/a/"}}, "a/base/a.yaml a/envs/dev/x.yaml"},
	} {
		made, err := Output{Copy: test.copy}.Compose(sources(t))
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = strings.Join(made.Names(), " ")
		}
		assert.Check(t, is.Equal(got, test.want), name)
	}
}

// TestMerge: values of a later file win, and the place of what was merged is the file without a line.
func TestMerge(t *testing.T) {
	made, err := Output{Copy: []Operation{
		{From: "@mono/root.yaml", To: "@artifact/v.yaml"}, {From: "@env/values.yaml", To: "@artifact/v.yaml", Strategy: "Merge"},
	}}.Compose(sources(t))
	assert.NilError(t, err)
	text, err := made.Read("v.yaml")
	assert.NilError(t, err)
	assert.Equal(t, string(text), "image:\n  name: b\n  tag: c\nreplicas: 1\n")
	assert.Equal(t, made.Origin(tree.Place{File: "v.yaml", Line: 2}), tree.Place{File: "values.yaml"})
}

// TestRender: one artifact for each directory that the pattern matches.
func TestRender(t *testing.T) {
	for pattern, test := range map[string]struct{ name, from, want string }{
		"":                        {"all", "@mono/apps/**", "all @mono/apps/**"},
		"@mono/apps/{app}":        {"{app}", "@mono/apps/{app}/**", "api @mono/apps/api/** web @mono/apps/web/**"},
		"@mono/apps/{a}/envs/{b}": {"{a}-{b}", "@mono/apps/{a}/envs/{b}", "api-dev @mono/apps/api/envs/dev"},
		"@mono/apps/{app}/none":   {"{app}", "@mono/", ""},
		"@mono/apps/{app":         {"{app}", "@mono/", `pathPattern cannot be read: a bracket of "apps/{app" has no other`},
		"@mono/{a}/{a}":           {"{a}", "@mono/", `pathPattern cannot be read: "a" is no name for a part, or is there twice`},
		"@mono/apps/{other}":      {"{app}", "@mono/", `artifact "{app}" uses {app}, which is no part of pathPattern`},
		"@mono/{top}/{below}":     {"{top}", "@mono/", `two directories give the artifact "apps", one of them apps/web`},
	} {
		out, problem := Spec{PathPattern: pattern, Outputs: []Output{{Name: test.name, Copy: []Operation{{From: test.from, To: "@artifact/"}}}}}.Render(sources(t))
		got := ""
		for _, o := range out {
			got = strings.TrimSpace(got + " " + o.Name + " " + o.Copy[0].From)
		}
		if problem != nil {
			got = problem.Message
		}
		assert.Check(t, is.Equal(got, test.want), pattern)
	}
}

// TestCheck: what the API and source-watcher refuse, by the field.
func TestCheck(t *testing.T) {
	good := func() Spec {
		return Spec{
			Sources: []Source{{Alias: "mono", Kind: "GitRepository", Name: "platform"}},
			Outputs: []Output{{Name: "apps", OriginRevision: "@mono", Copy: []Operation{{From: "@mono/apps/**", To: "@artifact/"}}}},
		}
	}
	assert.Check(t, is.Len(good().Check(false), 0))
	for want, change := range map[string]func(*Spec){
		"metadata.name":                      func(s *Spec) { s.Outputs = nil },
		"spec.sources.[].alias":              func(s *Spec) { s.Sources = append(s.Sources, s.Sources[0]) },
		"spec.sources.[].kind":               func(s *Spec) { s.Sources[0].Kind = "HelmRepository" },
		"spec.sources.[].name":               func(s *Spec) { s.Sources[0].Name = "a.b" },
		"spec.sources.[].namespace":          func(s *Spec) { s.Sources[0].Namespace = "A" },
		"spec.artifacts.[].name":             func(s *Spec) { s.Outputs[0].Name = "Apps" },
		"spec.artifacts.[].revision":         func(s *Spec) { s.Outputs[0].Revision = "@other" },
		"spec.artifacts.[].originRevision":   func(s *Spec) { s.Outputs[0].OriginRevision = "mono" },
		"spec.artifacts.[].copy.[].from":     func(s *Spec) { s.Outputs[0].Copy[0].From = "@other/x" },
		"spec.artifacts.[].copy.[].to":       func(s *Spec) { s.Outputs[0].Copy[0].To = "apps/" },
		"spec.artifacts.[].copy.[].strategy": func(s *Spec) { s.Outputs[0].Copy[0].Strategy = "Replace" },
		"spec.pathPattern":                   func(s *Spec) { s.PathPattern = "@other/{app}" },
	} {
		s := good()
		change(&s)
		paths := map[string]bool{}
		for _, p := range s.Check(false) {
			paths[strings.Join(p.Path, ".")] = true
		}
		assert.Check(t, is.DeepEqual(slices.Sorted(maps.Keys(paths)), []string{want}))
	}
	s := good()
	s.Outputs = append(s.Outputs, s.Outputs[0])
	assert.Equal(t, s.Check(false)[0].Message, `two artifacts have the name "apps"`)
	var p *Problem
	_, err := s.Outputs[0].Compose(nil)
	assert.Check(t, errors.As(err, &p))
}
