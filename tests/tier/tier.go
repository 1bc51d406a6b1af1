// Package tier has the lab's tests in two tiers, by Go's own convention: `make test` runs them
// with -short, which leaves out what is long, and `make test-all` runs them all. A test says by
// its first statement where it is, and why in a sentence. tools/choose has the list.
//
// With TOMBOLO_TEST_RECORD=1, which make sets, a test that has passed with the same inputs is
// skipped, as package record says; TOMBOLO_TEST_FRESH=1 runs it. A run by hand, or of some of a
// test's subtests, neither asks the record nor writes it.
package tier

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tombolo/tests/record"
)

// Short has a test in both tiers; why says what would go unseen without it. What it depends on,
// besides what all tests of its package do, is given as inputs.
func Short(t *testing.T, why string, inputs ...string) {
	t.Helper()
	begin(t, inputs)
}

// Part has some of a test's rows or steps in the short tier: those that it takes when
// testing.Short() says so. why says which.
func Part(t *testing.T, why string, inputs ...string) {
	t.Helper()
	if testing.Short() {
		inputs = append(inputs, "short")
	}
	begin(t, inputs)
}

// Long has a test left out of the short tier; why says what it shows, or costs, that others do
// not.
func Long(t *testing.T, why string, inputs ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: " + why)
	}
	begin(t, inputs)
}

// Parallel is t.Parallel. A test whose turn comes so late that it would not end in time is not
// begun.
func Parallel(t *testing.T) {
	t.Helper()
	t.Parallel()
	test, _, _ := strings.Cut(t.Name(), "/")
	if at, ok := latest(test); ok && time.Now().After(at) {
		late.Store(test, true)
		t.Skip("not run: there is no time left for it in this run")
	}
}

// Until is the variable with the latest start of tests, <test>=<time>, which tools/choose sets.
const Until = "TOMBOLO_TEST_UNTIL"

// late are the tests of which something was not begun.
var late sync.Map

func latest(test string) (at time.Time, ok bool) {
	for start := range strings.SplitSeq(os.Getenv(Until), ",") {
		if name, text, _ := strings.Cut(start, "="); name == test {
			at, err := time.Parse(time.RFC3339, text)
			return at, err == nil
		}
	}
	return time.Time{}, false
}

// inputs of the package's tests, read once: it takes a second of the two programs, which have 370 MB.
var inputs = sync.OnceValues(func() (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	return record.Inputs(root)
})

// checkout is the directory of go.mod, at or above the package's own.
func checkout() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err = os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			return dir, err
		}
		dir, err = filepath.Dir(dir), nil
	}
	return "", err
}

// begin skips a test that has passed with the same inputs, and has its record written when it
// passes. A test that was killed writes none.
func begin(t *testing.T, more []string) {
	t.Helper()
	if os.Getenv("TOMBOLO_TEST_RECORD") != "1" || filtered() {
		return
	}
	all, err := inputs()
	r, noPlace := record.Of(t.Name(), append(more, all)...)
	if err != nil || noPlace != nil {
		t.Logf("no record is kept of this test: %v %v", err, noPlace)
		return
	}
	if at, ok := r.Passed(); ok && os.Getenv("TOMBOLO_TEST_FRESH") != "1" {
		t.Skipf("passed with the same inputs at %s; TOMBOLO_TEST_FRESH=1 runs it", at.Format(time.RFC3339))
	}
	t.Cleanup(func() {
		if _, some := late.Load(t.Name()); t.Failed() || t.Skipped() || some {
			return
		}
		if err := r.Keep(); err != nil {
			t.Log(err)
		}
	})
}

// filtered says that not all subtests may run.
func filtered() bool {
	value := func(name string) string {
		if f := flag.Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	return strings.Contains(value("test.run"), "/") || value("test.skip") != ""
}
