//go:build lab

package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/tests/azurerepos"
	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// fleetToken is the variable that one of the clusters wants and the first run
// lacks: then none starts.
const fleetToken = "TOMBOLO_TEST_LATE_TOKEN"

// sick is the cluster that does not come up at once: it alone has a queue, which
// the cloud refuses once.
const sick = "sick"

// summary is the document that ends a run on several clusters.
type summary struct {
	Type     string
	Clusters []struct {
		Cluster, Result, Phase, Cause string
		Changes                       map[string]int
	}
}

func (s summary) results() map[string]string {
	out := map[string]string{}
	for _, c := range s.Clusters {
		out[c.Cluster] = c.Result
	}
	return out
}

// gateEnd is the document that says whether a gate between two waves opened.
type gateEnd struct {
	Type, Status, Cause string
	Wave                int
}

// inAzure are the clusters of the fleet that are in Azure; the others are in AWS. Of the last
// two waves, three are in each cloud.
var inAzure = []string{"canary-b", "well-b", "last-b", "last-c"}

// TestFleet brings up eight clusters of three waves, in two clouds. One of them fails: its
// neighbours finish, the next wave waits, the summary tells, and --resume
// completes it. Between the waves are gates: one stays shut until Git
// has what its cluster is for. Each wave follows a branch of its own, and at the end a
// change is promoted from the first to the last.
func TestFleet(t *testing.T) {
	tier.Long(t, "eight clusters in three waves, with a failure and a resume")
	p := newProject(t)
	waves := writeFleet(t, p)
	p.must(t, "lab", "up", "--profile", "light-engine")
	p.branches(t)

	t.Run("none starts when one lacks something", func(t *testing.T) {
		o := p.run(t, "up", "--all", "--yes")
		if o.code != 4 || !strings.Contains(o.stderr, fleetToken) || !strings.Contains(o.stderr, "an up would fail: sick; nothing was started") {
			t.Errorf("exit code %d\n%s", o.code, o.stderr)
		}
		p.nothingExists(t)
	})
	p.env = append(p.env, fleetToken+"="+p.labEnv(t)["TOMBOLO_GIT_TOKEN"])
	p.must(t, "lab", "fault", "add", "quota", "create", "aws:sqs/queue:Queue")
	fleetFails(t, p, waves)
	t.Run("a changed file is refused", func(t *testing.T) {
		const file = "clusters/last-b.yaml"
		before := p.read(t, file)
		p.write(t, file, before+"# another\n")
		p.run(t, "up", "--resume", "--yes").ends(t, 4, "since then "+file+" changed")
		p.write(t, file, before)
	})
	t.Run("another backend is refused", func(t *testing.T) {
		p.run(t, "up", "--resume", "--yes", "--backend", "file://"+t.TempDir()).ends(t, 4, "cannot be resumed: its state is in file://")
	})
	gateStaysShut(t, p, waves)
	gateOpens(t, p, waves)
	t.Run("a change is promoted by two fast-forwards", p.promoted)

	p.destroys(t, "--all")
}

// environments are the branches that the waves follow.
var environments = []string{"dev", "test", "main"}

// bare is a repository of the lab, on the disk.
func (p project) bare(name string) string { return filepath.Join(p.dir, ".lab", "git", name+".git") }

// clone is a new clone of a branch of a repository.
func clone(t *testing.T, repository, branch string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files.Git(t, dir, "clone", "-q", "--branch", branch, repository, ".")
	return dir
}

// pushAll commits all that has changed in a clone, pushes it to a branch, and returns the commit.
func pushAll(t *testing.T, dir, branch string) (commit string) {
	t.Helper()
	files.Git(t, dir, "add", "--all")
	files.Git(t, dir, "commit", "-q", "-m", "Change")
	files.Git(t, dir, "push", "-q", "origin", "HEAD:"+branch)
	return files.Git(t, dir, "rev-parse", "HEAD")
}

// branches puts all branches where the lab has put main.
func (p project) branches(t *testing.T) {
	t.Helper()
	for _, branch := range environments[:2] {
		files.Git(t, p.bare("platform"), "branch", "--force", branch, "main")
	}
}

// promotion is a document of check --promotion, or of promote.
type promotion struct {
	Type, State, Command string
	Commits, Files       []any
}

