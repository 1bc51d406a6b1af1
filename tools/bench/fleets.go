package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"

	"tombolo/automation/rollout"
)

// fleets is what fleets of several sizes took.
type fleets struct {
	Profile  string      `json:"profile"`
	Latency  float64     `json:"latency"`
	Parallel int         `json:"parallel"`
	Fleets   []fleetCost `json:"fleets"`
}

// fleetCost is what one fleet took.
type fleetCost struct {
	Clusters int `json:"clusters"`
	// Up makes all clusters, and Noop has the engine find that nothing is to do; in between they
	// are brought up once more, which hands the engine's objects over. Unchanged is the up after
	// that, which starts no engine.
	Up        usage `json:"up"`
	Noop      usage `json:"noop"`
	Unchanged usage `json:"unchanged"`
	// Lab is the CPU time of the lab during Up, in seconds.
	Lab float64 `json:"lab"`
	// Longest is the critical path, in seconds: the up of a fleet of one.
	Longest float64 `json:"longest"`
	// Durations of the clusters' ups, in seconds.
	Durations []float64 `json:"durations"`
}

// bound is the shortest time that the fleet could be made in: the critical path,
// or all CPU work over the cores.
func (f fleetCost) bound(cores int) float64 {
	return max(f.Longest, (f.Up.CPU+f.Lab)/float64(cores))
}

func measureFleets(ctx context.Context, o options) (*fleets, error) {
	out := &fleets{Profile: string(profile), Latency: o.latency, Parallel: rollout.DefaultParallel()}
	var longest float64
	for _, n := range o.sizes {
		o.progress.Printf("► %d clusters", n)
		f, err := measureFleet(ctx, o, n)
		if err != nil {
			return nil, err
		}
		if longest == 0 || n == 1 {
			longest = f.Up.Wall
		}
		f.Longest = min(longest, f.Up.Wall)
		out.Fleets = append(out.Fleets, f)
		o.progress.Printf("✔ %d clusters: %.1f s, at least %.1f s; nothing to do: %.1f s; unchanged: %.1f s",
			n, f.Up.Wall, f.bound(runtime.NumCPU()), f.Noop.Wall, f.Unchanged.Wall)
	}
	return out, nil
}

func measureFleet(ctx context.Context, o options, n int) (fleetCost, error) {
	f := fleetCost{Clusters: n}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("bench%02d", i+1)
	}
	c, err := newCheckout(ctx, o, names...)
	if err != nil {
		return f, err
	}
	defer c.remove()
	before, err := c.labCPU(ctx)
	if err != nil {
		return f, err
	}
	if f.Up, err = measure(ctx, c.command(ctx, c.tombolo, "up", "--all", "--lab", "--yes")); err != nil {
		return f, err
	}
	after, err := c.labCPU(ctx)
	if err != nil {
		return f, err
	}
	f.Lab = after - before
	if f.Durations, err = c.durations(); err != nil {
		return f, err
	}
	if _, err := measure(ctx, c.command(ctx, c.tombolo, "up", "--all", "--lab", "--yes")); err != nil {
		return f, err
	}
	forced, err := c.forced(ctx)
	if err != nil {
		return f, err
	}
	if f.Noop, err = measure(ctx, c.command(ctx, c.tombolo, append([]string{"up", "--all", "--lab", "--yes"}, forced...)...)); err != nil {
		return f, err
	}
	f.Unchanged, err = measure(ctx, c.command(ctx, c.tombolo, "up", "--all", "--lab", "--yes"))
	return f, err
}

// durations of the clusters in the last run, by its journal.
func (c *checkout) durations() ([]float64, error) {
	records, err := rollout.Journals{Dir: filepath.Join(c.dir, ".lab", "journal")}.Records(1)
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, r := range records {
		for _, cluster := range r.Clusters {
			out = append(out, r.Ends[cluster.Name].Duration.Seconds())
		}
	}
	return out, nil
}
