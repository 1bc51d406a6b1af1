// Command choose runs what CI has time for of the lab's tests that `make test` leaves out: those
// that a change touches, and a part that another commit's run does not have, so that all of
// them run within five commits. It says which it leaves out.
//
//	go run ./tools/choose -minutes 15 [-base HEAD~3] -- go tool gotestsum -- <flags of go test>
//
// The list of the lab's tests is tests.txt, with what each takes:
//
//	go run ./tools/choose -record run.json [-cpu 4000]   # the times of a run, of gotestsum --jsonfile
//	go run ./tools/choose -measure '^TestDemo$' -- <flags of go test>   # on a machine at rest
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// list has the tests, from the checkout's root.
const list = "tools/choose/tests.txt"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "✗", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("choose", flag.ContinueOnError)
	minutes := flags.Int("minutes", 15, "how long the tests may take")
	base := flags.String("base", "", "the commit before the change (default: where it left origin's main branch, or HEAD~1)")
	record := flags.String("record", "", "write what tests took in a run, of which this `file` is gotestsum's jsonfile, into the list")
	cpu := flags.Int("cpu", 0, "the `seconds` of CPU that this run took, to be divided as the times are")
	measure := flags.String("measure", "", "run each test that this `pattern` matches alone, and write what it takes into the list")
	if err := flags.Parse(args); err != nil {
		return err
	}
	entries, err := read(list)
	if err != nil {
		return err
	}
	switch {
	case *record != "":
		return recordRun(entries, *record, *cpu)
	case *measure != "":
		return measureAll(ctx, entries, *measure, flags.Args(), out)
	case flags.NArg() == 0:
		return fmt.Errorf("running tests: there is no command after --; use `make test-rest`")
	}
	found, err := scan(".")
	if err != nil {
		return err
	}
	c := lastChange(ctx, *base)
	p := choose(rest(entries), c.touches(found), c.turns, runtime.NumCPU(), time.Duration(*minutes)*time.Minute)
	p.tell(out, c, time.Duration(*minutes)*time.Minute)
	return p.execute(ctx, flags.Args(), time.Now().Add(time.Duration(*minutes)*time.Minute))
}
