package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tombolo/stacks"
)

// unchanged is what an up of many clusters takes of which nothing has changed since their last.
type unchanged struct {
	Counts []unchangedCost `json:"counts"`
}

// unchangedCost is what it takes of so many.
type unchangedCost struct {
	Clusters int   `json:"clusters"`
	Up       usage `json:"up"`
}

// unchangedCounts are the numbers of clusters, the largest last.
var unchangedCounts = []int{1, 10, 100}

// measureUnchanged makes one cluster, and takes its states for all others, under their names: an up
// without a refresh compares with the states alone. The engine looks at each once, which has its
// up recorded.
func measureUnchanged(ctx context.Context, o options) (*unchanged, error) {
	names := make([]string, unchangedCounts[len(unchangedCounts)-1])
	for i := range names {
		names[i] = fmt.Sprintf("bench%03d", i+1)
	}
	c, err := newCheckout(ctx, o, names...)
	if err != nil {
		return nil, err
	}
	defer c.remove()
	for range 2 { // the second up hands the engine's objects over
		if _, err := c.run(ctx, c.tombolo, "up", names[0], "--lab", "--yes"); err != nil {
			return nil, err
		}
	}
	if err := c.copyStates(names[0], names[1:]); err != nil {
		return nil, err
	}
	o.progress.Printf("► %d clusters are looked at", len(names))
	if _, err := c.run(ctx, c.tombolo, "up", "--all", "--lab", "--yes", "--no-gate"); err != nil {
		return nil, err
	}
	out := &unchanged{}
	for _, n := range unchangedCounts {
		cost := unchangedCost{Clusters: n}
		if cost.Up, err = measure(ctx, c.command(ctx, c.tombolo, append([]string{"up", "--lab", "--yes"}, names[:n]...)...)); err != nil {
			return nil, err
		}
		out.Counts = append(out.Counts, cost)
		o.progress.Printf("✔ %d unchanged clusters: %.1f s", n, cost.Up.Wall)
	}
	return out, nil
}

// copyStates gives clusters the states of another one, in which their names take the place of its.
func (c *checkout) copyStates(of string, to []string) error {
	dir := filepath.Join(c.dir, ".lab", "state", ".pulumi", "stacks", stacks.Project)
	for _, k := range stacks.Kinds() {
		text, err := os.ReadFile(filepath.Join(dir, stacks.Name(of, k)+".json"))
		if err != nil {
			return err
		}
		for _, name := range to {
			file := filepath.Join(dir, stacks.Name(name, k)+".json")
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), of, name)), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}
