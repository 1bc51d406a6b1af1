//go:build lab

package engines

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/check"
	"tombolo/check/finding"
	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/tests/trees"
)

// given are the trees of a run: the corpus, and so many of a seed unless somebody asks for others by the
// variables that make check-corpus sets. again says how to have them once more.
func given(t *testing.T, engine trees.Engine, count int) (all []trees.Tree, again string) {
	t.Helper()
	seed, count := variable(t, "TOMBOLO_TEST_SEED", 43), variable(t, "TOMBOLO_TEST_TREES", count)
	known, err := trees.Known(engine)
	assert.NilError(t, err)
	again = fmt.Sprintf("make check-corpus SEED=%d TREES=%d", seed, count)
	t.Log(again)
	return append(known, trees.Make(engine, uint64(seed), count)...), again
}

// variable is a number in the environment.
func variable(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	assert.NilError(t, err, name)
	return n
}

// said is what an engine says of a tree: nothing, or why it stops.
type said map[string][]string

// atMost is how long an engine may take to say something of all trees, on a machine that others use too.
func atMost(all []trees.Tree) time.Duration {
	return 2*time.Minute + time.Duration(len(all))*4*time.Second
}

// settled waits until an engine has said of each object how it is, and says it again when it is asked again:
// what waited for something else may have met it. look is what it says in a round, with an object of which
// nothing is known yet, and how many objects there are.
func settled(t *testing.T, by trees.Engine, all []trees.Tree, ask func(round int), look func(ctx context.Context, round int) (now said, open string, objects int, err error)) said {
	t.Helper()
	var before []string
	for round := range 10 {
		if round > 0 {
			ask(round)
		}
		var now said
		await(t, string(by)+" has said of all objects how they are", atMost(all), func(ctx context.Context) (bool, string, error) {
			got, open, objects, err := look(ctx, round)
			now = got
			return err == nil && open == "" && objects >= len(all), open, err
		})
		if round > 0 && slices.Equal(stopped(now), before) {
			return now
		}
		before = stopped(now)
	}
	t.Fatalf("%s stops at something else each time: %s", by, before)
	return nil
}

// stopped are the objects that are not ready: why they are not has names of directories, which change.
func stopped(now said) []string {
	var out []string
	for _, lines := range now {
		for _, line := range lines {
			object, _, _ := strings.Cut(line, ": ")
			out = append(out, object)
		}
	}
	slices.Sort(out)
	return out
}

// checked is what check says of each tree alone: its errors.
func checked(t *testing.T, all []trees.Tree, set published.Set) said {
	t.Helper()
	errors := said{}
	for _, tree := range all {
		set.Path = tree.Start()
		found, err := check.Check(treetest.FS(tree.Files), "", []published.Set{set})
		assert.NilError(t, err)
		for _, f := range found {
			if f.Severity == finding.Error {
				errors[tree.Name] = append(errors[tree.Name], f.String())
			}
		}
	}
	return errors
}

// compare fails for each tree of which the engine and check say something else, and no row of the table
// excuses it.
func compare(t *testing.T, by trees.Engine, again string, all []trees.Tree, engine said, set published.Set) {
	t.Helper()
	errors := checked(t, all, set)
	var n counts
	kinds, needed := map[string]bool{}, map[int]bool{}
	for _, tree := range all {
		stops, finds := engine[tree.Name], errors[tree.Name]
		n.add(tree, len(stops) > 0, len(finds) > 0)
		kinds[tree.Fault] = true
		if tree.Fault == "" && len(stops) > 0 {
			t.Errorf("%s: the grammar of trees has what the engine refuses: %s\n%s", again, strings.Join(stops, "\n"), tree)
		}
		if (len(stops) > 0) == (len(finds) > 0) {
			continue
		}
		if excuse := trees.Excuse(by, stops, finds); excuse >= 0 {
			needed[excuse] = true
			continue
		}
		t.Errorf("%s, tree %s (%s; %s):\nthe engine: %s\ncheck: %s\n%s", again, tree.Name, tree.Fault, tree.Where,
			strings.Join(stops, "\n  "), strings.Join(finds, "\n  "), tree)
	}
	for i, row := range trees.Unfollowed {
		if !needed[i] && slices.Contains(row.Engines, by) {
			t.Errorf("check follows this now, or it does not occur: remove the row from the table: %s", row.What)
		}
	}
	t.Logf("%s: of %d trees with a fault the engine refuses %d, and check finds an error in %d of these", again, n.faults, n.refused, n.agreed)
	// Trees that are all content, or all broken, or all excused, would show nothing.
	if n.refused*2 <= n.faults || n.refused == n.faults || n.agreed*3 <= n.refused || len(kinds) < 20 {
		t.Errorf("the trees show too little: %+v, with %d kinds of faults", n, len(kinds))
	}
}

// counts are those of a run's random trees with a fault.
type counts struct{ faults, refused, agreed int }

func (n *counts) add(tree trees.Tree, stops, finds bool) {
	if tree.Fault == "" || tree.Fault == trees.OfCorpus {
		return
	}
	n.faults++
	if stops {
		n.refused++
	}
	if stops && finds {
		n.agreed++
	}
}