func (p project) promotions(t *testing.T, args ...string) (all []promotion) {
	t.Helper()
	for line := range strings.Lines(p.must(t, append(args, "--output", "json")...)) {
		var d promotion
		decode(t, line, &d)
		all = append(all, d)
	}
	assert.Equal(t, len(all), 2)
	return all
}

// promoted: each environment has the change when its branch has it, and not before. What
// check says is run from dev to test; from test to main goes a pull request at Azure Repos.
func (p project) promoted(t *testing.T) {
	dir := clone(t, p.bare("platform"), environments[0])
	followers := []string{"canary-a", "well-b", "last-a"}
	for _, name := range followers {
		file := filepath.Join(dir, "clusters", name, "greeting.yaml")
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		files.Write(t, file, strings.ReplaceAll(string(text), "data: {", "data: {color: blue, "))
	}
	pushAll(t, dir, environments[0])

	for i, name := range followers {
		p.colored(t, name)
		for at, d := range p.promotions(t, "check", "--promotion", dir) {
			if at != i {
				assert.Equal(t, d.State, "same")
				continue
			}
			assert.Equal(t, d.State, "ready")
			assert.Check(t, len(d.Commits) == 1 && len(d.Files) == 3, "%+v", d)
			assert.Equal(t, p.color(t, followers[i+1]), "", "%s has what its branch does not have", followers[i+1])
			if i == 1 {
				p.promotedByRequest(t, dir)
				continue
			}
			command := strings.Fields(d.Command)
			assert.Check(t, len(command) == 4 && command[0] == "git", d.Command)
			files.Git(t, dir, command[1:]...)
		}
	}
}

// promotedByRequest opens the request from test to main, has somebody approve it, and completes it.
func (p project) promotedByRequest(t *testing.T, dir string) {
	t.Helper()
	all := azurerepos.Rights{PullRequests: true, Push: true, Bypass: true}
	repos := azurerepos.New(t, p.bare("platform"), map[string]azurerepos.Account{"t0ken": {ID: "promoter", Kind: "Microsoft.VisualStudio.Services.Claims.AadServicePrincipal", Rights: all}})
	repos.Policies = []azurerepos.Policy{{Branch: "main", Name: "Minimum number of reviewers", Blocking: true, Status: "approved"}}
	p.env = append(slices.Clone(p.env), "SYSTEM_ACCESSTOKEN=t0ken")
	promote := func(args ...string) string {
		args = append([]string{"promote", dir, "--api-url", repos.URL, "--repository", azurerepos.Project + "/" + azurerepos.Repository}, args...)
		return p.promotions(t, args...)[1].State
	}
	assert.Equal(t, promote(), "opened")
	assert.Equal(t, promote(), "unchanged")
	assert.Equal(t, promote("--complete"), "waiting")
	repos.Vote(t, azurerepos.Account{ID: "ada", Rights: azurerepos.Rights{Push: true}}, "test", "main", 10)
	assert.Equal(t, promote("--complete"), "moved")
	files.Git(t, dir, "fetch", "-q", "origin")
	assert.Equal(t, promote(), "abandoned")
}

// look has Flux look at an object now.
func (p project) look(t *testing.T, cluster, namespace, kind, name string) {
	t.Helper()
	p.kubectl(t, cluster, "-n", namespace, "annotate", kind, name, "--overwrite", "reconcile.fluxcd.io/requestedAt="+time.Now().Format(time.RFC3339Nano))
}

// bring has the lab's repository follow the tree, and a cluster's Flux look at it now: by itself it looks once a minute.
func (p project) bring(t *testing.T, cluster string) {
	t.Helper()
	p.must(t, "lab", "up")
	p.look(t, cluster, "flux-system", "gitrepository", "platform")
}

// colored has a cluster's Flux look at its branch now, and waits for the change.
func (p project) colored(t *testing.T, name string) {
	t.Helper()
	p.look(t, name, "flux-system", "gitrepository", "platform")
	eventually(t, func() (bool, string) {
		return p.color(t, name) == "blue", name + " has not the change"
	})
}

func (p project) color(t *testing.T, name string) string {
	t.Helper()
	return p.kubectl(t, name, "-n", "default", "get", "configmap", "greeting", "-o", "jsonpath={.data.color}")
}

