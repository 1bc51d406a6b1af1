package approved

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/stacks"
)

// fleet is a plan of three clusters in two waves.
func fleet() Plan {
	waves := map[string]int{"a": 0, "b": 1, "c": 1}
	var all []Cluster
	for _, name := range []string{"c", "b", "a"} {
		all = append(all, Cluster{Name: name, File: "sha256:" + name, Hub: "sha256:hub", Stacks: []Stack{{
			Name: name + "-core", Kind: stacks.Core, State: &State{Time: "then", Digest: "sha256:0"}, Steps: []Step{{URN: "u", Op: "create", Inputs: "i"}},
		}}})
	}
	return NewPlan(Program{Build: "abc", Go: "go1", Modules: "sha256:m", Pulumi: "v3"}, false, all, func(name string) int { return waves[name] })
}

func TestPlansAreInOrder(t *testing.T) {
	var names []string
	for _, c := range fleet().Clusters() {
		names = append(names, c.Name)
	}
	assert.DeepEqual(t, names, []string{"a", "b", "c"})
	assert.Equal(t, fleet().Summary(), "3 clusters, 3 steps")
	first, err := fleet().Bytes()
	assert.NilError(t, err)
	second, err := fleet().Bytes()
	assert.NilError(t, err)
	assert.Equal(t, string(first), string(second))
	assert.Assert(t, strings.HasPrefix(string(first), `{"program":{"build":"abc",`), "%s", first)
}

// TestSetting: what is refused before anything is asked.
func TestSetting(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Plan)
		want   string
	}{
		"nothing":                        {func(*Plan) {}, ""},
		"another commit":                 {func(p *Plan) { p.Program.Build = "def" }, "the plan was made by another program: build abc, modules m, Pulumi v3, go1, and this one is build def, modules m, Pulumi v3, go1"},
		"another module":                 {func(p *Plan) { p.Program.Modules = "sha256:n" }, "the plan was made by another program"},
		"another file":                   {func(p *Plan) { p.Waves[0].Clusters[0].File = "sha256:other" }, "a: its cluster file has changed"},
		"another hub":                    {func(p *Plan) { p.Waves[0].Clusters[0].Hub = "sha256:other" }, "a: the cluster file of its hub has changed"},
		"another setting that is shared": {func(p *Plan) { p.Waves[0].Clusters[0].Shared = map[string]string{"_prod.yaml": "sha256:other"} }, "a: the settings that it shares have changed"},
		"another wave":                   {func(p *Plan) { p.Waves[0].Wave = 2 }, "a: it is in wave 2, and was in wave 0"},
		"one less":                       {func(p *Plan) { p.Waves = p.Waves[1:] }, "a: it is in the plan, and not among the clusters of this run"},
		"one more":                       {func(p *Plan) { p.Waves[0].Clusters = append(p.Waves[0].Clusters, Cluster{Name: "d"}) }, "d: it is not in the plan"},
		"with the cloud":                 {func(p *Plan) { p.Refresh = true }, "one of both was compared with the cloud"},
		"waves in reverse":               {func(p *Plan) { p.Waves[0].Wave, p.Waves[1].Wave = 1, 0 }, "a: it is in wave 1, and was in wave 0"},
	} {
		t.Run(name, func(t *testing.T) {
			now := fleet()
			test.change(&now)
			err := Refuse(fleet().Setting(now))
			if test.want == "" {
				assert.NilError(t, err)
				return
			}
			assert.ErrorContains(t, err, "this is not what was approved: "+test.want)
			assert.ErrorContains(t, err, "; nothing was changed: make a plan with")
		})
	}
}

