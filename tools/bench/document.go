package main

import (
	"bytes"
	"fmt"
	"strconv"
)

// markdown is the document.
func (m measured) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Performance\n\n"+
		"Written by `make bench`; do not edit. Ratios carry over to other machines, seconds do not.\n\n"+
		"Measured on %s: %s, %d cores, %.0f GiB, %s, %s. The load average was %.1f when the last part ended.\n",
		m.Machine.Date, m.Machine.CPU, m.Machine.Cores, m.Machine.MemoryGB, m.Machine.System, m.Machine.Go, m.Machine.Load)
	if m.Fleets != nil {
		m.Fleets.write(&b, m.Machine.Cores)
	}
	if m.Driver != nil {
		m.Driver.write(&b)
	}
	if m.Scheduler != nil {
		m.Scheduler.write(&b)
	}
	if m.Systems != nil {
		m.Systems.write(&b)
	}
	b.WriteString(method)
	return b.Bytes()
}

func (f *fleets) write(b *bytes.Buffer, cores int) {
	fmt.Fprintf(b, "\n## A fleet in the lab\n\n"+
		"`tombolo up --all --lab --yes` makes clusters in the lab's %s profile, where AWS takes %g of its typical time, %d at a time.\n"+
		"The bound is the time of a fleet of one, or all CPU work over the cores, whichever is larger; the aim is at most 1.15 times that.\n\n"+
		"![Makespan by number of clusters](performance.svg)\n\n"+
		"| clusters | makespan | bound | ratio | CPU of a cluster | lab's CPU of a cluster | peak memory | nothing to do | CPU of it |\n"+
		"|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n", f.Profile, f.Latency, f.Parallel)
	for _, c := range f.Fleets {
		n := float64(c.Clusters)
		bound := c.bound(cores)
		fmt.Fprintf(b, "| %d | %s | %s | **%.2f** | %s | %s | %.0f MB | %s | %s |\n", c.Clusters,
			inSeconds(c.Up.Wall), inSeconds(bound), c.Up.Wall/bound, inSeconds(c.Up.CPU/n), inSeconds(c.Lab/n),
			max(c.Up.PeakMB, c.Noop.PeakMB), inSeconds(c.Noop.Wall), inSeconds(c.Noop.CPU/n))
	}
}

func (d *driver) write(b *bytes.Buffer) {
	noop := d.ratio(func(r round) (float64, float64) { return r.Noop.Wall, r.PlainNoop.Wall })
	create := d.ratio(func(r round) (float64, float64) { return r.Create.Wall, r.PlainCreate.Wall })
	fmt.Fprintf(b, "\n## The driver against the plain CLI\n\n"+
		"`tombolo up` against `pulumi up --skip-preview` of core and then of bootstrap, on clusters alike in one lab, %d rounds. "+
		"The ratio is the median of the rounds'; the aims are at most 0.95 for creating and 0.8 for nothing to do.\n\n"+
		"| | ratio | driver | plain CLI | driver's CPU | plain CLI's CPU |\n|---|---:|---:|---:|---:|---:|\n", len(d.Rounds))
	var c, pc, n, pn usage
	for _, r := range d.Rounds {
		c, pc, n, pn = c.plus(r.Create), pc.plus(r.PlainCreate), n.plus(r.Noop), pn.plus(r.PlainNoop)
	}
	times := float64(len(d.Rounds))
	row := func(name string, ratio float64, ours, plain usage) {
		fmt.Fprintf(b, "| %s | **%.2f** | %s | %s | %s | %s |\n", name, ratio,
			inSeconds(ours.Wall/times), inSeconds(plain.Wall/times), inSeconds(ours.CPU/times), inSeconds(plain.CPU/times))
	}
	row("creating", create, c, pc)
	row("nothing to do", noop, n, pn)
}

func (u usage) plus(o usage) usage { return usage{Wall: u.Wall + o.Wall, CPU: u.CPU + o.CPU} }

func (s *scheduler) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## The scheduler alone\n\n"+
		"%d clusters in %d waves, a hub for every %d spokes, with the %d durations that were recorded above, give or take a tenth, in simulated time. "+
		"Of a hundred ups one fails, and the run is resumed until every cluster is up. The bound of a wave is its longest chain of hub and spoke, "+
		"or its work over the workers, whichever is larger; that of an attempt is the sum of its waves'. "+
		"It does not know that spokes wait for their hub, so many workers miss it by more.\n\n"+
		"| at a time | attempts | failures | makespan / bound | scheduler's time of a cluster | memory of a cluster |\n|---:|---:|---:|---:|---:|---:|\n",
		s.Clusters, s.Waves, spokesOfAHub, s.Samples)
	for _, r := range s.Runs {
		fmt.Fprintf(b, "| %d | %d | %d | **%.2f** | %.1f µs | %.0f bytes |\n",
			r.Parallel, r.Attempts, r.Failures, r.Makespan/r.Bound, r.Micros, r.Bytes)
	}
}

func (s *systems) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## The check of many systems\n\n"+
		"`tombolo check` builds the tree of the cluster `teams` with so many systems of teams, and checks them: the median of %d rounds, without the start of the program. "+
		"The aim is at most 2 s for 200.\n\n"+
		"| systems | time | time of a system | memory that is allocated |\n|---:|---:|---:|---:|\n", systemRounds)
	for _, c := range s.Counts {
		fmt.Fprintf(b, "| %d | %.2f s | %.1f ms | %.0f MB |\n", c.Systems, c.Seconds, c.Seconds/float64(c.Systems)*1000, c.MB)
	}
}

const method = `
## Method

Each fleet has a project and a lab of its own. CPU time is that of the command
with all that it started: the driver, the Pulumi engines, their providers. The
lab's, which stands in for the cloud, is apart. Memory is the largest sum of
the processes' proportional set sizes (PSS), looked at four times a second.
Every cluster has a VPC, an EKS cluster with a node group, the identities of
two addons, and Flux.

The plain CLI runs the same programs, built as ` + "`bin/program`" + `, on the same
backend. Both begin without stacks: ` + "`pulumi stack init`" + ` is in the plain CLI's
time. Driver and CLI take turns, and who begins changes from round to round.
Nothing to do is measured after a second up, which hands the engine's objects
over to it and so changes the state.

` + "`make bench BENCH=scheduler`" + ` measures one part; the others keep what was
measured before. Parts: clusters, driver, scheduler,
systems.
`

func inSeconds(s float64) string { return strconv.FormatFloat(s, 'f', 1, 64) + " s" }