// fleetFails: the canaries' gate opens, a cluster of the next wave fails.
func fleetFails(t *testing.T, p project, waves map[string]int) {
	t.Helper()
	o := p.run(t, "up", "--all", "--yes", "--gate-timeout", "5m", "--output", "json")
	o.ends(t, 5, "`tombolo up --resume` continues with the rest")
	if got, want := gates(t, o.stdout), []gateEnd{{Type: "gate-finished", Status: "done"}}; !slices.Equal(got, want) {
		t.Errorf("the gates were %+v, want %+v", got, want)
	}
	first := lastSummary(t, o.stdout)
	wantResults(t, first, func(name string, wave int) string {
		switch {
		case name == sick:
			return "failed"
		case wave == 2:
			return "skipped"
		}
		return "done"
	}, waves)
	for _, c := range first.Clusters {
		if c.Result == "done" && (c.Phase != "bootstrap" || c.Changes["create"] == 0) {
			t.Errorf("%s is done at %q with %v", c.Cluster, c.Phase, c.Changes)
		}
		assert.Check(t, c.Result != "skipped" || c.Cause == "not started: sick did not succeed", "%s was skipped for %q", c.Cluster, c.Cause)
	}
	if got, want := p.networks(t), []string{"canary-a", "canary-b", sick, "well-a", "well-b"}; !slices.Equal(got, want) {
		t.Errorf("the clouds have the networks of %v, want those of %v", got, want)
	}
}

// gateStaysShut: the failed cluster comes up, and Git has nothing for it.
func gateStaysShut(t *testing.T, p project, waves map[string]int) {
	t.Helper()
	o := p.run(t, "up", "--resume", "--yes", "--gate-timeout", "15s", "--output", "json")
	assert.Assert(t, o.code == 6, "exit code %d, want 6 of a gate\n%s", o.code, o.stderr)
	got := gates(t, o.stdout)
	assert.Check(t, len(got) == 1 && got[0].Wave == 1 && got[0].Status == "failed" && strings.Contains(got[0].Cause, sick),
		"the gates were %+v, want one that stays shut for %s", got, sick)
	wantResults(t, lastSummary(t, o.stdout), func(name string, wave int) string {
		switch {
		case name == sick:
			return "done"
		case wave == 2:
			return "skipped"
		}
		return "done before"
	}, waves)
}

// gateOpens: Git gets what the gate has waited for.
func gateOpens(t *testing.T, p project, waves map[string]int) {
	t.Helper()
	writeTree(t, p, sick)
	p.must(t, "lab", "up")
	p.branches(t)
	said := p.must(t, "up", "--resume", "--yes", "--gate-timeout", "5m", "--output", "json")
	if got, want := gates(t, said), []gateEnd{{Type: "gate-finished", Status: "done", Wave: 1}}; !slices.Equal(got, want) {
		t.Errorf("the gates were %+v, want %+v", got, want)
	}
	wantResults(t, lastSummary(t, said), func(_ string, wave int) string {
		if wave == 2 {
			return "done"
		}
		return "done before"
	}, waves)
}

// gates are the ends of the gates of a run.
func gates(t *testing.T, stdout string) []gateEnd {
	t.Helper()
	var found []gateEnd
	for line := range strings.Lines(stdout) {
		var d gateEnd
		if json.Unmarshal([]byte(line), &d) == nil && d.Type == "gate-finished" {
			found = append(found, d)
		}
	}
	return found
}

