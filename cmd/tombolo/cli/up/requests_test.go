package up

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/config"
	"tombolo/tests/files"
)

// delivered is a repository with a cluster and a policy, to which a request 7 has brought a change
// of the cluster and a request 8 one of a page, and GitHub's API, which tells of both.
type delivered struct {
	t    *testing.T
	root string
	// base is the commit before both, and merges are those that brought them.
	base   string
	merges map[int]string
	// approvals are the numbers of people who approve each request. Unknown is what the API
	// does not tell of.
	approvals map[int]int
	unknown   string
	asked     []string
}

func deliver(t *testing.T) *delivered {
	t.Helper()
	d := &delivered{t: t, root: t.TempDir(), merges: map[int]string{}, approvals: map[int]int{}}
	d.write("Pulumi.yaml", "name: tombolo\n")
	d.write(config.PolicyFile, "version: 1\nrules:\n  - name: networks\n    match: {types: [\"aws:ec2/*\"]}\n    decision: second-approval\n")
	d.write("clusters/demo.yaml", "name: demo\n")
	d.git("init", "-q", "--initial-branch=main")
	d.base = d.commit()
	d.merge(7, "clusters/demo.yaml", "name: demo # other\n")
	d.merge(8, "README.md", "text\n")
	return d
}

func (d *delivered) write(name, text string) {
	d.t.Helper()
	files.Write(d.t, filepath.Join(d.root, name), text)
}

func (d *delivered) git(args ...string) string {
	d.t.Helper()
	return files.Git(d.t, d.root, args...)
}

func (d *delivered) commit() string {
	d.git("add", "-A")
	d.git("commit", "-q", "-m", "change")
	return d.git("rev-parse", "HEAD")
}

// merge has a request bring a file.
func (d *delivered) merge(number int, file, text string) {
	d.git("switch", "-q", "-c", fmt.Sprintf("request-%d", number))
	d.write(file, text)
	d.commit()
	d.git("switch", "-q", "main")
	d.git("merge", "-q", "--no-ff", "--no-edit", fmt.Sprintf("request-%d", number))
	d.merges[number] = d.git("rev-parse", "HEAD")
}

func (d *delivered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const repository = "/repos/acme/clusters"
	d.asked = append(d.asked, r.URL.Path)
	if d.unknown != "" && strings.Contains(r.URL.Path, d.unknown) {
		http.Error(w, `{"message":"gone"}`, http.StatusGone)
		return
	}
	for number, merge := range d.merges {
		pull := fmt.Sprintf("%s/pulls/%d", repository, number)
		switch r.URL.Path {
		case repository + "/commits/" + merge + "/pulls":
			fmt.Fprintf(w, `[{"number":%d,"merged_at":"2026-01-02","merge_commit_sha":%q,"base":{"ref":"main"}}]`, number, merge)
			return
		case pull:
			fmt.Fprintf(w, `{"user":{"id":1},"commits":1,"head":{"sha":"h%d","ref":"r%d","repo":{"full_name":"acme/clusters"}}}`, number, number)
			return
		case pull + "/commits":
			fmt.Fprintf(w, `[{"sha":"h%d","author":{"id":1},"committer":{"id":1}}]`, number)
			return
		case pull + "/reviews":
			var all []string
			for i := range d.approvals[number] {
				all = append(all, fmt.Sprintf(`{"user":{"id":%d,"login":"user-%d"},"state":"APPROVED","commit_id":"h%d"}`, 10+i, i, number))
			}
			fmt.Fprintf(w, "[%s]", strings.Join(all, ","))
			return
		}
		if r.URL.Path == repository+"/activity" && r.URL.Query().Get("ref") == fmt.Sprintf("refs/heads/r%d", number) {
			fmt.Fprintf(w, `[{"before":"0000","after":"h%d","actor":{"id":1}}]`, number)
			return
		}
	}
	if strings.HasSuffix(r.URL.Path, "/permission") {
		fmt.Fprint(w, `{"permission":"write"}`)
		return
	}
	fmt.Fprint(w, `[]`)
}

// apply applies a plan of HEAD, as the pipeline does. applied is the commit that is recorded.
func (d *delivered) apply(applied string) (*fixture, error) {
	d.t.Helper()
	server := clitest.Serve(d.t, d)
	fx, p := newPlannedOf(d.t, filepath.Join(d.root, "clusters"), "--approvals", "auto")
	fx.opts.Root = func() (string, error) { return d.root, nil }
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_TOKEN": "t", "GITHUB_API_URL": server.URL, "GITHUB_REPOSITORY": "acme/clusters",
		"GITHUB_EVENT_NAME": "push", "GITHUB_SHA": d.git("rev-parse", "HEAD"), "GITHUB_REF": "refs/heads/main",
	}
	fx.opts.Lookup = clitest.Env(env)
	p.applied = applied
	return fx, upRun(d.t.Context(), fx.opts)
}

