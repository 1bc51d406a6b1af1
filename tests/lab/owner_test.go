//go:build lab

package lab

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestAnotherOwner has a second backend know of no cluster, while the first one has a
// cluster of the name: half-made, whole, and when a run on the second backend was killed
// between a creation and its record. Whatever the second one does, the first one's
// resources stay.
func TestAnotherOwner(t *testing.T) {
	tier.Long(t, "a second backend with a cluster of the same name takes nothing from the first")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	s := second{project: p, backend: "file://" + t.TempDir()}
	inOrder(t, s, []step[second]{
		{"the names are free, and tags are another owner's", second.halfMade},
		{"a cluster lives", second.whole},
		{"plain pulumi refuses, too", second.plainRefuses},
		{"killed between a creation and its record", second.killed},
	})
	p.destroys(t, "demo")
}

// second is a backend beside the lab's own.
type second struct {
	project
	backend string
}

// harmless has the second backend make and destroy the cluster, and compares what there
// is with what was.
func (s second) harmless(t *testing.T) {
	t.Helper()
	before := s.records(t)
	first, second := s.ownerIn(t), ""
	o := s.run(t, "up", "demo", "--yes", "--backend", s.backend)
	line, _, _ := strings.Cut(o.stderr, "\n")
	assert.Check(t, strings.TrimSpace(line) == "state backend: "+s.backend, "the first line is %q", line)
	o.fails(t, "of another cluster demo: ", "owner "+first, "nothing was made", "--backend")
	s.same(t, "the refused up", before)
	if second = s.ownerIn(t, "--backend", s.backend); second == first || second == "" {
		t.Errorf("the two backends have the identities %q and %q", first, second)
	}
	out := s.must(t, "destroy", "demo", "--yes", "--leftovers", "delete", "--backend", s.backend)
	assert.Check(t, !strings.Contains(out, "deletes what is left over"), "destroy on another backend deletes:\n%s", out)
	s.same(t, "the destruction", before)
	assert.Check(t, is.Equal(s.ownerIn(t, "--backend", s.backend), ""))
}

func (s second) same(t *testing.T, what string, before map[string]string) {
	t.Helper()
	after := s.records(t)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		assert.Check(t, after[name] == before[name], "%s changed %s", what, name)
	}
	assert.Check(t, len(after) == len(before), "after %s there are %d resources, and were %d", what, len(after), len(before))
}

// ownerIn is the identity in the state of core; "" when there is none. Flags choose the
// backend.
func (s second) ownerIn(t *testing.T, flags ...string) string {
	t.Helper()
	for _, r := range s.state(t, flags...).Resources {
		if r.Type == "pulumi:index:Stash" {
			id, _ := r.Outputs["output"].(map[string]any)["id"].(string)
			return id
		}
	}
	return ""
}

// coreState is what the tests read of a state.
type coreState struct {
	Resources []struct {
		URN, Type, ID, Provider string
		Outputs                 map[string]any
	}
}

func (s second) state(t *testing.T, flags ...string) coreState {
	t.Helper()
	text, err := os.ReadFile(s.stateFile(t, flags...))
	assert.NilError(t, err)
	var file struct {
		Checkpoint struct{ Latest coreState }
	}
	decode(t, string(text), &file)
	return file.Checkpoint.Latest
}

// stateFile is the file of core's state: in the lab's backend, or in the flag's.
func (s second) stateFile(t *testing.T, flags ...string) string {
	t.Helper()
	at := s.labEnv(t)["PULUMI_BACKEND_URL"]
	if len(flags) > 0 {
		at = flags[len(flags)-1]
	}
	return filepath.Join(strings.TrimPrefix(at, "file://"), ".pulumi", "stacks", "tombolo", "demo-core.json")
}

// halfMade: the first backend's up was killed before it made the control plane.
func (s second) halfMade(t *testing.T) {
	cmd, out := s.start(t, "up", "demo", "--yes")
	eventually(t, func() (bool, string) {
		return len(s.made(t, "aws:ec2/natGateway:NatGateway")) > 0, "there is no NAT gateway\n" + out.String()
	})
	killAll(t, cmd, s.project)
	s.harmless(t)
}