func TestDifferencesOfACluster(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Cluster)
		want   string
	}{
		"nothing":             {func(*Cluster) {}, ""},
		"another state":       {func(c *Cluster) { c.Stacks[0].State.Digest = "sha256:1" }, "a-core: its state has moved"},
		"another time":        {func(c *Cluster) { c.Stacks[0].State.Time = "now" }, "a-core: its state has moved: written now, and then when the plan was made"},
		"another step":        {func(c *Cluster) { c.Stacks[0].Steps[0].URN = "v" }, "a-core: it would create v, which is not in the plan; a-core: it would no longer create u"},
		"other inputs":        {func(c *Cluster) { c.Stacks[0].Steps[0].Inputs = "j" }, "a-core: it would create u with other inputs than in the plan"},
		"only with the state": {func(c *Cluster) { c.Stacks[0].Steps = append(c.Stacks[0].Steps, Step{URN: "u", Op: OpState}) }, "it would change what the state says of u, which is not in the plan"},
		"after core":          {func(c *Cluster) { c.Stacks[0].AfterCore = true }, "it no longer follows core"},
		"with a key":          {func(c *Cluster) { c.Keyed = true }, "secrets cannot be compared"},
	} {
		t.Run(name, func(t *testing.T) {
			now := fleet().Clusters()[0]
			test.change(&now)
			err := Refuse(fleet().Clusters()[0].Differences(now))
			if test.want == "" {
				assert.NilError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// TestSecretsOfAPlan: those that the plan has are compared, by digests that only the key tells apart.
func TestSecretsOfAPlan(t *testing.T) {
	digests := func(secret, password string) map[string]string {
		key, err := NewKey(secret, Cluster{Name: "a"})
		assert.NilError(t, err)
		out, err := key.Secrets(map[string]string{"gitops.auth.password": password})
		assert.NilError(t, err)
		return out
	}
	plan := Cluster{Name: "a", Secrets: digests("key", "one")}
	for name, test := range map[string]struct {
		now  map[string]string
		want int
	}{
		"the same": {digests("key", "one"), 0}, "another": {digests("key", "two"), 1}, "another key": {digests("other", "one"), 1}, "none": {nil, 1},
	} {
		assert.Check(t, is.Len(plan.Differences(Cluster{Name: "a", Secrets: test.now}), test.want), name)
	}
	assert.Check(t, is.Len(Cluster{Name: "a"}.Differences(plan), 0), "what the plan does not have is compared")
	assert.Check(t, digests("", "one") == nil, "a secret can be tried out by its digest")
}

// TestUnseen: the up may update what has a secret, and do nothing else with it.
func TestUnseen(t *testing.T) {
	s := Stack{Unseen: []string{"u"}}
	for op, want := range map[apitype.OpType]bool{apitype.OpUpdate: true, apitype.OpCreate: true, apitype.OpReplace: false, apitype.OpDelete: false} {
		assert.Check(t, is.Equal(s.Has(apitype.StepEventMetadata{URN: "u", Op: op}), want), "%s", op)
	}
	assert.Check(t, !s.Has(apitype.StepEventMetadata{URN: "v", Op: apitype.OpUpdate}))
	assert.Check(t, s.MayChange(), "nothing applies the secret")
	c := Cluster{Stacks: []Stack{s}}
	assert.Check(t, c.MayChange() && !c.Changes(), "a cluster of which nobody knows whether it changes counts as one that does, or does not")
}

// TestHidden: with its secrets, a preview may show that one changes, and nothing else besides the plan.
func TestHidden(t *testing.T) {
	const urn = "urn:pulumi:s::p::a:b:C::x"
	was := map[string]map[string]any{urn: {"secret": "[secret]", "url": "https://good"}}
	plan := Stack{Name: "a-core", Unseen: []string{urn}}
	for name, test := range map[string]struct {
		op, inputs string
		plan       Stack
		want       int
	}{
		"its secret alone":  {"update", `{"secret":"[secret]","url":"https://good"}`, plan, 0},
		"made again":        {"create", `{"secret":"[secret]","url":"https://good"}`, plan, 0},
		"more than that":    {"update", `{"secret":"[secret]","url":"https://evil"}`, plan, 1},
		"a secret less":     {"update", `{"url":"https://good"}`, plan, 1},
		"replaced":          {"replace", `{"secret":"[secret]","url":"https://good"}`, plan, 1},
		"of another":        {"update", `{"secret":"[secret]","url":"https://good"}`, Stack{Name: "a-core"}, 1},
		"what was approved": {"delete", `{}`, Stack{Name: "a-core", Steps: []Step{{URN: urn, Op: "delete"}}}, 0},
		"nothing":           {"same", `{}`, plan, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.plan.Hidden("a", Preview{
				Steps:    []apitype.StepEventMetadata{{URN: urn, Op: apitype.OpType(test.op)}},
				Document: `{"steps":[{"op":"` + test.op + `","urn":"` + urn + `","newState":{"inputs":` + test.inputs + `}}]}`,
			}, was)
			assert.NilError(t, err)
			assert.Check(t, is.Len(got, test.want))
		})
	}
}

// TestFile: what is read is what was approved, or nothing.
func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plan.json")
	digest, err := fleet().Write(name)
	assert.NilError(t, err)
	got, has, err := Read(name, digest)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, fleet())
	assert.Equal(t, has, digest)
	text, err := os.ReadFile(name)
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(name, []byte(strings.Replace(string(text), `"create"`, `"delete"`, 1)), 0o600))
	_, _, err = Read(name, digest)
	if refused := new(Error); !errors.As(err, &refused) || !strings.Contains(err.Error(), "and "+digest+" was approved") {
		t.Errorf("a plan that was changed gives %v", err)
	}
	for text, want := range map[string]string{
		`{"version":1,"steps":[]}`: "is no plan of this version", `{"version":2,"waves":[]}`: "has the format 2, and this program knows 1", `no JSON`: "is no plan",
	} {
		assert.NilError(t, os.WriteFile(name, []byte(text), 0o600))
		_, _, err := Read(name, "")
		assert.ErrorContains(t, err, want)
	}
}

