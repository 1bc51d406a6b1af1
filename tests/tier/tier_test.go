package tier

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// inner is the variable with what TestInner does, in a process of its own.
const inner = "TOMBOLO_TEST_INNER"

// TestInner is a test of the lab for the tests below.
func TestInner(t *testing.T) {
	does := os.Getenv(inner)
	switch does {
	case "":
		t.Skip("it is started by the other tests of this package")
	case "part":
		Part(t, "some of it is in the short tier")
	case "short":
		Short(t, "it is in the short tier")
	default:
		Long(t, "it takes an hour", os.Getenv("TOMBOLO_TEST_INPUT"))
	}
	t.Run("turn", func(t *testing.T) {
		Parallel(t)
		t.Log("it ran")
	})
	switch does {
	case "fail":
		t.Fail()
	case "die":
		os.Exit(1)
	}
}

// ran says whether TestInner ran, and what it said.
func ran(t *testing.T, does string, env []string, flags ...string) (bool, string) {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.CommandContext(t.Context(), self, append([]string{"-test.run", "^TestInner$", "-test.v"}, flags...)...)
	cmd.Env = append(append(os.Environ(), inner+"="+does), env...)
	out, _ := cmd.CombinedOutput()
	return strings.Contains(string(out), "it ran"), string(out)
}

// recorded are the variables of a run whose records are kept in a cache of its own.
func recorded(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	return []string{"TOMBOLO_TEST_RECORD=1", "XDG_CACHE_HOME=" + home, "HOME=" + home}
}

// TestTiers: -short leaves out what is long, and says why.
func TestTiers(t *testing.T) {
	for does, want := range map[string]bool{"long": false, "part": true, "short": true} {
		got, said := ran(t, does, nil, "-test.short")
		assert.Check(t, is.Equal(got, want), "%s: %s", does, said)
		if !want {
			assert.Check(t, is.Contains(said, "left out by -short: it takes an hour"))
		}
		got, said = ran(t, does, nil)
		assert.Check(t, got, "%s without -short: %s", does, said)
	}
}

// TestPassedIsNotRunAgain: with the same inputs, unless somebody asks for it.
func TestPassedIsNotRunAgain(t *testing.T) {
	env := recorded(t)
	for _, test := range []struct {
		why  string
		more []string
		want bool
	}{
		{"the first run", nil, true},
		{"the same inputs", nil, false},
		{"asked for", []string{"TOMBOLO_TEST_FRESH=1"}, true},
		{"by hand", []string{"TOMBOLO_TEST_RECORD="}, true},
		{"another input", []string{"TOMBOLO_TEST_INPUT=other"}, true},
		{"that one again", []string{"TOMBOLO_TEST_INPUT=other"}, false},
	} {
		got, said := ran(t, "long", append(env, test.more...))
		assert.Check(t, is.Equal(got, test.want), "%s: %s", test.why, said)
		if !test.want {
			assert.Check(t, is.Contains(said, "passed with the same inputs at "))
		}
	}
}

// TestNoRecord: a test that failed, was killed, ran in part or had no time runs again.
func TestNoRecord(t *testing.T) {
	over := Until + "=TestInner=" + time.Now().Add(-time.Second).UTC().Format(time.RFC3339)
	for _, test := range []struct {
		why, does, more string
		flags           []string
		again           string
	}{
		{why: "failed", does: "fail", again: "long"},
		{why: "killed", does: "die", again: "long"},
		{why: "some subtests", does: "long", flags: []string{"-test.run", "^TestInner$/turn"}, again: "long"},
		{why: "left out subtests", does: "long", flags: []string{"-test.skip", "other"}, again: "long"},
		{why: "no time left", does: "long", more: over, again: "long"},
		{why: "a part alone", does: "part", flags: []string{"-test.short"}, again: "part"},
	} {
		env := recorded(t)
		_, _ = ran(t, test.does, append(env, test.more), test.flags...)
		got, said := ran(t, test.again, env)
		assert.Check(t, got, "%s: %s", test.why, said)
		got, said = ran(t, test.again, env)
		assert.Check(t, !got, "%s, and passed then: %s", test.why, said)
	}
}

// TestTurn: a test whose turn comes in time runs.
func TestTurn(t *testing.T) {
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	got, said := ran(t, "long", []string{Until + "=TestOther=2026-01-01T00:00:00Z,TestInner=" + later})
	assert.Check(t, got, said)
	got, said = ran(t, "long", []string{Until + "=TestInner=2026-01-01T00:00:00Z"})
	assert.Check(t, !got)
	assert.Check(t, is.Contains(said, "not run: there is no time left for it in this run"))
}
