//go:build lab

package lab

import (
	"strings"
	"testing"

	"tombolo/tests/tier"

	"gotest.tools/v3/assert"
)

// TestLightProfile makes and destroys two clusters that consist of their API
// servers alone.
func TestLightProfile(t *testing.T) {
	tier.Long(t, "two clusters of API servers alone; most tests of the short tier run on this profile")
	p := newProject(t)
	another(t, p, "demo", "second", "10.21.0.0/16")
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
	o := p.run(t, "lab", "up", "--profile", "full")
	assert.Check(t, o.code == 4 && strings.Contains(o.stderr, "the lab's is light"), "another profile: exit code %d\n%s", o.code, o.stderr)
	p.up(t, "demo").unchanged(t)
	t.Run("deletion order of the operator's objects", func(t *testing.T) { p.deletionOrder(t) })
	for _, name := range []string{"demo", "second"} {
		p.must(t, "destroy", name, "--yes")
	}
	p.nothingExists(t)
}

// TestLightEngineProfile runs the engine too: verify is green.
func TestLightEngineProfile(t *testing.T) {
	tier.Long(t, "the profile light-engine, on which TestClouds runs in the short tier")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light-engine")
	p.up(t, "demo")
	p.must(t, "verify", "demo")
	for _, process := range processes(t, p) {
		t.Logf("%s has %d MiB", process.Name, resident(t, process.PID))
	}
	p.must(t, "destroy", "demo", "--yes")
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
