package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"tombolo/tests/tier"
)

// plan is what is run of the rest, why, and what is not.
type plan struct {
	run  []entry
	why  map[string]string
	left []entry
	// takes is how long the tests take, by what is known of them.
	takes time.Duration
}

// linking is how long it takes until the first test begins.
const linking = time.Minute

// busy is how much of the processors tests have in use: they wait, too.
const busy = 0.85

// choose takes of the rest what is touched, beginning with the part whose turn it is, and then
// the others of the parts whose turn it is, as far as the budget goes. What does not fit leaves
// its place to what does.
func choose(rest []entry, touches func(entry) string, turns []int, processors int, budget time.Duration) plan {
	p := plan{why: map[string]string{}}
	for _, e := range p.wanted(rest, touches, turns) {
		if with := takes(append(slices.Clone(p.run), e), processors); with <= budget {
			p.run, p.takes = append(p.run, e), with
		}
	}
	p.left = slices.DeleteFunc(slices.Clone(rest), func(e entry) bool {
		return slices.ContainsFunc(p.run, func(r entry) bool { return r.Test == e.Test })
	})
	return p
}

// wanted is what would run if there were time for everything, with the reasons.
func (p plan) wanted(rest []entry, touches func(entry) string, turns []int) (wanted []entry) {
	of := divide(rest)
	for i := range parts {
		for _, e := range rest {
			if file := touches(e); file != "" && of[e.Test] == (turns[0]+i)%parts {
				p.why[e.Test] = "the change touches it: " + file
				wanted = append(wanted, e)
			}
		}
	}
	for _, turn := range turns {
		for _, e := range rest {
			if p.why[e.Test] == "" && of[e.Test] == turn {
				p.why[e.Test] = fmt.Sprintf("its turn: part %d of %d", turn+1, parts)
				wanted = append(wanted, e)
			}
		}
	}
	return wanted
}

// divide gives each test its part, so that all parts take about as much.
func divide(rest []entry) map[string]int {
	rest = slices.Clone(rest)
	slices.SortStableFunc(rest, func(a, b entry) int { return b.CPU - a.CPU })
	of, sum := map[string]int{}, make([]int, parts)
	for _, e := range rest {
		least := slices.Index(sum, slices.Min(sum))
		of[e.Test] = least
		sum[least] += e.CPU
	}
	return of
}

// takes is how long tests take beside each other.
func takes(tests []entry, processors int) time.Duration {
	cpu, longest := 0, 0
	for _, e := range tests {
		cpu, longest = cpu+e.CPU, max(longest, e.Wall)
	}
	together := time.Duration(float64(cpu) / busy / float64(processors) * float64(time.Second))
	return linking + max(together, time.Duration(longest)*time.Second)
}

// tell says what is run, why, and what is not.
func (p plan) tell(out io.Writer, c change, budget time.Duration) {
	fmt.Fprintf(out, "► of the lab's long tests %d of %d run in the %s that there are, in about %s\n",
		len(p.run), len(p.run)+len(p.left), budget, p.takes.Round(time.Minute))
	if c.unknown != nil {
		fmt.Fprintln(out, "  what the change touches is not known:", c.unknown)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range p.run {
		fmt.Fprintf(w, "  %s\t%s\n", e.Test, p.why[e.Test])
	}
	_ = w.Flush()
	fmt.Fprintln(out, "► not run, but by `make test-all` and every night:")
	for _, e := range p.left {
		reason := "neither touched nor its turn"
		if why := p.why[e.Test]; why != "" {
			reason = "no time left for it; " + why
		}
		fmt.Fprintf(w, "  %s\t%s\n", e.Test, reason)
	}
	_ = w.Flush()
}

// execute runs the tests by a command that ends in flags of go test. One whose turn comes so
// late that it would not end in time is not begun, and shown as skipped. A test that hangs is
// ended ten minutes after the end.
func (p plan) execute(ctx context.Context, command []string, end time.Time) error {
	command = append(slices.Clone(command), p.flags(max(time.Until(end), 0)+10*time.Minute)...)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	cmd.Env = append(os.Environ(), tier.Until+"="+p.until(end))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running the chosen tests: %w", err)
	}
	return nil
}

// flags of go test: the tests, and their packages.
func (p plan) flags(timeout time.Duration) []string {
	names, packages := make([]string, len(p.run)), map[string]bool{}
	for i, e := range p.run {
		names[i] = e.Test
		packages["./"+e.Package] = true
	}
	if len(packages) == 0 {
		packages["./tests/lab"] = true // so that go test says that there was nothing to do
	}
	return append([]string{"-timeout", timeout.Round(time.Second).String(), "-run", "^(" + strings.Join(names, "|") + ")$"},
		slices.Sorted(maps.Keys(packages))...)
}

// until is the latest start of each test, for package tier.
func (p plan) until(end time.Time) string {
	starts := make([]string, len(p.run))
	for i, e := range p.run {
		starts[i] = e.Test + "=" + end.Add(-time.Duration(e.Wall)*time.Second).UTC().Format(time.RFC3339)
	}
	return strings.Join(starts, ",")
}
