package finding

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestCollector(t *testing.T) {
	at := func(line int, s Severity, message string) OfCluster {
		return OfCluster{Finding: Finding{Severity: s, File: "tree/a.yaml", Line: line, Column: 1, Message: message, Remedy: "do it"}}
	}
	idle := at(0, Warning, "idle")
	idle.Unused = "zone"
	general := func(file string) OfCluster {
		f := at(2, Warning, "is on")
		f.File, f.General = file, true
		return f
	}
	var c Collector
	c.Add("two", []OfCluster{at(7, Note, "is left"), at(3, Error, "is bad"), idle, general("two.yaml")}, nil)
	c.Add("one", []OfCluster{at(3, Error, "is bad"), at(3, Error, "is bad"), general("one.yaml")}, map[string]bool{"zone": true})
	want := []string{
		"tree/a.yaml:3:1: error: is bad (clusters one, two); do it",
		"two.yaml:2:1: warning: is on (clusters one, two); do it",
		"tree/a.yaml:7:1: note: is left (cluster two); do it",
	}
	got := c.All()
	assert.Assert(t, len(got) == len(want) && got.Count(Error) == 1 && got.Count(Note) == 1, "found %v", got)
	for i, f := range got {
		assert.Check(t, f.String() == want[i], "%s, want %s", f, want[i])
	}
}

func TestText(t *testing.T) {
	f := Finding{Severity: Error, File: "a.yaml", Clusters: []string{"one"}, Message: "is bad", Places: 3}
	assert.Check(t, is.Equal(f.String(), "a.yaml: error: is bad (3 places; cluster one)"))
	f.Clusters = []string{"a", "b", "c", "d", "e", "f"}
	assert.Check(t, is.Equal(f.Text(), "is bad (3 places; 6 clusters)"))
}

// TestOneLine: whatever a file's name and its text are, a finding is one line that no CI
// system takes for a command.
func TestOneLine(t *testing.T) {
	f := Finding{Severity: Error, File: "::error::a\n##vso[task.complete result=Succeeded]", Line: 1, Column: 2, Clusters: []string{"one"}, Message: "\u202e\x1b[2J\r::warning::b", Remedy: "c\u009b\n##[group]"}
	assert.Equal(t, f.String(), `\::error::a\n##vso\[task.complete result=Succeeded]:1:2: error: \u202e\x1b[2J\r::warning::b (cluster one); c\u009b\n##\[group]`)
}
