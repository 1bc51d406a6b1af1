// Command bench measures what a fleet costs, and writes docs/performance.md: a
// fleet of lab clusters against its lower bound, the driver against the plain
// Pulumi CLI, the scheduler alone, the check of a tree with many systems, their
// delivery to one cluster, the rebuild of a cluster, and the start of the program. It is run by
// `make bench`, from the project's directory, on a machine with nothing else to do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	// Pulumi's SDK silences the logger that everybody has.
	progress := log.New(os.Stderr, "", 0)
	if err := run(ctx, os.Args[1:], progress); err != nil {
		progress.Fatalf("bench: %v", err)
	}
}

// The parts of a measurement.
const (
	partClusters  = "clusters"
	partDriver    = "driver"
	partUnchanged = "unchanged"
	partChain     = "chain"
	partScheduler = "scheduler"
	partSystems   = "systems"
	partDelivery  = "delivery"
	partRebuild   = "rebuild"
	partStart     = "start"
)

func parts() []string {
	return []string{partClusters, partDriver, partUnchanged, partChain, partScheduler, partSystems, partDelivery, partRebuild, partStart}
}

// earlierParts are those that are measured of an earlier commit, too.
func earlierParts() []string { return []string{partClusters, partDriver, partChain, partStart} }

// options of the command.
type options struct {
	parts []string
	// sizes are the numbers of clusters of the fleets.
	sizes []int
	// rounds is how often driver and plain CLI take turns.
	rounds int
	// latency is the share of AWS's typical durations that the stand-in takes.
	latency float64
	// root is the checkout whose programs are measured, and before one of an earlier commit,
	// "" for none.
	root, before string
	// records is the file of what was measured, document and plot are made of it.
	records, document, plot string
	progress                *log.Logger
}

func run(ctx context.Context, args []string, progress *log.Logger) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	o.progress = progress
	// What is measured has Go's garbage collector as people have it.
	if err := errors.Join(os.Unsetenv("GOGC"), os.Unsetenv("GOMEMLIMIT")); err != nil {
		return err
	}
	m, err := load(o.records)
	if err != nil {
		return err
	}
	for _, part := range o.parts {
		err := m.measure(ctx, o, part)
		if err == nil && slices.Contains(earlierParts(), part) {
			err = m.measureEarlier(ctx, o, part)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
		if m.Machines[part], err = thisMachine(); err != nil {
			return err
		}
		if err := m.save(o); err != nil {
			return err
		}
	}
	return nil
}

// measure measures one part.
func (m *taken) measure(ctx context.Context, o options, part string) (err error) {
	switch part {
	case partClusters:
		m.Fleets, err = measureFleets(ctx, o)
	case partDriver:
		m.Driver, err = measureDriver(ctx, o)
	case partUnchanged:
		m.Unchanged, err = measureUnchanged(ctx, o)
	case partChain:
		m.Chain, err = measureChain(ctx, o)
	case partScheduler:
		m.Scheduler, err = measureScheduler(m.durations())
	case partSystems:
		m.Systems, err = measureSystems()
	case partDelivery:
		m.Delivery, err = measureDeliveries(ctx, o)
	case partRebuild:
		m.Rebuild, err = measureRebuilds(ctx, o)
	case partStart:
		m.Start, err = measureStart(ctx, o)
	}
	return err
}

func parse(args []string) (options, error) {
	var o options
	var part, sizes string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&part, "part", "all", "what to measure: all, or some of "+strings.Join(parts(), ","))
	flags.StringVar(&sizes, "sizes", "1,2,4,8,16", "numbers of clusters")
	flags.IntVar(&o.rounds, "rounds", 5, "how often driver and plain CLI take turns")
	flags.Float64Var(&o.latency, "latency", 0.02, "share of AWS's typical durations that operations take")
	flags.StringVar(&o.before, "before", "", "checkout of an earlier commit, with its bin/tombolo and bin/program, to measure beside")
	flags.StringVar(&o.records, "records", "tools/bench/measured.json", "file of what was measured")
	flags.StringVar(&o.document, "document", "docs/performance.md", "document to write")
	flags.StringVar(&o.plot, "plot", "docs/performance.svg", "plot to write")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.parts = parts()
	if part != "all" && part != "" {
		o.parts = strings.Split(part, ",")
	}
	for _, p := range o.parts {
		if !slices.Contains(parts(), p) {
			return o, fmt.Errorf("no part %q: expected all, or some of %s", p, strings.Join(parts(), ","))
		}
	}
	for s := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return o, fmt.Errorf("-sizes: %q is no number of clusters", s)
		}
		o.sizes = append(o.sizes, n)
	}
	if o.rounds < 1 || o.latency < 0 {
		return o, errors.New("-rounds is at least 1, -latency at least 0")
	}
	var err error
	o.root, err = os.Getwd()
	return o, err
}
