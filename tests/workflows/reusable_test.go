package workflows

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/finding"
	"tombolo/platform/pipelines"
	testfiles "tombolo/tests/files"
)

// called is what a workflow is for those that call it.
type called struct {
	Inputs map[string]struct {
		Type, Default, Description string
		Required                   bool
	}
	Secrets map[string]struct{ Required bool }
}

// reusable are the workflows that a project of one's own calls, with the secrets and inputs that
// they take, in alphabetical order.
var reusable = map[string]struct{ secrets, inputs []string }{
	"preview":         {},
	"preview-program": {},
	"promotion":       {inputs: []string{"from"}},
	"apply":           {slices.Sorted(slices.Values(pipelines.Declared())), []string{"branch", "secrets"}},
	"drift":           {slices.Sorted(slices.Values(slices.DeleteFunc(pipelines.Declared(), isPlanKey))), []string{"branch", "secrets"}},
}

func isPlanKey(name string) bool { return name == planKey }

// calledOf is what the workflow is for callers; nil if it has none.
func calledOf(t *testing.T, w workflow) *called {
	t.Helper()
	on := map[string]yaml.Node{}
	assert.NilError(t, w.On.Decode(&on))
	node, ok := on["workflow_call"]
	if !ok {
		return nil
	}
	var c called
	assert.NilError(t, node.Decode(&c))
	return &c
}

// TestReusable: what runs for requests takes no secret from a caller. What changes clusters takes
// those that it declares, and of the others a caller names at most as many as it has lines
// for; it never has all that the caller has.
func TestReusable(t *testing.T) {
	slot := regexp.MustCompile(`^\$\{\{ secrets\[fromJSON\(inputs\.secrets \|\| '\[\]'\)\[(\d)\]\] \}\}$`)
	seen := 0
	for _, file := range files(t) {
		w, text := load(t, file)
		name := strings.TrimSuffix(filepath.Base(file), ".yml")
		c, want := calledOf(t, w), reusable[name]
		_, known := reusable[name]
		assert.Check(t, is.Equal(c != nil, known), name)
		assert.Check(t, !strings.Contains(text, "toJSON(secrets") && !strings.Contains(text, "inherit"), "%s has every secret there is", name)
		if c == nil {
			assert.Check(t, !strings.Contains(text, "inputs."), name)
			continue
		}
		assert.Check(t, is.DeepEqual(slices.Sorted(maps.Keys(c.Secrets)), want.secrets), name)
		assert.Check(t, is.DeepEqual(slices.Sorted(maps.Keys(c.Inputs)), want.inputs), name)
		for of, s := range c.Secrets {
			assert.Check(t, !s.Required, "%s: the secret %s is required, and is often in an environment alone", name, of)
		}
		for id, j := range w.Jobs {
			for _, s := range j.Steps {
				slots := 0
				for key, value := range s.Env {
					if m := slot.FindStringSubmatch(value); m != nil && key == others+m[1] {
						slots++
					} else {
						assert.Check(t, !strings.Contains(value, "secrets["), "%s %s: %s is %s", name, id, key, value)
					}
				}
				if slots == 0 {
					continue
				}
				seen++
				assert.Check(t, is.Equal(slots, pipelines.MostOthers), "%s %s", name, id)
				assert.Check(t, is.Equal(s.Env["TOMBOLO_SECRET_NAMES"], "${{ inputs.secrets }}"), "%s %s", name, id)
				assert.Check(t, len(mayHave[id]) > 0, "%s %s has secrets of a caller", name, id)
			}
		}
	}
	assert.Equal(t, seen, 3) // plan, apply, remediate
}