// whole: the first backend finishes, and its cluster works before and after.
func (s second) whole(t *testing.T) {
	s.up(t, "demo")
	s.harmless(t)
	s.up(t, "demo").unchanged(t)
}

// plainRefuses runs the program without the driver.
func (s second) plainRefuses(t *testing.T) {
	before := s.records(t)
	plain := newPlain(t, s.project)
	at := "PULUMI_BACKEND_URL='file://" + t.TempDir() + "' pulumi "
	o := plain.tool(t, "/bin/sh", "-euc", at+"stack init demo-core && "+at+"up --stack demo-core --yes --skip-preview --non-interactive")
	o.refuses(t, "of another cluster demo: ")
	s.same(t, "plain pulumi", before)
}

// killed puts operations into the second backend's state that began and were never
// recorded: creations of what the first one's cluster has. One is found by its tags, the
// others by their names.
func (s second) killed(t *testing.T) {
	before := s.records(t)
	for _, args := range [][]string{{"destroy", "demo", "--yes", "--leftovers", "delete"}, {"up", "demo", "--yes"}} {
		s.run(t, "up", "demo", "--yes", "--backend", s.backend) // refused, and the state has an identity
		s.plant(t, "aws:ec2/vpc:Vpc", "aws:iam/role:Role", "aws:eks/cluster:Cluster")
		o := s.run(t, append(args, "--backend", s.backend)...)
		if up := args[0] == "up"; up != (o.code != 0) || strings.Contains(o.stderr, " adopted aws:") || !strings.Contains(o.stderr, "not adopted, as another owner has them: aws:eks/cluster:Cluster") {
			t.Errorf("%s: exit code %d\n%s", args[0], o.code, o.stderr)
		}
		s.same(t, args[0], before)
		for _, r := range s.state(t, "--backend", s.backend).Resources {
			if strings.HasPrefix(r.Type, "aws:") {
				t.Errorf("after %s the state of the second backend has %s %s", args[0], r.Type, r.ID)
			}
		}
	}
	s.must(t, "destroy", "demo", "--yes", "--backend", s.backend)
}

// plant makes pending creations, in the second backend's state, of what the first one's
// has of some types.
func (s second) plant(t *testing.T, types ...string) {
	t.Helper()
	theirs, _ := s.checkpoint(t, s.stateFile(t))
	file := s.stateFile(t, s.backend)
	latest, whole := s.checkpoint(t, file)
	ours, _ := latest["resources"].([]any)
	provider := ""
	for _, r := range ours {
		if m := r.(map[string]any); m["type"] == "pulumi:providers:aws" {
			provider = m["urn"].(string) + "::" + m["id"].(string)
		}
	}
	var pending []any
	for _, r := range theirs["resources"].([]any) {
		m := r.(map[string]any)
		token := m["type"].(string)
		switch {
		case m["custom"] != true && token != "pulumi:pulumi:Stack": // a component that others are below
			delete(m, "dependencies")
			delete(m, "propertyDependencies")
			ours = append(ours, m)
		case slices.Contains(types, token):
			for _, key := range []string{"id", "outputs", "protect", "dependencies", "propertyDependencies"} {
				delete(m, key)
			}
			m["provider"] = provider
			pending = append(pending, map[string]any{"type": "creating", "resource": m})
		}
	}
	assert.Assert(t, provider != "" && len(pending) >= len(types), "the provider is %q, and %d creations can be planted", provider, len(pending))
	latest["resources"], latest["pending_operations"] = ours, pending
	text, err := json.Marshal(whole)
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(file, text, 0o600))
}

// checkpoint is a state's file, and the part of it with the resources.
func (s second) checkpoint(t *testing.T, file string) (latest, whole map[string]any) {
	t.Helper()
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
	decode(t, string(text), &whole)
	return whole["checkpoint"].(map[string]any)["latest"].(map[string]any), whole
}