// TestProgram: a program of a commit is known by it, any other by its file.
func TestProgram(t *testing.T) {
	own := func() (string, error) { return "sha256:file", nil }
	build := func(modified string) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1", Deps: []*debug.Module{{Path: "github.com/pulumi/pulumi/sdk/v3", Version: "v3.1"}}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "c0ffee"}, {Key: "vcs.modified", Value: modified},
		}}
	}
	clean, err := programOf(build("false"), own)
	assert.NilError(t, err)
	assert.Equal(t, clean.Build+" "+clean.Pulumi, "c0ffee v3.1")
	changed, err := programOf(build("true"), own)
	assert.NilError(t, err)
	assert.Equal(t, changed.Build, "sha256:file")
	other := build("false")
	other.Deps[0].Sum = "h1:other"
	another, err := programOf(other, own)
	assert.NilError(t, err)
	assert.Assert(t, another != clean)
}

// TestBuildID: the id that Go's linker wrote, where a system's programs have it.
func TestBuildID(t *testing.T) {
	name, err := os.Executable()
	assert.NilError(t, err)
	want, err := exec.CommandContext(t.Context(), "go", "tool", "buildid", name).Output()
	assert.NilError(t, err)
	id, err := buildID(name)
	assert.NilError(t, err)
	assert.Check(t, id != "")
	assert.Equal(t, id, strings.TrimSpace(string(want)))

	this, err := ThisProgram()
	assert.NilError(t, err)
	read, err := ProgramOf(name)
	assert.NilError(t, err)
	assert.Equal(t, read, this)

	file := filepath.Join(t.TempDir(), "program")
	for text, want := range map[string]string{
		"MZ \xff Go build ID: \"a/b\"\n \xff and more":                 "a/b",
		"MZ \xff Go build ID: \"a/b":                                   "",
		strings.Repeat(" ", 40<<10) + "\xff Go build ID: \"a\"\n \xff": "",
		"#!": "",
	} {
		assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
		id, err := buildID(file)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(id, want))
		digest, err := digestOfProgram(file)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(digest == digestOf([]byte(text)), want == ""), "the file is digested only without an id")
	}
	_, err = digestOfProgram(file + "-gone")
	assert.ErrorContains(t, err, "read this program's file: ")
}

