package main

import (
	"bytes"
	"fmt"
	"strconv"
)

// markdown is the document.
func (m measured) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "# Performance\n\n"+
		"Written by `make bench`; do not edit. Ratios carry over to other machines, seconds do not.\n\n")
	m.writeMachines(&b)
	if m.Before != nil {
		m.writeBefore(&b)
	}
	if m.Fleets != nil {
		m.Fleets.write(&b, m.Machines[partClusters].Cores)
	}
	if m.Driver != nil {
		m.Driver.write(&b)
	}
	if m.Unchanged != nil {
		m.Unchanged.write(&b)
	}
	if m.Chain != nil {
		m.Chain.write(&b, m.Machines[partChain].Load)
	}
	if m.Scheduler != nil {
		m.Scheduler.write(&b)
	}
	if m.Systems != nil {
		m.Systems.write(&b)
	}
	if m.Delivery != nil {
		m.Delivery.write(&b)
	}
	if m.Rebuild != nil {
		m.Rebuild.write(&b)
	}
	if m.Start != nil {
		m.Start.write(&b)
	}
	b.WriteString(profiles)
	b.WriteString(method)
	return b.Bytes()
}

// writeMachines says what each part was measured on: they are measured apart.
func (m measured) writeMachines(b *bytes.Buffer) {
	b.WriteString("| part | measured on | machine | with | load average at its end |\n|---|---|---|---|---:|\n")
	for _, part := range parts() {
		if on, ok := m.Machines[part]; ok {
			fmt.Fprintf(b, "| %s | %s | %s, %d cores, %.0f GiB | %s, %s | %.1f |\n",
				part, on.Date, on.CPU, on.Cores, on.MemoryGB, on.System, on.Go, on.Load)
		}
	}
}

func (f *fleets) write(b *bytes.Buffer, cores int) {
	fmt.Fprintf(b, "\n## A fleet in the lab\n\n"+
		"`tombolo up --all --lab --yes` makes clusters in the lab's %s profile, where AWS takes %g of its typical time, %d at a time.\n"+
		"The bound is the time of a fleet of one, or all CPU work over the cores, whichever is larger; the aim is at most 1.15 times that.\n\n"+
		"![Makespan by number of clusters](performance.svg)\n\n"+
		"| clusters | makespan | bound | ratio | CPU of a cluster | lab's CPU of a cluster | peak memory | nothing to do | CPU of it | unchanged | CPU of all |\n"+
		"|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n", f.Profile, f.Latency, f.Parallel)
	for _, c := range f.Fleets {
		n := float64(c.Clusters)
		bound := c.bound(cores)
		fmt.Fprintf(b, "| %d | %s | %s | **%.2f** | %s | %s | %.0f MB | %s | %s | %s | %s |\n", c.Clusters,
			inSeconds(c.Up.Wall), inSeconds(bound), c.Up.Wall/bound, inSeconds(c.Up.CPU/n), inSeconds(c.Lab/n),
			max(c.Up.PeakMB, c.Noop.PeakMB), inSeconds(c.Noop.Wall), inSeconds(c.Noop.CPU/n), orDash(c.Unchanged.Wall), orDash(c.Unchanged.CPU))
	}
}

func (d *driver) write(b *bytes.Buffer) {
	noop := d.ratio(func(r round) (float64, float64) { return r.Noop.Wall, r.PlainNoop.Wall })
	create := d.ratio(func(r round) (float64, float64) { return r.Create.Wall, r.PlainCreate.Wall })
	fmt.Fprintf(b, "\n## The driver against the plain CLI\n\n"+
		"`tombolo up` against `pulumi up --skip-preview` of core and then of bootstrap, on clusters alike in one lab, %d rounds. "+
		"The ratio is the median of the rounds'; the aims are at most 0.97 for creating, 0.5 for what changes little, and 0.1 for a cluster that is unchanged since its last up, "+
		"for which the driver starts no engine. A small change is one label of the cluster: of that core does not learn, and the driver starts the engine for bootstrap alone.\n\n"+
		"| | ratio | driver | plain CLI | driver's CPU | plain CLI's CPU |\n|---|---:|---:|---:|---:|---:|\n", len(d.Rounds))
	same := d.ratio(func(r round) (float64, float64) { return r.Unchanged.Wall, r.PlainNoop.Wall })
	var c, pc, n, pn, u, s, ps usage
	for _, r := range d.Rounds {
		c, pc, n, pn, u = c.plus(r.Create), pc.plus(r.PlainCreate), n.plus(r.Noop), pn.plus(r.PlainNoop), u.plus(r.Unchanged)
		s, ps = s.plus(r.Small), ps.plus(r.PlainSmall)
	}
	times := float64(len(d.Rounds))
	row := func(name string, ratio float64, ours, plain usage) {
		fmt.Fprintf(b, "| %s | **%.2f** | %s | %s | %s | %s |\n", name, ratio,
			inSeconds(ours.Wall/times), inSeconds(plain.Wall/times), inSeconds(ours.CPU/times), inSeconds(plain.CPU/times))
	}
	row("creating", create, c, pc)
	row("nothing to do, by the engine", noop, n, pn)
	if s.Wall > 0 { // of what was measured before there was such a change
		row("a small change", d.ratio(small), s, ps)
	}
	if u.Wall > 0 { // of what was measured before there was such an up
		row("unchanged", same, u, pn)
	}
}