// TestBuildsOrInstalls: a job has Go where its checkout is Tombolo's source, and else the
// Makefile of the checkout installs what is pinned there.
func TestBuildsOrInstalls(t *testing.T) {
	for name := range reusable {
		w, _ := load(t, filepath.Join(github, name+".yml"))
		_, text := load(t, filepath.Join(github, name+".yml"))
		assert.Check(t, is.Contains(text, "\n  TOMBOLO_RELEASES: ${{ vars.TOMBOLO_RELEASES }}\n"), "%s knows no mirror of releases", name)
		for id, j := range w.Jobs {
			made := false
			for _, s := range j.Steps {
				if strings.HasPrefix(s.Uses, "actions/setup-go@") {
					assert.Check(t, !made, "%s %s: Go comes after make", name, id)
					assert.Check(t, is.Equal(s.If, "${{ hashFiles('"+s.With["go-version-file"]+"') != '' }}"), "%s %s", name, id)
				}
				made = made || strings.HasPrefix(s.Run, "make ")
			}
			assert.Check(t, made, "%s %s has no program", name, id)
		}
	}
	files, err := pipelines.Files(pipelines.Options{Host: pipelines.GitHub, Source: "github.com/acme/tombolo", Version: "v1.2.3"})
	assert.NilError(t, err)
	makefile := files[slices.IndexFunc(files, func(f pipelines.File) bool { return f.Path == "Makefile" })].Text
	for _, target := range []string{"build", "setup-aws", "setup-azure", "tools-azure"} {
		assert.Check(t, regexp.MustCompile(`(?m)^([a-z-]+ )*`+target+`( [a-z-]+)*:`).MatchString(makefile), "a project's Makefile has no target %s", target)
	}
}

// caller is a workflow of a project.
type caller struct {
	On          yaml.Node
	Permissions map[string]string
	Concurrency yaml.Node
	Jobs        map[string]struct {
		Uses        string
		Permissions map[string]string
		With        map[string]string
		Secrets     yaml.Node
	}
}

// TestCallers: what a project gets calls the workflows with what they take, allows their jobs
// what these need and nothing else, and gives no secret to what runs for requests.
func TestCallers(t *testing.T) {
	for _, secrets := range [][]string{nil, {"TOMBOLO_GIT_TOKEN", pipelines.Passphrase}, {"TOMBOLO_GIT_TOKEN", "TOMBOLO_HUB_TOKEN"}} {
		written, err := pipelines.Files(pipelines.Options{Host: pipelines.GitHub, Source: "github.com/acme/tombolo", Version: "v1.2.3", Branch: "trunk", Secrets: secrets, Promote: []string{"dev", "test", "trunk"}})
		assert.NilError(t, err)
		dir, seen, paths := t.TempDir(), 0, map[string][]string{}
		for _, f := range written {
			if f.Path == "Makefile" {
				continue
			}
			seen++
			checkCaller(t, f, secrets)
			paths[path.Base(f.Path)] = changesOf(t, f)
			testfiles.Write(t, filepath.Join(dir, filepath.FromSlash(f.Path)), f.Text)
			linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
			assert.NilError(t, err)
			problems, err := linter.LintFile(filepath.Join(dir, filepath.FromSlash(f.Path)), nil)
			assert.NilError(t, err)
			assert.Check(t, is.Len(problems, 0), "%s: %v", f.Path, problems)
		}
		assert.Equal(t, seen, 5)
		// What is applied was previewed, and a change of the pin only by the job that people release.
		previewed := slices.Concat(paths["preview.yml"], paths["preview-program.yml"])
		for _, changed := range paths["apply.yml"] {
			assert.Check(t, slices.Contains(previewed, changed), "a change of %s is applied, and was not previewed", changed)
		}
		for _, chosen := range []string{"tombolo.sha256", "Makefile", "Pulumi.yaml", ".github/workflows/**"} {
			assert.Check(t, slices.Contains(paths["preview-program.yml"], chosen) && !slices.Contains(paths["preview.yml"], chosen), chosen)
		}
	}
}

