// Command mutate takes out or turns round one behaviour of the project after the other, in a
// copy of the checkout, and says whether the test that stands for it fails: docs/adr/0074 has why.
//
//	go run ./tools/mutate [-only A7,B2] [-lab] [-table results.md] -- <flags of go test>
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "✗", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	only := flags.String("only", "", "the `rows` whose mutations are made, such as A7,B2 (default: all)")
	lab := flags.Bool("lab", false, "make those, too, whose tests need the lab")
	table := flags.String("table", "", "write the results into this `file`, as a table of Markdown")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all, err := read(".")
	if err != nil {
		return err
	}
	chosen, err := choose(all, *only, *lab)
	if err != nil {
		return err
	}
	c, err := newCopy(ctx, flags.Args())
	if err != nil {
		return err
	}
	defer c.remove()
	if err := c.holds(ctx, chosen); err != nil {
		return err
	}
	results, err := c.tryAll(ctx, chosen, out)
	if *table != "" {
		err = errors.Join(err, os.WriteFile(*table, tableOf(results), 0o644))
	}
	return err
}

// choose are the mutations of some rows, or all; those of the lab where it is wanted.
func choose(all []mutation, only string, lab bool) ([]mutation, error) {
	rows := strings.FieldsFunc(only, func(r rune) bool { return r == ',' || r == ' ' })
	for _, row := range rows {
		if !slices.ContainsFunc(all, func(m mutation) bool { return m.Row == row }) {
			return nil, fmt.Errorf("choosing mutations: row %s has none in %s", row, list)
		}
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(m mutation) bool {
		return m.Lab && !lab || len(rows) > 0 && !slices.Contains(rows, m.Row)
	})
	if len(chosen) == 0 {
		return nil, fmt.Errorf("choosing mutations: those of %s need the lab; run this with LAB=1", only)
	}
	return chosen, nil
}

// result of a mutation: whether its test failed, or why that cannot be told.
type result struct {
	mutation
	caught bool
	err    error
}

// tryAll makes one mutation after the other, and fails when one of them is not caught.
func (c *checkout) tryAll(ctx context.Context, chosen []mutation, out io.Writer) ([]result, error) {
	var results []result
	var problems []error
	missed := 0
	for _, m := range chosen {
		r := result{mutation: m}
		if r.caught, r.err = c.try(ctx, m); ctx.Err() != nil {
			return results, ctx.Err()
		}
		results = append(results, r)
		sign, word := "✔", "caught by"
		switch {
		case r.err != nil:
			sign, word, problems = "✗", "not known of", append(problems, r.err)
		case !r.caught:
			sign, word, missed = "✗", "not caught by", missed+1
		}
		fmt.Fprintf(out, "%s %s %s: %s %s\n", sign, m.Row, m.What, word, m.Test)
	}
	if missed > 0 {
		problems = append(problems, fmt.Errorf("%d of %d mutations are not caught: mend their tests", missed, len(results)))
	}
	return results, errors.Join(problems...)
}

func tableOf(results []result) []byte {
	var b strings.Builder
	b.WriteString("| row | mutation | in | test | caught |\n|---|---|---|---|---|\n")
	for _, r := range results {
		caught := "no"
		switch {
		case r.err != nil:
			caught = "not known"
		case r.caught:
			caught = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | `%s` | %s |\n", r.Row, r.What, r.File, r.Test, caught)
	}
	return []byte(b.String())
}