const configMap = "urn:pulumi:s::p::kubernetes:core/v1:ConfigMap::m"

// TestStepsOf: what is a step, and what of its inputs counts.
func TestStepsOf(t *testing.T) {
	told := Preview{
		Steps: []apitype.StepEventMetadata{
			{URN: configMap, Op: apitype.OpRefresh},
			{URN: configMap, Op: apitype.OpUpdate},
			{URN: "urn:pulumi:s::p::aws:a::same", Op: apitype.OpSame},
			{URN: "urn:pulumi:s::p::pulumi:providers:aws::default_6_0", Op: apitype.OpCreate},
		},
		Document: `{"steps":[
			{"op":"update","urn":"` + configMap + `","oldState":{},"newState":{"inputs":{"of":"the refresh"}}},
			{"op":"update","urn":"` + configMap + `","newState":{"inputs":{"hard":{"pods":"1000"},"n":1000,"of":["made-1a2b3c4"]}}},
			{"op":"same","urn":"urn:pulumi:s::p::aws:a::same","oldState":{"id":"1","inputs":{}},"newState":{"protect":true,"inputs":{}}}
		]}`,
		MadeUp: []string{"made-1a2b3c4", "made-(random)"},
	}
	got, err := Key{}.StepsOf(told, nil)
	assert.NilError(t, err)
	var ops []string
	for _, s := range got {
		ops = append(ops, s.Op+" "+named(s.URN))
	}
	assert.DeepEqual(t, ops, []string{"state aws:a same", "update kubernetes:core/v1:ConfigMap m"})
	told.Document = strings.NewReplacer("made-1a2b3c4", "made-ffffff0", `"1000"`, `"1k"`).Replace(told.Document)
	told.MadeUp[0] = "made-ffffff0"
	again, err := Key{}.StepsOf(told, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, again)
	told.Document = strings.Replace(told.Document, "1000,", "1001,", 1)
	other, err := Key{}.StepsOf(told, nil)
	assert.NilError(t, err)
	assert.Assert(t, !slices.Equal([]string{got[1].Inputs}, []string{other[1].Inputs}))
	told.Document = `{"steps":[]}`
	_, err = Key{}.StepsOf(told, nil)
	assert.ErrorContains(t, err, "has no step update")
}

// TestUnknownPlaces: an unknown value is anything later, also nothing, and only there.
func TestUnknownPlaces(t *testing.T) {
	step := func(inputs string, like *Stack) Step {
		got, err := Key{}.StepsOf(Preview{
			Steps:    []apitype.StepEventMetadata{{URN: configMap, Op: apitype.OpCreate}},
			Document: `{"steps":[{"op":"create","urn":"` + configMap + `","newState":{"inputs":` + inputs + `}}]}`,
		}, like)
		assert.NilError(t, err)
		return got[0]
	}
	const some = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
	planned := step(`{"a/b":{"~":"`+some+`"},"l":[1,"`+some+`"],"k":"x"}`, nil)
	assert.DeepEqual(t, planned.Unknown, []string{"/a~1b/~0", "/l/1"})
	like := &Stack{AfterCore: true, Steps: []Step{planned}}
	for inputs, same := range map[string]bool{
		`{"a/b":{"~":"v"},"l":[1,{"o":2}],"k":"x"}`:          true,
		`{"a/b":{},"l":[1,2],"k":"x"}`:                       true,
		`{"a/b":{"~":"v"},"l":[1],"k":"x"}`:                  false,
		`{"a/b":{"~":"v"},"l":[1,2],"k":"y"}`:                false,
		`{"a/b":{"~":"v"},"l":[1,2],"k":"` + some + `"}`:     false,
		`{"a/b":{"~":"v","n":1},"l":[1,2],"k":"x"}`:          false,
		`{"a/b":{"~":"v"},"l":[1,2],"k":"x","more":"thing"}`: false,
	} {
		got := step(inputs, like)
		assert.Check(t, (got.Inputs == planned.Inputs) == same, "%s is the same: %t, want %t", inputs, !same, same)
	}
}