// TestTreesArePreviewed: a change of any folder of a tree at a project's root starts a preview.
func TestTreesArePreviewed(t *testing.T) {
	files, err := pipelines.Files(pipelines.Options{Host: pipelines.GitHub, Source: "github.com/acme/tombolo", Version: "v1.2.3"})
	assert.NilError(t, err)
	preview := files[slices.IndexFunc(files, func(f pipelines.File) bool { return path.Base(f.Path) == "preview.yml" })]
	gitlab, err := os.ReadFile("../../.gitlab/pipelines.yml")
	assert.NilError(t, err)
	for _, engine := range []string{"argocd", "flux"} {
		folders, err := os.ReadDir("../../platform/" + engine)
		assert.NilError(t, err)
		for _, f := range folders {
			if f.IsDir() {
				assert.Check(t, slices.Contains(changesOf(t, preview), f.Name()+"/**"), "GitHub: %s", f.Name())
				assert.Check(t, len(regexp.MustCompile(`[ \[]`+f.Name()+`/\*\*/\*`).FindAll(gitlab, -1)) > 1, "GitLab: %s", f.Name())
			}
		}
	}
}

// changesOf are the paths whose change starts a caller, by a push or a request.
func changesOf(t *testing.T, f pipelines.File) []string {
	t.Helper()
	var w struct {
		On map[string]yaml.Node
	}
	assert.NilError(t, yaml.Unmarshal([]byte(f.Text), &w))
	var paths []string
	for _, event := range []string{"push", "pull_request"} {
		var of struct{ Paths []string }
		node := w.On[event]
		assert.NilError(t, node.Decode(&of))
		paths = append(paths, of.Paths...)
	}
	return paths
}

func checkCaller(t *testing.T, f pipelines.File, secrets []string) {
	t.Helper()
	var w caller
	assert.NilError(t, yaml.Unmarshal([]byte(f.Text), &w))
	name := strings.TrimSuffix(path.Base(f.Path), ".yml")
	of, _ := load(t, filepath.Join(github, name+".yml"))
	takes := calledOf(t, of)
	// A group of its own would be the one of the called workflow, which would wait for itself.
	assert.Check(t, w.Concurrency.IsZero(), name)
	assert.Check(t, is.DeepEqual(w.Permissions, map[string]string{"contents": "read"}), name)
	assert.Check(t, is.Len(w.Jobs, 1), name)
	j := w.Jobs[name]
	assert.Check(t, is.Equal(j.Uses, "acme/tombolo/.github/workflows/"+name+".yml@v1.2.3"))
	most := map[string]string{}
	for _, job := range of.Jobs {
		for scope, access := range job.Permissions {
			if most[scope] != "write" {
				most[scope] = access
			}
		}
	}
	assert.Check(t, is.DeepEqual(j.Permissions, most), "%s: the jobs that are called may have other rights", name)
	for input := range j.With {
		_, ok := takes.Inputs[input]
		assert.Check(t, ok, "%s: there is no input %s", name, input)
	}
	if changes := name == "apply" || name == "drift"; changes {
		assert.Check(t, is.Equal(j.With["branch"], "trunk"), name)
	}
	passed := map[string]string{}
	if j.Secrets.Value == "inherit" {
		assert.Check(t, is.Equal(j.With["secrets"], `["TOMBOLO_HUB_TOKEN"]`), "%s inherits without need", name)
	} else if !j.Secrets.IsZero() {
		assert.NilError(t, j.Secrets.Decode(&passed))
	}
	for secret, value := range passed {
		_, ok := takes.Secrets[secret]
		assert.Check(t, ok && value == fmt.Sprintf("${{ secrets.%s }}", secret), "%s: %s is %s", name, secret, value)
	}
	if name == "promotion" {
		assert.Check(t, is.Equal(j.With["from"], `["dev", "test"]`))
		assert.Check(t, is.Contains(f.Text, "\n    branches: [test, trunk]\n"))
	}
	if !strings.HasPrefix(name, "pr") {
		assert.Check(t, is.Equal(len(passed) > 0 || j.Secrets.Value == "inherit", len(secrets) > 0), name)
		return
	}
	assert.Check(t, j.Secrets.IsZero() && !strings.Contains(f.Text, "secrets."), "%s gives secrets to a request", name)
}

