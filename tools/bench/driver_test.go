package bench

import (
	"os"
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/stacks"
)

// BenchmarkDriver is Tombolo's driver against the plain CLI with --skip-preview, core and then
// bootstrap, in turns on clusters alike in one lab. Both make a cluster, without stacks at first.
// Each runs once more: the second up hands the engine's objects over. Then nothing is to do, and
// then one label is another. A ratio is the driver's time over the plain CLI's.
func BenchmarkDriver(b *testing.B) {
	for _, first := range []string{"driver", "plain"} {
		b.Run("first="+first, func(b *testing.B) { benchmarkRound(b, first == "plain") })
	}
}

func benchmarkRound(b *testing.B, plainFirst bool) {
	c := newCheckout(b, share, "driven", "plain", "warm")
	// What the machine keeps in memory of both is there before the first.
	c.run("up", "warm", "--lab", "--yes")
	var create, noop, unchanged, small, plainCreate, plainNoop, plainSmall, between usage
	driven := func(into *usage, flags ...string) func() {
		return func() { *into = c.measured(append([]string{"up", "driven", "--lab", "--yes"}, flags...)...) }
	}
	plain := func(into *usage, args ...string) func() {
		return func() { *into = c.plain(args...) }
	}
	for _, turn := range [][]func(){
		{driven(&create), plain(&plainCreate, "stack", "init")},
		{driven(&between), plain(&between)},
		{driven(&noop, "--force"), plain(&plainNoop)},
		{driven(&unchanged)},
		{func() { c.label("driven") }, func() { c.label("plain") }},
		{driven(&small), plain(&plainSmall)},
	} {
		if plainFirst {
			slices.Reverse(turn)
		}
		for _, up := range turn {
			up()
		}
	}
	for _, one := range []struct {
		name        string
		ours, plain usage
	}{{"create", create, plainCreate}, {"noop", noop, plainNoop}, {"unchanged", unchanged, plainNoop}, {"small", small, plainSmall}} {
		one.ours.report(b, one.name)
		one.plain.report(b, "plain-"+one.name)
		b.ReportMetric(one.ours.Wall/one.plain.Wall, one.name+"-ratio")
	}
}

// label gives a cluster a label.
func (c *checkout) label(cluster string) {
	c.b.Helper()
	text, err := os.ReadFile(c.clusterFile(cluster))
	assert.NilError(c.b, err)
	assert.NilError(c.b, os.WriteFile(c.clusterFile(cluster), append(text, "labels: {bench: small}\n"...), 0o644))
}

// plain runs both programs one after the other, each after another command for
// its stack, if one is given.
func (c *checkout) plain(before ...string) (sum usage) {
	c.b.Helper()
	for _, k := range stacks.Kinds() {
		commands := [][]string{{"up", "--yes", "--skip-preview"}}
		if len(before) > 0 {
			commands = slices.Insert(commands, 0, before)
		}
		for _, args := range commands {
			u := c.measure(c.pulumi(append(args, "--stack", stacks.Name("plain", k), "--non-interactive")...))
			sum = usage{Wall: sum.Wall + u.Wall, CPU: sum.CPU + u.CPU, Peak: max(sum.Peak, u.Peak)}
		}
	}
	return sum
}