func (u *unchanged) write(b *bytes.Buffer) {
	b.WriteString("\n## Many unchanged clusters\n\n" +
		"`tombolo up <clusters> --lab --yes` of clusters of which nothing has changed since their last up. One is real; the others have copies of its states under their names, " +
		"with records as the program makes them. The aim is at most 5 s and 10 s of CPU for a hundred.\n\n" +
		"| clusters | time | CPU | peak memory |\n|---:|---:|---:|---:|\n")
	for _, c := range u.Counts {
		fmt.Fprintf(b, "| %d | **%s** | %s | %.0f MB |\n", c.Clusters, inSeconds(c.Up.Wall), inSeconds(c.Up.CPU), c.Up.PeakMB)
	}
}

// small is the time of a change of bootstrap alone, of both.
func small(r round) (ours, plain float64) { return r.Small.Wall, r.PlainSmall.Wall }

func (u usage) plus(o usage) usage { return usage{Wall: u.Wall + o.Wall, CPU: u.CPU + o.CPU} }

func (s *scheduler) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## The scheduler alone\n\n"+
		"%d clusters in %d waves, a hub for every %d spokes, with the %d durations that were recorded above, give or take a tenth, in simulated time. "+
		"Of a hundred ups one fails, and the run is resumed until every cluster is up. The bound of a wave is its longest chain of hub and spoke, "+
		"or the time of all work over the workers, whichever is larger; workers have no work while a hub is made that their spokes wait for. "+
		"That of an attempt is the sum of its waves'.\n\n"+
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

// deliveryRows are what the table of deliveries shows.
var deliveryRows = []struct {
	name string
	of   func(delivery) string
}{
	{"from the commit of all until all are ready", func(d delivery) string { return inSeconds(d.All.Wall) }},
	{"CPU of it", func(d delivery) string { return inSeconds(d.All.CPU) }},
	{"from the commit of one more until all are ready", func(d delivery) string { return inSeconds(d.One.Wall) }},
	{"CPU of it", func(d delivery) string { return inSeconds(d.One.CPU) }},
	{"CPU at rest", func(d delivery) string { return fmt.Sprintf("%.2f cores", d.Rest) }},
	{"API server", memoryOf("kube-apiserver")},
	{"etcd", memoryOf("etcd")},
	{"database of etcd, on disk", func(d delivery) string { return fmt.Sprintf("%.0f MB", d.Database) }},
	{"source-controller", memoryOf("source-controller")},
	{"kustomize-controller", memoryOf("kustomize-controller")},
	{"helm-controller", memoryOf("helm-controller")},
	{"notification-controller", memoryOf("notification-controller")},
}

func memoryOf(process string) func(delivery) string {
	return func(d delivery) string { return fmt.Sprintf("%.0f MB", d.MB[process]) }
}

func (s *deliveries) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## The delivery of many systems\n\n"+
		"The cluster `teams` in the lab's full profile, with Flux's controllers as upstream's manifest has them. Each system has a repository of its own with a Deployment of two pods and a Service. "+
		"Ready are the platform, every system's release and what its repository has. CPU is that of the whole lab, of %s at rest; memory is that of a process, when all are ready.\n\n|", restTime)
	line := "\n|---|"
	for _, d := range s.Counts {
		fmt.Fprintf(b, " | %d systems", d.Systems)
		line += "---:|"
	}
	b.WriteString(" |" + line + "\n")
	for _, row := range deliveryRows {
		fmt.Fprintf(b, "| %s", row.name)
		for _, d := range s.Counts {
			b.WriteString(" | " + row.of(d))
		}
		b.WriteString(" |\n")
	}
}

func (s *rebuilds) write(b *bytes.Buffer) {
	if len(s.Clusters) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## A rebuild\n\n"+
		"`tombolo rebuild <cluster> --version <newer> --yes` in the lab's full profile, where AWS takes %g of its typical time; all clusters at the same time. "+
		"The aim is at most 25 min each.\n\n| operation | part", s.Latency)
	line := "\n|---|---|"
	for _, r := range s.Clusters {
		fmt.Fprintf(b, " | `%s`, %s, %s to %s", r.Cluster, r.Engine, r.From, r.To)
		line += "---:|"
	}
	b.WriteString(" |" + line + "\n")
	for i, p := range s.Clusters[0].Phases { // every rebuild has the same
		fmt.Fprintf(b, "| %s | %s", p.Operation, p.Part)
		for _, r := range s.Clusters {
			b.WriteString(" | " + inMinutes(r.Phases[i].Seconds))
		}
		b.WriteString(" |\n")
	}
	b.WriteString("| all |")
	for _, r := range s.Clusters {
		fmt.Fprintf(b, " | **%s**", inMinutes(r.Seconds))
	}
	b.WriteString(" |\n")
}

