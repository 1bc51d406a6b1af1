package change

import (
	"context"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/plan"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/tests/files"
)

const ofProduction = `version: 1
rules:
  - name: production
    match: {clusters: environment=prod}
    decision: second-approval
`

// TestEnvironmentOfBefore: a change does not escape a rule by the environment that it gives a cluster: neither the
// request, which is compared with its base, nor an apply, which comes after what was applied last.
func TestEnvironmentOfBefore(t *testing.T) {
	root := t.TempDir()
	write := func(environment string) {
		files.Write(t, filepath.Join(root, "clusters", "demo.yaml"), "version: 1\nname: demo\nenvironment: "+environment+"\n")
	}
	files.Git(t, root, "init", "-q", "-b", "main")
	files.Write(t, filepath.Join(root, "Pulumi.yaml"), "name: tombolo\n")
	files.Write(t, filepath.Join(root, config.PolicyFile), ofProduction)
	write("prod")
	files.Git(t, root, "add", "-A")
	files.Git(t, root, "commit", "-q", "-m", "as it was")
	write("dev")

	judge := func(j Judge, since string) []plan.Verdict {
		t.Helper()
		f := &fleet.Fleet{Base: clitest.At(root, render.Text).Base(), ChangedSince: since}
		rules, err := j.Rules(t.Context(), f)
		assert.NilError(t, err)
		set := plan.Set{Clusters: []plan.Cluster{{Name: "demo", Labels: map[string]string{"environment": "dev"}, Stacks: []plan.Stack{{Resources: []plan.Resource{{}}}}}}}
		assert.NilError(t, rules.Judge(&set))
		return set.Unmet()
	}
	assert.Check(t, is.Len(judge(Judge{}, "main"), 1))
	assert.Check(t, is.Len(judge(Judge{}, ""), 0))
	applied := func(commit string) func(context.Context, string) (string, error) {
		return func(context.Context, string) (string, error) { return commit, nil }
	}
	assert.Check(t, is.Len(judge(Judge{Applied: applied("main")}, ""), 1))
	assert.Check(t, is.Len(judge(Judge{Applied: applied("")}, ""), 0))
	assert.Check(t, is.Len(judge(Judge{Applied: applied("gone")}, ""), 0), "with a number by hand")
}