// writeTree gives a cluster something in Git.
func writeTree(t *testing.T, p project, name string) {
	t.Helper()
	dir := filepath.Join("platform", "flux", "clusters", name)
	p.write(t, filepath.Join(dir, "greeting.yaml"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: greeting, namespace: default}\ndata: {network: \"${network_id}\"}\n")
}

// writeFleet replaces the project's clusters by eight of three waves, in two clouds. All but one
// have something in Git.
func writeFleet(t *testing.T, p project) map[string]int {
	t.Helper()
	old, err := filepath.Glob(filepath.Join(p.dir, "clusters", "*.yaml"))
	assert.NilError(t, err)
	for _, file := range old {
		assert.NilError(t, os.Remove(file))
	}
	waves := map[string]int{
		"canary-a": 0, "canary-b": 0, sick: 1, "well-a": 1, "well-b": 1, "last-a": 2, "last-b": 2, "last-c": 2,
	}
	for name, wave := range waves {
		token, addons := "TOMBOLO_GIT_TOKEN", ""
		if name == sick {
			token, addons = fleetToken, "addons: {karpenter: {}}\n"
		} else {
			writeTree(t, p, name)
		}
		cloud := "aws"
		if slices.Contains(inAzure, name) {
			cloud = "azure"
		}
		p.write(t, "clusters/"+name+".yaml", strings.NewReplacer(
			"NAME", name, "WAVE", fmt.Sprint(wave), "BLOCK", fmt.Sprint(60+len(name)), "TOKEN", token,
			"BRANCH", environments[wave],
		).Replace(testdata(t, "fleet/"+cloud+".yaml"))+addons)
	}
	return waves
}

func lastSummary(t *testing.T, stdout string) summary {
	t.Helper()
	var s summary
	for line := range strings.Lines(stdout) {
		var d summary
		if json.Unmarshal([]byte(line), &d) == nil && d.Type == "summary" {
			s = d
		}
	}
	assert.Assert(t, len(s.Clusters) > 0, "no summary in\n%s", stdout)
	return s
}

func wantResults(t *testing.T, s summary, want func(name string, wave int) string, waves map[string]int) {
	t.Helper()
	got := s.results()
	assert.Check(t, len(got) == len(waves), "the summary has %d clusters, want %d", len(got), len(waves))
	for name, wave := range waves {
		w := want(name, wave)
		assert.Check(t, got[name] == w, "%s of wave %d is %q, want %q", name, wave, got[name], w)
	}
}

// networks are the clusters that have a network in either cloud.
func (p project) networks(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, i := range p.inventory(t) {
		if networkOf.MatchString(i.Type) {
			names = append(names, strings.TrimSuffix(i.Name, "-vpc"))
		}
	}
	slices.Sort(names)
	return names
}

// TestLightProfile makes and destroys two clusters that consist of their API
// servers alone. Each has one access entry for who has made it.
func TestLightProfile(t *testing.T) {
	tier.Long(t, "two clusters of API servers alone; most tests of the short tier run on this profile")
	p := newProject(t)
	another(t, p, "demo", "second", "10.21.0.0/16")
	p.edit(t, "clusters/second.yaml", "arn:aws:iam::111122223333:role/platform-team", labCaller)
	p.edit(t, "clusters/second.yaml", "\n  admins:\n", "\n  support: extended\n  zonalShift: true\n  admins:\n")
	p.must(t, "lab", "up", "--profile", "light")
	for _, name := range []string{"demo", "second"} {
		p.up(t, name)
	}
	var names []string
	for _, process := range processes(t, p) {
		names = append(names, process.Name)
		t.Logf("%s has %d MiB", process.Name, resident(t, process.PID))
	}
	if got, want := strings.Join(names, " "), "demo-kube-apiserver etcd second-kube-apiserver"; got != want {
		t.Errorf("runs %s, want %s", got, want)
	}
	p.run(t, "lab", "up", "--profile", "full").ends(t, 4, "the lab's is light")
	p.up(t, "demo").unchanged(t)
	t.Run("who makes a cluster has one access entry", p.creatorsEntries)
	t.Run("deletion order of the operator's objects", p.deletionOrder)
	for _, name := range []string{"demo", "second"} {
		p.must(t, "destroy", name, "--yes")
	}
	p.nothingExists(t)
}

// another writes the cluster file of a cluster like one that there is, in a
// network of its own.
func another(t *testing.T, p project, like, name, block string) {
	t.Helper()
	text := p.read(t, "clusters/"+like+".yaml")
	for old, changed := range map[string]string{"\nname: " + like + "\n": "\nname: " + name + "\n", "10.20.0.0/16": block} {
		assert.Assert(t, strings.Contains(text, old), "%s.yaml has no %q", like, old)
		text = strings.ReplaceAll(text, old, changed)
	}
	p.write(t, "clusters/"+name+".yaml", text)
}

// running is a process of the lab.
type running struct {
	Name string
	PID  int
}

func processes(t *testing.T, p project) []running {
	t.Helper()
	var status struct{ Processes []running }
	decode(t, p.must(t, "lab", "status", "--output", "json"), &status)
	return status.Processes
}
