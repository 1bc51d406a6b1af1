package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"tombolo/stacks"
)

// driver is Tombolo's driver against the plain CLI, in turns.
type driver struct {
	Rounds []round `json:"rounds"`
}

// round is one turn of both, on clusters alike.
type round struct {
	// Create and Noop by the driver, and by the CLI with --skip-preview, core and
	// then bootstrap. Create begins without stacks. Between the two, each runs
	// once more: the second up hands the engine's objects over.
	Create      usage `json:"create"`
	Noop        usage `json:"noop"`
	PlainCreate usage `json:"plainCreate"`
	PlainNoop   usage `json:"plainNoop"`
	// Unchanged is the driver's up after that, for which nothing has changed.
	Unchanged usage `json:"unchanged"`
	// Small and PlainSmall are an up after a change of one label.
	Small      usage `json:"small,omitzero"`
	PlainSmall usage `json:"plainSmall,omitzero"`
}

// ratio is the median of the rounds' ratios.
func (d driver) ratio(of func(round) (ours, plain float64)) float64 {
	ratios := make([]float64, len(d.Rounds))
	for i, r := range d.Rounds {
		ours, plain := of(r)
		ratios[i] = ours / plain
	}
	slices.Sort(ratios)
	if n := len(ratios); n%2 == 0 {
		return (ratios[n/2-1] + ratios[n/2]) / 2
	}
	return ratios[len(ratios)/2]
}

func measureDriver(ctx context.Context, o options) (*driver, error) {
	d := &driver{}
	for i := range o.rounds {
		r, err := measureRound(ctx, o, i%2 == 1)
		if err != nil {
			return nil, err
		}
		d.Rounds = append(d.Rounds, r)
		o.progress.Printf("✔ round %d: creating %.1f s against %.1f s, nothing to do %.1f s and unchanged %.1f s against %.1f s",
			i+1, r.Create.Wall, r.PlainCreate.Wall, r.Noop.Wall, r.Unchanged.Wall, r.PlainNoop.Wall)
	}
	return d, nil
}

// measureRound has both make a cluster in one lab, and find that nothing is to
// do; the one that begins changes from round to round.
func measureRound(ctx context.Context, o options, plainFirst bool) (round, error) {
	var r round
	c, err := newCheckout(ctx, o, "driven", "plain", "warm")
	if err != nil {
		return r, err
	}
	defer c.remove()
	// What the machine keeps in memory of both is there before the first.
	if _, err := measure(ctx, c.command(ctx, c.tombolo, "up", "warm", "--lab", "--yes")); err != nil {
		return r, err
	}
	forced, err := c.forced(ctx)
	if err != nil {
		return r, err
	}
	driven := func(into *usage, flags ...string) func() error {
		return func() (err error) {
			*into, err = measure(ctx, c.command(ctx, c.tombolo, append([]string{"up", "driven", "--lab", "--yes"}, flags...)...))
			return err
		}
	}
	plain := func(into *usage, args ...string) func() error {
		return func() (err error) { *into, err = c.plain(ctx, args...); return err }
	}
	var between usage
	for _, turn := range [][]func() error{
		{driven(&r.Create), plain(&r.PlainCreate, "stack", "init")},
		{driven(&between), plain(&between)},
		{driven(&r.Noop, forced...), plain(&r.PlainNoop)},
		{driven(&r.Unchanged)},
		{c.labels("driven"), c.labels("plain")},
		{driven(&r.Small), plain(&r.PlainSmall)},
	} {
		if plainFirst {
			slices.Reverse(turn)
		}
		for _, up := range turn {
			if err := up(); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// labels gives a cluster a label.
func (c *checkout) labels(cluster string) func() error {
	return func() error {
		name := filepath.Join(c.dir, "clusters", cluster+".yaml")
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(name, append(text, "labels: {bench: small}\n"...), 0o644)
	}
}

// plain runs both programs one after the other, each after another command for
// its stack, if one is given.
func (c *checkout) plain(ctx context.Context, before ...string) (usage, error) {
	var sum usage
	for _, k := range stacks.Kinds() {
		commands := [][]string{{"up", "--yes", "--skip-preview"}}
		if len(before) > 0 {
			commands = slices.Insert(commands, 0, before)
		}
		for _, args := range commands {
			cmd, err := c.pulumi(ctx, append(args, "--stack", stacks.Name("plain", k), "--non-interactive")...)
			if err != nil {
				return sum, err
			}
			u, err := measure(ctx, cmd)
			if err != nil {
				return sum, err
			}
			sum.Wall += u.Wall
			sum.CPU += u.CPU
			sum.PeakMB = max(sum.PeakMB, u.PeakMB)
		}
	}
	return sum, nil
}
