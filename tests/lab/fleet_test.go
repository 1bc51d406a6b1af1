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

	"gotest.tools/v3/assert"
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

// TestFleet brings up eight clusters of three waves. One of them fails: its
// neighbours finish, the next wave waits, the summary tells, and --resume
// completes it. Between the waves are gates: one stays shut until Git
// has what its cluster is for.
func TestFleet(t *testing.T) {
	p := newProject(t)
	waves := writeFleet(t, p)
	p.must(t, "lab", "up", "--profile", "light-engine")

	t.Run("none starts when one lacks something", func(t *testing.T) {
		o := p.run(t, "up", "--all", "--yes")
		if o.code != 4 || !strings.Contains(o.stderr, fleetToken) || !strings.Contains(o.stderr, "an up would fail: sick; nothing was started") {
			t.Errorf("exit code %d\n%s", o.code, o.stderr)
		}
		p.nothingExists(t)
	})
	env := p.labEnv(t)
	p.env = append(p.env, fleetToken+"="+env["TOMBOLO_GIT_TOKEN"])
	p.must(t, "lab", "fault", "add", "quota", "create", "aws:sqs/queue:Queue")
	fleetFails(t, p, waves)
	t.Run("a changed file is refused", func(t *testing.T) {
		const file = "clusters/last-b.yaml"
		before := p.read(t, file)
		p.write(t, file, before+"# another\n")
		if o := p.run(t, "up", "--resume", "--yes"); o.code != 4 || !strings.Contains(o.stderr, "since then "+file+" changed") {
			t.Errorf("exit code %d\n%s", o.code, o.stderr)
		}
		p.write(t, file, before)
	})
	t.Run("another backend is refused", func(t *testing.T) {
		o := p.run(t, "up", "--resume", "--yes", "--backend", "file://"+t.TempDir())
		if o.code != 4 || !strings.Contains(o.stderr, "cannot be resumed: its state is in file://") {
			t.Errorf("exit code %d\n%s", o.code, o.stderr)
		}
	})
	gateStaysShut(t, p, waves)
	gateOpens(t, p, waves)

	p.must(t, "destroy", "--all", "--yes")
	p.nothingExists(t)
}

// fleetFails: the canaries' gate opens, a cluster of the next wave fails.
func fleetFails(t *testing.T, p project, waves map[string]int) {
	t.Helper()
	o := p.run(t, "up", "--all", "--yes", "--gate-timeout", "5m", "--output", "json")
	if o.code != 5 || !strings.Contains(o.stderr, "`tombolo up --resume` continues with the rest") {
		t.Fatalf("exit code %d, want the class of the first cause, 5\n%s", o.code, o.stderr)
	}
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
		if c.Result == "skipped" && c.Cause != "not started: sick did not succeed" {
			t.Errorf("%s was skipped for %q", c.Cluster, c.Cause)
		}
	}
	if names := p.vpcs(t); !slices.Contains(names, sick+"-vpc") || slices.Contains(names, "last-a-vpc") || len(names) != 5 {
		t.Errorf("the stand-in has the networks of %v", names)
	}
}

// gateStaysShut: the failed cluster comes up, and Git has nothing for it.
func gateStaysShut(t *testing.T, p project, waves map[string]int) {
	t.Helper()
	o := p.run(t, "up", "--resume", "--yes", "--gate-timeout", "15s", "--output", "json")
	if o.code != 6 {
		t.Fatalf("exit code %d, want 6 of a gate\n%s", o.code, o.stderr)
	}
	got := gates(t, o.stdout)
	if len(got) != 1 || got[0].Wave != 1 || got[0].Status != "failed" || !strings.Contains(got[0].Cause, sick) {
		t.Errorf("the gates were %+v, want one that stays shut for %s", got, sick)
	}
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
	o := p.run(t, "up", "--resume", "--yes", "--gate-timeout", "5m", "--output", "json")
	if o.code != 0 {
		t.Fatalf("exit code %d\n%s", o.code, o.stderr)
	}
	if got, want := gates(t, o.stdout), []gateEnd{{Type: "gate-finished", Status: "done", Wave: 1}}; !slices.Equal(got, want) {
		t.Errorf("the gates were %+v, want %+v", got, want)
	}
	wantResults(t, lastSummary(t, o.stdout), func(_ string, wave int) string {
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
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: greeting, namespace: default}\ndata: {vpc: \"${vpc_id}\"}\n")
}

// writeFleet replaces the project's clusters by eight of three waves. All but one
// have something in Git.
func writeFleet(t *testing.T, p project) map[string]int {
	t.Helper()
	old, err := filepath.Glob(filepath.Join(p.dir, "clusters", "*.yaml"))
	assert.NilError(t, err)
	for _, file := range old {
		assert.NilError(t, os.Remove(file))
	}
	template, err := os.ReadFile(filepath.Join("testdata", "fleet.yaml"))
	assert.NilError(t, err)
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
		region := "eu-central-1" // AWS allows five networks in a region
		if strings.HasSuffix(name, "-b") || name == sick {
			region = "eu-west-1"
		}
		p.write(t, "clusters/"+name+".yaml", strings.NewReplacer(
			"NAME", name, "WAVE", fmt.Sprint(wave), "BLOCK", fmt.Sprint(60+len(name)), "TOKEN", token, "REGION", region,
		).Replace(string(template))+addons)
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
	if len(s.Clusters) == 0 {
		t.Fatalf("no summary in\n%s", stdout)
	}
	return s
}

func wantResults(t *testing.T, s summary, want func(name string, wave int) string, waves map[string]int) {
	t.Helper()
	got := s.results()
	if len(got) != len(waves) {
		t.Errorf("the summary has %d clusters, want %d", len(got), len(waves))
	}
	for name, wave := range waves {
		if w := want(name, wave); got[name] != w {
			t.Errorf("%s of wave %d is %q, want %q", name, wave, got[name], w)
		}
	}
}

// vpcs are the clusters that have a network in the stand-in.
func (p project) vpcs(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, i := range p.made(t, "aws:ec2/vpc:Vpc") {
		names = append(names, i.Name)
	}
	return names
}