// TestEachRequestIsApproved: what is applied has been brought by each request since the commit that
// was applied last, and not by the last one alone.
func TestEachRequestIsApproved(t *testing.T) {
	const refused = "tombolo.policy.yaml does not let the change pass: networks (second-approval)"
	for _, test := range []struct {
		name   string
		change func(*delivered)
		// applied is the commit that is recorded: base by default.
		applied string
		err     string // "" where it is applied
	}{
		{name: "the harmless one has approvals", change: func(d *delivered) { d.approvals[8] = 2 }, err: refused},
		{name: "that of the cluster has", change: func(d *delivered) { d.approvals[7] = 2 }},
		{name: "that of the cluster has one", change: func(d *delivered) { d.approvals[7], d.approvals[8] = 1, 2 }, err: refused},
		{name: "another one of the cluster has none", change: func(d *delivered) {
			d.approvals[7] = 2
			d.merge(9, "Pulumi.yaml", "name: tombolo\nruntime: go\n")
		}, err: refused},
		{name: "both have", change: func(d *delivered) {
			d.approvals[7], d.approvals[9] = 2, 2
			d.merge(9, "Pulumi.yaml", "name: tombolo\nruntime: go\n")
		}},
		{name: "a commit by no request", change: func(d *delivered) {
			d.approvals[7] = 2
			d.write("clusters/demo.yaml", "name: demo # pushed\n")
			d.commit()
		}, err: "no request has brought it"},
		{name: "the host does not tell", change: func(d *delivered) { d.approvals[7], d.unknown = 2, "/commits/" }, err: "410 Gone"},
		{name: "the host does not tell who reviews", change: func(d *delivered) { d.approvals[7], d.unknown = 2, "/reviews" }, err: "410 Gone"},
		{name: "nothing is recorded", change: func(d *delivered) { d.approvals[7] = 2 }, applied: "none", err: "nothing was applied to it, and there is no commit before that of its file"},
		{name: "what is recorded is no commit here", change: func(d *delivered) { d.approvals[7] = 2 }, applied: strings.Repeat("5", 40), err: "has no such commit"},
		{name: "what is recorded is on another branch", change: func(d *delivered) {
			d.approvals[7] = 2
			d.git("switch", "-q", "-c", "elsewhere", d.base)
			d.write("a", "b")
			d.base = d.commit()
			d.git("switch", "-q", "main")
		}, err: "is not among the commits that HEAD comes from"},
		{name: "what nobody has changed", change: func(d *delivered) { d.approvals[7], d.approvals[8], d.base = 2, 2, d.merges[8] }, err: refused},
		{name: "what is not committed", change: func(d *delivered) {
			d.approvals[7] = 2
			d.write("clusters/demo.yaml", "name: demo # mine\n")
		}, err: "is not committed"},
		{name: "a new cluster", change: func(d *delivered) {
			d.git("rm", "-q", "clusters/demo.yaml")
			d.commit()
			d.merge(9, "clusters/demo.yaml", "name: demo # again\n")
			d.approvals[9] = 2
		}, applied: "none"},
		{name: "a new cluster without approvals", change: func(d *delivered) {
			d.git("rm", "-q", "clusters/demo.yaml")
			d.commit()
			d.merge(9, "clusters/demo.yaml", "name: demo # again\n")
		}, applied: "none", err: refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := deliver(t)
			test.change(d)
			applied := map[string]string{"": d.base, "none": ""}[test.applied]
			if test.applied != "" && test.applied != "none" {
				applied = test.applied
			}
			fx, err := d.apply(applied)
			if test.err != "" {
				assert.ErrorContains(t, err, test.err)
				assert.Check(t, is.Len(fx.driver.calls, 0))
				return
			}
			assert.NilError(t, err)
			assert.DeepEqual(t, fx.driver.calls, []string{"up demo", "applied demo " + d.git("rev-parse", "HEAD")})
		})
	}
}

// TestAppliedWithoutAChange: a commit that changes nothing of a cluster is applied to it.
func TestAppliedWithoutAChange(t *testing.T) {
	d := deliver(t)
	fx, p := newPlannedOf(t, filepath.Join(d.root, "clusters"))
	fx.opts.Root = func() (string, error) { return d.root, nil }
	p.op = ""
	p.replan(t, fx)
	assert.NilError(t, upRun(t.Context(), fx.opts))
	assert.DeepEqual(t, fx.driver.calls, []string{"applied demo " + d.merges[8]})
	assert.Check(t, is.Len(d.asked, 0))
}

func (p *planner) Applied(context.Context, *config.Cluster) (string, error) { return p.applied, nil }

func (d *driver) Applied(context.Context, *config.Cluster) (string, error) { return "", nil }

func (d *driver) RecordApplied(_ context.Context, c *config.Cluster, commit string) error {
	d.call("applied " + c.Name + " " + commit)
	return nil
}
