package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// of are tests that take so many seconds each, by their names.
func of(seconds int, names ...string) (entries []entry) {
	for _, name := range names {
		entries = append(entries, entry{Package: "tests/lab", Test: name, Tier: long, CPU: seconds, Wall: seconds, Paths: []string{"config/" + name}})
	}
	return entries
}

func names(entries []entry) string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.Test
	}
	return strings.Join(all, " ")
}

func untouched(entry) string { return "" }

// TestChoose: what is touched goes first, then the turn's part, as far as the minutes go.
func TestChoose(t *testing.T) {
	rest := of(60, "A", "B", "C", "D", "E", "F", "G")
	touched := change{files: []string{"docs/x.md", "config/F.go", "config/G"}}.touches(nil)
	const hour = time.Hour
	for _, test := range []struct {
		why    string
		touch  func(entry) string
		turns  []int
		budget time.Duration
		run    string
	}{
		{"a turn", untouched, []int{1}, hour, "B G"},
		{"another", untouched, []int{4}, hour, "E"},
		{"a change of several commits", untouched, []int{4, 3}, hour, "E D"},
		{"touched, too", touched, []int{0}, hour, "F G A"},
		{"touched in the turn", touched, []int{1}, hour, "G F B"},
		{"no time for more than two", touched, []int{0}, linking + 75*time.Second, "F G"},
		{"no time", touched, []int{0}, linking, ""},
		{"less than no time", touched, []int{0}, -hour, ""},
	} {
		p := choose(rest, test.touch, test.turns, 2, test.budget)
		assert.Check(t, is.Equal(names(p.run), test.run), test.why)
		assert.Check(t, is.Equal(len(p.run)+len(p.left), len(rest)), test.why)
	}
}

// TestEverythingHasItsTurn: five commits run all of the list's rest, each about as much.
func TestEverythingHasItsTurn(t *testing.T) {
	all := rest(listed(t))
	seen, most, sum := 0, 0, 0
	for turn := range parts {
		p := choose(all, untouched, []int{turn}, 2, 24*time.Hour)
		seen += len(p.run)
		cpu := 0
		for _, e := range p.run {
			cpu += e.CPU
		}
		most, sum = max(most, cpu), sum+cpu
	}
	assert.Equal(t, seen, len(all))
	assert.Check(t, most < sum/parts*5/4, "one part takes %d of %d s", most, sum)
}

// TestTell: people read what is run and why, and what is not.
func TestTell(t *testing.T) {
	rest := of(60, "TestA", "TestB", "TestC")
	c := change{files: []string{"config/TestA.go", "config/TestB.go"}}
	var out bytes.Buffer
	choose(rest, c.touches(nil), []int{0}, 1, 3*time.Minute).tell(&out, c, 3*time.Minute)
	assert.Equal(t, out.String(), `► of the lab's long tests 1 of 3 run in the 3m0s that there are, in about 2m0s
  TestA  the change touches it: config/TestA.go
► not run, but by `+"`make test-all`"+` and every night:
  TestB  no time left for it; the change touches it: config/TestB.go
  TestC  neither touched nor its turn
`)
}

// TestExecute: the command gets the tests, their packages and the time, and tests the latest
// moment at which they may begin.
func TestExecute(t *testing.T) {
	p := plan{run: append(of(60, "TestA", "TestB"), entry{Package: "tools/release", Test: "TestC", Wall: 1})}
	assert.DeepEqual(t, p.flags(90*time.Second), []string{"-timeout", "1m30s", "-run", "^(TestA|TestB|TestC)$", "./tests/lab", "./tools/release"})
	assert.DeepEqual(t, plan{}.flags(time.Minute), []string{"-timeout", "1m0s", "-run", "^()$", "./tests/lab"})

	end := time.Date(2026, time.July, 1, 12, 0, 0, 0, time.UTC)
	assert.Equal(t, p.until(end), "TestA=2026-07-01T11:59:00Z,TestB=2026-07-01T11:59:00Z,TestC=2026-07-01T11:59:59Z")

	said := filepath.Join(t.TempDir(), "said")
	assert.NilError(t, p.execute(t.Context(), []string{"sh", "-c", `echo "$TOMBOLO_TEST_UNTIL $*" >"$0"`, said}, end))
	text := files.Read(t, said)
	assert.Equal(t, text, p.until(end)+" -timeout 10m0s -run ^(TestA|TestB|TestC)$ ./tests/lab ./tools/release\n")
	assert.Check(t, is.Error(p.execute(t.Context(), []string{"false"}, end), "running the chosen tests: exit status 1"))
}

// TestLastChange: each commit has the part after that of the one before; where the history is
// not all there, its name says which.
func TestLastChange(t *testing.T) {
	t.Chdir(t.TempDir())
	commit := func(name string) {
		t.Helper()
		files.Write(t, name, name)
		files.Git(t, ".", "add", ".")
		files.Git(t, ".", "commit", "--quiet", "-m", name)
	}
	files.Git(t, ".", "init", "--quiet")
	commit("one")
	c := lastChange(t.Context(), "")
	assert.Check(t, c.unknown != nil && len(c.turns) == 1 && c.turns[0] == 1, "the first commit has a change: %+v", c)
	for _, name := range []string{"two", "three", "four"} {
		commit(name)
	}
	c = lastChange(t.Context(), "")
	assert.NilError(t, c.unknown)
	assert.DeepEqual(t, c.files, []string{"four"})
	assert.DeepEqual(t, c.turns, []int{4})
	c = lastChange(t.Context(), "HEAD~3")
	assert.DeepEqual(t, c.files, []string{"four", "three", "two"})
	assert.DeepEqual(t, c.turns, []int{4, 3, 2})

	dir, err := os.Getwd()
	assert.NilError(t, err)
	t.Chdir(t.TempDir())
	files.Git(t, ".", "clone", "--quiet", dir, ".")
	assert.DeepEqual(t, lastChange(t.Context(), "").files, []string{"four"}) // nothing is new to the remote
	commit("five")
	commit("six")
	c = lastChange(t.Context(), "")
	assert.DeepEqual(t, c.files, []string{"five", "six"})
	assert.DeepEqual(t, c.turns, []int{1, 0})

	t.Chdir(t.TempDir())
	files.Git(t, ".", "clone", "--quiet", "--depth", "1", "file://"+dir, ".")
	c = lastChange(t.Context(), "")
	name, err := git(t.Context(), "rev-parse", "HEAD")
	assert.NilError(t, err)
	assert.Check(t, c.unknown != nil)
	assert.DeepEqual(t, c.turns, []int{turnOf(name)})
}

// TestTouches: a test's own file touches it, and those that the list says.
func TestTouches(t *testing.T) {
	tests := []found{{Package: "tests/lab", Test: "A", File: "tests/lab/a_test.go"}}
	for file, want := range map[string]bool{"tests/lab/a_test.go": true, "config/A_rules.go": true, "config/B.go": false, "config/A_test.go": false, "tests/lab/b_test.go": false} {
		got := change{files: []string{file}}.touches(tests)(of(1, "A")[0])
		assert.Check(t, is.Equal(got != "", want), file)
	}
}