func (s *start) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## The start of the program\n\n"+
		"`tombolo version`, the median of %d rounds; the aim is at most 60 ms. The program holds the SDKs of both clouds, and the stand-ins of the lab.\n\n"+
		"| time | CPU | memory | size of `bin/tombolo` |\n|---:|---:|---:|---:|\n| **%.0f ms** | %.0f ms | %.0f MB | %.0f MB |\n",
		startRounds, s.Seconds*1000, s.CPU*1000, s.ResidentMB, s.MB)
}

func inMinutes(s float64) string {
	whole := int(s + 0.5)
	if whole < 60 {
		return fmt.Sprintf("%d s", whole)
	}
	return fmt.Sprintf("%d min %d s", whole/60, whole%60)
}

// profiles say in words where the time goes, as profiles showed it that were made by hand.
const profiles = `
## Where the time goes

Read on 2026-11-27 from CPU profiles of the driver (runtime/pprof), of the CLI
(` + "`pulumi --profiling`" + `) and of the API server, and from the CPU time of every process, on
the Xeon above. The cluster is ` + "`clusters/demo.yaml`" + ` in the lab.

Nothing to do, by the engine: 4.6 s of CPU in 2.7 s.

- The EKS component's Node.js takes 1.1 s, most of it to load its 771 modules; it took 1.9 s while
  it read their source maps, too. It is the longest part of the way through core, and bootstrap is
  previewed at the same time. A cache of compiled modules changed nothing: it was tried.
- ` + "`pulumi preview`" + ` of bootstrap takes 0.95 s and that of core 0.55 s. Each derives a key from
  the passphrase by a million rounds of PBKDF2, 0.23 s. Bootstrap's derived a second one, for the
  outputs of core that it refers to, until both stacks had one salt. A start of the CLI takes
  0.15 s, most of it schemas and lexers that it does not use here.
- The driver takes 0.9 s. A quarter of a second of it was the digest of its own file, for which Go's
  build id stands now, and another one makes the key for digests of secrets, beside the first preview.
- The Kubernetes provider takes 0.75 s, in three processes: bootstrap's, and the EKS component's two.
- Tokens and versions take 0.1 s. They took 0.5 s while the lab's ` + "`aws`" + ` was the whole of tombolo.

The two previews keep both processors busy at once. So the driver cannot be faster than half of its
CPU time, 2.3 s here, which is more than half of the plain CLI's time: that aim is missed, and needs
more processors or less work in the CLI and the plugins.

After a small change the engine starts for bootstrap alone, once, without a preview before it: the
EKS component, its Node.js, core's CLI and the AWS provider are not needed.

Unchanged since the last up: 0.4 s of CPU, most of it the start of the program and the key for
digests of secrets. A hundred took 16.8 s of CPU, nine tenths of them to read states as JSON, twice.
Now a state's digest is of its text, and a state is read once, to show its outputs: 4.5 s.

Creating: the API server takes 10 s of CPU, more than a third of it to write OpenAPI documents. The
Kubernetes provider forgets its own with every definition that it makes, and reads it again for the
next resource: eight times while the eleven of Flux are made, which is four of bootstrap's eight
seconds. One object alone between the definitions and what waits for them changed nothing: it was
tried.
`

const method = `
## Method

Each fleet has a project and a lab of its own. CPU time is that of the command
with all that it started: the driver, the Pulumi engines, their providers. The
lab's, which stands in for the cloud, is apart. Memory is the largest sum of
the processes' proportional set sizes (PSS), looked at from 0.05 s on, and once a
second in the end.
Every cluster has a VPC, an EKS cluster with a node group, the identities of
two addons, and Flux.

The clusters that are rebuilt are made while AWS takes no time. Then the lab is stopped
and started with the typical times. They are those of users' reports: 9 minutes until EKS
has a control plane and 3 until it is gone, 2.5 and 3 for a node group.

The plain CLI runs the same programs, built as ` + "`bin/program`" + `, on the same
backend. Both begin without stacks: ` + "`pulumi stack init`" + ` is in the plain CLI's
time. Driver and CLI take turns, and who begins changes from round to round.
Nothing to do is measured after a second up, which hands the engine's objects
over to it and so changes the state.

` + "`make bench BENCH=scheduler`" + ` measures one part; the others keep what was
measured before. Parts: clusters, driver, unchanged, chain, scheduler, systems, delivery, rebuild, start.

` + "`make bench BEFORE=<directory>`" + ` also measures the programs of another checkout, such as
one of an earlier commit: fleets, driver and start. That checkout has ` + "`bin/tombolo`" + ` and
` + "`bin/program`" + `, which ` + "`make build`" + ` and ` + "`go build -o bin/ ./cmd/program`" + ` make, and ` + "`.tools`" + `.
`

func inSeconds(s float64) string { return strconv.FormatFloat(s, 'f', 1, 64) + " s" }

// orDash is a dash for what was not measured.
func orDash(seconds float64) string {
	if seconds == 0 {
		return "–"
	}
	return inSeconds(seconds)
}
