//go:build lab

package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"gotest.tools/v3/assert"

	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// before is the last commit whose hand-off has version 3 and knows AWS alone. The
// program of that commit makes the cluster that TestOlderState takes over.
const before = "70ee86775efc591f521ad61f0acddd208d3f0713"

// TestOlderState has this program take over the lab, the states and the hand-off
// that an older one wrote: it changes nothing of them but the hand-off, and tags by
// the identity that it gives the cluster.
func TestOlderState(t *testing.T) {
	tier.Long(t, "it builds the program of an older commit to take over what that one made")
	p := newProject(t)
	// What that program knew, and had.
	p.edit(t, demoFile, `version: "1.36"`, `version: "1.35"`)
	p.edit(t, demoFile, "version: "+ourFlux, "version: "+theirFlux)
	p.edit(t, demoFile, "flux-install.yaml", "flux-install-before.yaml")
	older := project{dir: p.dir, tombolo: buildOlder(t), known: p.known}
	older.must(t, "lab", "up", "--profile", "light")
	older.must(t, "up", "demo", "--yes") // that program knows no --force
	made := map[string][]resource{}
	for _, stack := range []string{"demo-core", "demo-bootstrap"} {
		made[stack] = older.resources(t, stack)
	}

	p.must(t, "lab", "up")
	p.takesOver(t)
	for _, args := range [][]string{
		{"preview", "demo", "--output", "json"},
		{"preview", "demo", "--without-secrets", "--output", "json"},
		{"up", "demo", "--yes", "--force", "--output", "json"},
		{"up", "demo", "--yes", "--output", "json", "--refresh"},
	} {
		lastResult(t, p.must(t, args...)).unchanged(t)
	}
	for stack, want := range made {
		got := slices.DeleteFunc(p.resources(t, stack), func(r resource) bool {
			// Its identity, and that core reads its own last outputs.
			return strings.HasSuffix(r.URN, "::pulumi:index:Stash::owner") ||
				stack == "demo-core" && strings.Contains(r.URN, "::pulumi:pulumi:StackReference::")
		})
		assert.Check(t, reflect.DeepEqual(got, want), "%s has other resources than before:\n%v\nwere\n%v", stack, got, want)
	}
	p.must(t, "destroy", "demo", "--yes")
	p.nothingExists(t)
}

// takesOver gives the cluster its identity: one value in the state of core, tags, and
// what bootstrap hands on. Nothing is deleted, and nothing is made anew.
func (p project) takesOver(t *testing.T) {
	t.Helper()
	for _, command := range []string{"preview", "up"} {
		args := []string{command, "demo", "--output", "json"}
		if command == "up" {
			args = append(args, "--yes")
		}
		for i, s := range lastResult(t, p.must(t, args...)).Stacks {
			for operation, n := range s.Changes {
				made := operation == "create" && n == 1 && i == 0
				if !made && operation != "same" && operation != "update" {
					t.Errorf("%s: %s does %d times %s: %v", command, s.Stack, n, operation, s.Changes)
				}
			}
		}
	}
}

// resource is what a state says of one resource, without what up writes anew each
// time.
type resource struct{ URN, ID, Created string }

func (p project) resources(t *testing.T, stack string) []resource {
	t.Helper()
	var state struct {
		Deployment struct{ Resources []resource }
	}
	decode(t, p.mustTool(t, "pulumi", "stack", "export", "--stack", stack), &state)
	assert.Assert(t, len(state.Deployment.Resources) >= 10, "%s has %d resources, too few to show anything", stack, len(state.Deployment.Resources))
	slices.SortFunc(state.Deployment.Resources, func(a, b resource) int { return strings.Compare(a.URN, b.URN) })
	return state.Deployment.Resources
}

// buildOlder builds tombolo of the commit before, with the modules of this one and with the flags
// of GOFLAGS: the modules that write a state, of Pulumi and its providers, have the same versions,
// and nothing but its own packages is compiled anew. A copy without the project's history cannot,
// and says so.
func buildOlder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	archive := filepath.Join(dir, "source.tar")
	for _, step := range []struct {
		in   string
		args []string
	}{
		{".", []string{"git", "rev-parse", "--verify", "--quiet", before + "^{commit}"}},
		{"../..", []string{"git", "archive", "--output", archive, before}},
		{dir, []string{"tar", "xf", archive}},
		{dir, []string{"go", "build", "-buildvcs=false", "-o", "bin/", "./cmd/tombolo"}},
	} {
		if step.args[0] == "go" {
			takeModules(t, dir)
		}
		cmd := exec.CommandContext(t.Context(), step.args[0], step.args[1:]...)
		cmd.Dir = step.in
		out, err := cmd.CombinedOutput()
		if err != nil && step.args[1] == "rev-parse" {
			t.Skipf("commit %s is not in the history of this copy: clone it whole to run this test", before)
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(step.args, " "), err, out)
		}
	}
	return filepath.Join(dir, "bin", "tombolo")
}

// takeModules gives a copy of an older commit the modules of this one. Those of Pulumi and its
// providers have to be the same in both, or the states are not those of an older program.
func takeModules(t *testing.T, older string) {
	t.Helper()
	versions := func(dir string) map[string]string {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		assert.NilError(t, err)
		parsed, err := modfile.Parse(dir, text, nil)
		assert.NilError(t, err)
		out := map[string]string{}
		for _, r := range parsed.Require {
			out[r.Mod.Path] = r.Mod.Version
		}
		return out
	}
	present := versions("../..")
	for module, version := range versions(older) {
		if strings.HasPrefix(module, "github.com/pulumi/pulumi") && present[module] != version {
			t.Fatalf("commit %s has %s %s and this one %s: build it with its own modules", before, module, version, present[module])
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		assert.NilError(t, err)
		files.Write(t, filepath.Join(older, name), string(text))
	}
}