// TestOtherCallers: what a project gets at GitLab and Azure DevOps names files, inputs and
// parameters that there are.
func TestOtherCallers(t *testing.T) {
	file := func(host, name string) string {
		written, err := pipelines.Files(pipelines.Options{
			Host: host, Source: "example.com/acme/tombolo", Version: "v1.2.3", Branch: "trunk",
			Secrets: []string{"TOMBOLO_GIT_TOKEN", "TOMBOLO_HUB_TOKEN", pipelines.Passphrase}, Promote: []string{"dev", "trunk"},
		})
		assert.NilError(t, err)
		i := slices.IndexFunc(written, func(f pipelines.File) bool { return f.Path == name })
		assert.Assert(t, i >= 0, "%s is not written for %s", name, host)
		return written[i].Text
	}
	var gitLab struct {
		Include []struct {
			Project, Ref, File string
			Inputs             map[string]string
		}
	}
	assert.NilError(t, yaml.Unmarshal([]byte(file(pipelines.GitLab, ".gitlab-ci.yml")), &gitLab))
	assert.Equal(t, "../.."+gitLab.Include[0].File, gitLabPipelines)
	assert.Equal(t, gitLab.Include[0].Ref, "v1.2.3")
	assert.DeepEqual(t, gitLab.Include[0].Inputs, map[string]string{"promoted": "dev"})

	var azureCaller struct {
		Trigger   struct{ Branches struct{ Include []string } }
		Resources struct {
			Repositories []struct{ Repository, Ref string }
		}
		Variables yaml.Node
		Extends   struct {
			Template   string
			Parameters map[string]yaml.Node
		}
	}
	assert.NilError(t, yaml.Unmarshal([]byte(file(pipelines.AzureDevOps, "azure-pipelines.yml")), &azureCaller))
	assert.Equal(t, "../../"+azureCaller.Extends.Template, azurePipelines+"@"+azureCaller.Resources.Repositories[0].Repository)
	assert.Equal(t, azureCaller.Resources.Repositories[0].Ref, "refs/tags/v1.2.3")
	// A group of the whole pipeline would be one of what runs for requests, too.
	assert.Check(t, azureCaller.Variables.IsZero())
	known := azure(t).Parameters
	for name, node := range azureCaller.Extends.Parameters {
		i := slices.IndexFunc(known, func(p azureParameter) bool { return p.Name == name })
		assert.Assert(t, i >= 0, "there is no parameter %s", name)
		assert.Check(t, is.Equal(node.Kind, known[i].Default.Kind), name)
	}
	branch, secrets := azureCaller.Extends.Parameters["branch"], []string{}
	node := azureCaller.Extends.Parameters["secrets"]
	assert.NilError(t, node.Decode(&secrets))
	assert.DeepEqual(t, append(secrets, branch.Value), []string{"TOMBOLO_HUB_TOKEN", "trunk"})
	assert.Equal(t, len(azureCaller.Trigger.Branches.Include), 1)
	promotes := azureCaller.Extends.Parameters["promote"]
	assert.Equal(t, promotes.Value, "true")
}

// TestOwnSecrets: the pipelines of this project pass on what its own cluster files name, also to
// those who call them.
func TestOwnSecrets(t *testing.T) {
	for _, host := range pipelines.Hosts() {
		found, uses, err := pipelines.Check("../..", host)
		assert.NilError(t, err)
		assert.Check(t, len(uses) > 5, "%d secrets are named: the test sees nothing", len(uses))
		for _, f := range found {
			assert.Check(t, f.Severity == finding.Note, "%s: %s", host, f)
		}
		for _, u := range uses {
			assert.Check(t, slices.Contains(pipelines.Declared(), u.Name), "%s:%d: a called workflow does not know %s", u.File, u.Line, u.Name)
		}
	}
}
