package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tombolo/automation"
	"tombolo/automation/approved"
	"tombolo/automation/clouds"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/programs"
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

// measureUnchanged makes one cluster. All others have its states under their names, recorded as an
// up by the program that is measured would have left them: an up without a refresh compares the
// states and the files alone.
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
	if err := c.copyStates(ctx, names[0], names[1:]); err != nil {
		return nil, err
	}
	out := &unchanged{}
	for _, n := range unchangedCounts {
		cost := unchangedCost{Clusters: n}
		args := append([]string{"up", "--lab", "--yes", "--output", "json"}, names[:n]...)
		var told bytes.Buffer
		cmd := c.command(ctx, c.tombolo, args...)
		cmd.Stdout = &told
		if cost.Up, err = measure(ctx, cmd); err != nil {
			return nil, err
		}
		if same := bytes.Count(told.Bytes(), []byte(`"unchangedSince"`)); same != n {
			return nil, fmt.Errorf("%d of %d clusters were found unchanged", same, n)
		}
		out.Counts = append(out.Counts, cost)
		o.progress.Printf("✔ %d unchanged clusters: %.1f s, %.1f s of CPU", n, cost.Up.Wall, cost.Up.CPU)
	}
	return out, nil
}

// copyStates gives clusters the states of another one, in which their names take the place of its,
// and has them recorded.
func (c *checkout) copyStates(ctx context.Context, of string, to []string) error {
	env, err := c.labEnv(ctx)
	if err != nil {
		return err
	}
	driver, err := automation.New(automation.Options{
		Root: c.dir, Programs: programs.All(), Clouds: clouds.All(), Env: env, Program: func() (approved.Program, error) { return approved.ProgramOf(c.tombolo) },
	})
	if err != nil {
		return err
	}
	dir := filepath.Join(c.dir, ".lab", "state", ".pulumi", "stacks", stacks.Project)
	for _, name := range to {
		for _, k := range stacks.Kinds() {
			text, err := os.ReadFile(filepath.Join(dir, stacks.Name(of, k)+".json"))
			if err != nil {
				return err
			}
			file := filepath.Join(dir, stacks.Name(name, k)+".json")
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), of, name)), 0o600); err != nil {
				return err
			}
		}
		cluster, err := config.Load(filepath.Join(c.dir, "clusters", name+".yaml"))
		if err != nil {
			return err
		}
		if err := driver.Record(ctx, cluster); err != nil {
			return err
		}
	}
	return nil
}
