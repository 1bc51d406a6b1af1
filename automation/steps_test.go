package automation

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation/approved"
	"tombolo/automation/step"
	"tombolo/stacks"
)

func namesOf(steps []step.Step) []string {
	out := make([]string, len(steps))
	for i, s := range steps {
		out[i] = s.Name
	}
	return out
}

// TestStepsOfAnUp: their order matters, and its modes differ by steps alone.
func TestStepsOfAnUp(t *testing.T) {
	b := newBench(t)
	checks := []string{"check what the programs need", "mend the states", "read what is deployed", "check the way to the Kubernetes API", "check the hub"}
	begin := []string{"forget the last up", "wait for addons that are turned off", "say what the changes do"}
	end := []string{"record the up", "end the rebuild"}
	for _, test := range []struct {
		o    UpOptions
		want []string
	}{
		{UpOptions{}, slices.Concat(checks, begin, []string{"preview both stacks", "core", "bootstrap"}, end)},
		{UpOptions{Previewed: true}, slices.Concat(checks, begin, []string{"core", "bootstrap"}, end)},
		{UpOptions{Approved: &approved.Cluster{}}, slices.Concat(checks, []string{"compare core with the plan"}, begin,
			[]string{"core", "compare bootstrap with the plan", "bootstrap"}, end)},
	} {
		u := &up{run: b.newRun(demo()), options: test.o, core: &stackUp{}, bootstrap: &stackUp{}}
		assert.DeepEqual(t, namesOf(u.steps()), test.want)
	}
}

// TestStepsOfADestruction: the stack that is asked for alone, or both in reverse.
func TestStepsOfADestruction(t *testing.T) {
	d := newBench(t).destroyer()
	for only, want := range map[stacks.Kind][]string{"": {"drain", "bootstrap", "core"}, "bootstrap": {"drain", "bootstrap"}, "core": {"core"}} {
		assert.DeepEqual(t, namesOf(d.Steps(demo(), DestroyOptions{Only: only}, nil)), want)
	}
}
