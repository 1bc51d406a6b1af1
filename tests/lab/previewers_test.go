//go:build lab

package lab

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

const accountFile = `version: 1
name: acme
protect: true
cloud: {provider: aws, region: eu-central-1, account: "111122223333"}
tags: {team: platform}
state: {bucketArn: "arn:aws:s3:::acme-state", keyArn: "KEY"}
pipelines:
  host: github
  repository: acme/clusters
  apply: {policyArns: ["arn:aws:iam::aws:policy/PowerUserAccess"]}
`

// TestPipelinesRoles goes the way of the guide to pipelines: the account's roles, a
// cluster that lets the reading one preview, previews by it, and what it may not do on
// the real API server.
func TestPipelinesRoles(t *testing.T) {
	tier.Long(t, "the roles of pipelines, and what the reading one may do on a real API server")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	p.write(t, "accounts/acme.yaml", strings.Replace(accountFile, "KEY", keyOfStates, 1))
	inOrder(t, p, []step[project]{
		{"make the account's roles", project.makeRoles},
		{"a cluster with a previewer", project.clusterWithPreviewer},
		{"a preview by the role shows what an admin's does", project.previewByRole},
		{"a member of the group writes by dry run only", project.writesOfPreviewers},
		{"destroy the account's roles", project.destroyRoles},
	})
}

// accountResult is the only stack of the last document of a command on an account.
func (p project) accountResult(t *testing.T, args ...string) map[string]int {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(p.must(t, append(args, "--output", "json")...)), "\n")
	var r result
	decode(t, lines[len(lines)-1], &r)
	if len(r.Stacks) != 1 || r.Stacks[0].Stack != "acme-pipelines" {
		t.Fatalf("not a result of the account's stack: %s", lines[len(lines)-1])
	}
	return r.Stacks[0].Changes
}

func (p project) makeRoles(t *testing.T) {
	p.must(t, "pipelines", "validate", "acme")
	preview := p.accountResult(t, "pipelines", "preview", "acme")
	assert.Check(t, preview["create"] > 5, "the preview would make %v", preview)
	p.nothingExists(t)
	made := p.accountResult(t, "pipelines", "up", "acme", "--yes")
	assert.Check(t, is.Equal(made["create"], preview["create"]), "made %v, previewed %v", made, preview)
	assert.Check(t, is.Len(p.made(t, "aws:iam/role:Role"), 2))
	assert.Check(t, is.Len(p.made(t, "aws:iam/openIdConnectProvider:OpenIdConnectProvider"), 1))
	again := p.accountResult(t, "pipelines", "preview", "acme", "--refresh")
	assert.Check(t, is.Equal(len(again), 1), "a second preview would change %v", again)
	assert.Check(t, again["same"] > 5, "a second preview would change %v", again)
	assert.Check(t, is.Equal(strings.TrimSpace(p.must(t, "pipelines", "outputs", "acme", "previewRoleArn")), previewRole))
	assert.Check(t, !strings.Contains(p.must(t, "list"), "acme"), "an account is listed as a cluster")
}

const previewRole = "arn:aws:iam::111122223333:role/acme-pipelines-preview"

func (p project) clusterWithPreviewer(t *testing.T) {
	p.edit(t, "clusters/demo.yaml", "\n  nodeGroups:\n", "\n  previewers:\n    - {name: pipelines, principalArn: \""+previewRole+"\"}\n  nodeGroups:\n")
	p.up(t, "demo").created(t)
	p.up(t, "demo").unchanged(t)
}

// as is the project of somebody with a session of a role.
func (p project) as(role string) project {
	p.env = append(slices.Clone(p.env), "TOMBOLO_LAB_ROLE="+role)
	return p
}

// previewByRole changes something that each stack makes, and something of which the
// role may not read what there is.
func (p project) previewByRole(t *testing.T) {
	pipeline := p.as(previewRole)
	same := func() string {
		t.Helper()
		admin := plansOf(t, p.must(t, "preview", "demo", "--output", "json"))
		job := plansOf(t, pipeline.must(t, "preview", "demo", "--without-secrets", "--output", "json"))
		assert.DeepEqual(t, admin, job)
		return strings.Join(slices.Collect(maps.Values(job)), "\n")
	}
	assert.Check(t, !strings.Contains(same(), `"op":"update"`))
	file := "clusters/demo.yaml"
	text := p.read(t, file)
	defer p.write(t, file, text)
	p.edit(t, file, "  - name: reporting\n", "  - name: another\n  - name: reporting\n")
	p.edit(t, file, "  team: platform\n", "  team: operations\n")
	p.edit(t, file, "      owner: platform\n", "      owner: operations\n")
	changed := same()
	for _, want := range []string{"another", "reporting", "aws:ec2/vpc:Vpc"} {
		assert.Check(t, is.Contains(changed, want))
	}
	// The role cannot do what it previews.
	o := pipeline.run(t, "up", "demo", "--yes")
	assert.Check(t, o.code != 0, "a job that previews has changed the cluster")
	assert.Check(t, is.Contains(o.stdout+o.stderr, "no identity-based policy allows the kms:Decrypt action"))
	p.write(t, file, text)
	p.up(t, "demo")
}

// plansOf are the plans of a preview, by stack.
func plansOf(t *testing.T, stdout string) map[string]string {
	t.Helper()
	plans := map[string]string{}
	for line := range strings.Lines(stdout) {
		var d struct {
			Type, Stack string
			Changes     json.RawMessage
			Steps       []json.RawMessage
		}
		decode(t, line, &d)
		if d.Type == "plan" {
			steps := make([]string, len(d.Steps))
			for i, s := range d.Steps {
				steps[i] = string(s)
			}
			slices.Sort(steps) // the engine takes what does not wait for each other in any order
			plans[d.Stack] = string(d.Changes) + "\n" + strings.Join(steps, "\n")
		}
	}
	assert.Assert(t, is.Len(plans, 2))
	return plans
}

func (p project) destroyRoles(t *testing.T) {
	p.must(t, "destroy", "demo", "--yes")
	if o := p.run(t, "pipelines", "destroy", "acme", "--yes"); o.code != 2 || !strings.Contains(o.stderr, "acme is protected") {
		t.Errorf("exit code %d\n%s", o.code, o.stderr)
	}
	gone := p.accountResult(t, "pipelines", "destroy", "acme", "--yes-destroy", "acme", "--remove")
	assert.Check(t, gone["delete"] > 5, "deleted %v", gone)
	p.nothingExists(t)
}

// bearerOf is a token for the demo cluster of a session of the role, as an exec plugin
// gets it.
func (p project) bearerOf(t *testing.T, role string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(p.dir, ".lab", "bin", "aws"), "eks", "get-token", "--cluster-name", "demo")
	cmd.Env = os.Environ()
	for name, value := range p.as(role).labEnv(t) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	o := end(t, cmd)
	var credential struct{ Status struct{ Token string } }
	decode(t, o.stdout, &credential)
	return credential.Status.Token
}
