package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestReplaced(t *testing.T) {
	got := replaced([]string{
		"PATH=/bin", "HOME=/home/me", "XDG_CACHE_HOME=/cache", "GOMODCACHE=/mod", "TOMBOLO_TOOL_CACHE=/tools",
		"GOPROXY=https://old.example", "HTTPS_PROXY=http://proxy.example", "PULUMI_ACCESS_TOKEN=secret",
	}, map[string]string{"HOME": "/new", "GOPROXY": "https://go.example"})
	want := []string{"GOPROXY=https://go.example", "HOME=/new", "HTTPS_PROXY=http://proxy.example", "PATH=/bin"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEnvironmentHasAnEmptyHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	env, err := environment(t.Context(), os.Environ(), home)
	assert.NilError(t, err)
	entries, err := os.ReadDir(home)
	if err != nil || len(entries) > 0 || !slices.Contains(env, "HOME="+home) {
		t.Errorf("home has %v, %v, in %q", entries, err, env)
	}
	if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "GOPROXY=") }) {
		t.Errorf("where modules come from is not in %q", env)
	}
}

// Everything after a step that fails is left out, and the table says which it was.
func TestAFailedStepEndsTheRun(t *testing.T) {
	dir := t.TempDir()
	commands := []step{
		{"one", []string{"sh", "-c", "echo said; touch one"}},
		{"two", []string{"sh", "-c", "exit 3"}},
		{"three", []string{"touch", "three"}},
	}
	var said bytes.Buffer
	taken, err := all(t.Context(), commands, dir, os.Environ(), &said, io.Discard)
	assert.Check(t, is.Error(err, "two: exit status 3"))
	assert.Check(t, is.Equal(said.String(), "said\n"))
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 || len(taken) != 2 || !taken[1].failed {
		t.Errorf("%v exist, after %+v", left, taken)
	}
}

// TestNoFileIsLeftBehind: a file that is left ends the run, and the log of the steps before
// is kept. Where git cannot tell, the run ends too.
func TestNoFileIsLeftBehind(t *testing.T) {
	last := steps(false)[len(steps(false))-1:]
	checkout := t.TempDir()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	assert.NilError(t, err)
	defer func() { assert.Check(t, log.Close()) }()
	check := func() error {
		_, err := all(t.Context(), last, checkout, append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(checkout)), log, log)
		return err
	}
	assert.Check(t, is.ErrorContains(check(), "no file left behind: "), "without a repository")

	assert.NilError(t, exec.Command("git", "init", "--quiet", checkout).Run())
	_, err = log.WriteString("what came before\n")
	assert.NilError(t, err)
	assert.Check(t, check())
	assert.NilError(t, os.WriteFile(filepath.Join(checkout, "junk"), nil, 0o600))
	assert.Check(t, is.ErrorContains(check(), "no file left behind: "))
	said, err := os.ReadFile(log.Name())
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(said), "what came before\n"))
	assert.Check(t, is.Contains(string(said), "?? junk"))
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	table(&out, "abc", []taking{{"make demo", 90 * time.Second, 2 * time.Minute, false}, {"make test", time.Second, 0, true}})
	for _, want := range []string{"commit abc, ", "make demo  1m30s  2m0s  \n", "make test  1s     0s    failed\n", "in all     1m31s  2m0s  \n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nlacks %q", out.String(), want)
		}
	}
}

// TestPage: the table of a page is replaced, and what stands around it stays.
func TestPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "lab.md")
	assert.NilError(t, os.WriteFile(page, []byte("# The lab\n\n"+tableBegins+"old\n"+tableEnds+"\nafter\n"), 0o644))
	assert.NilError(t, writeTable(page, "0123456789", []taking{{name: "make demo", wall: 90 * time.Second, cpu: 9 * time.Second}}))
	text, err := os.ReadFile(page)
	assert.NilError(t, err)
	for _, want := range []string{"# The lab\n\n<!--", "Commit 01234567, ", "| `make demo` | 1 min 30 s | 9 s |\n", tableEnds + "\nafter\n"} {
		assert.Check(t, is.Contains(string(text), want))
	}
	assert.Check(t, !strings.Contains(string(text), "old"))
	assert.NilError(t, os.WriteFile(page, []byte("nothing\n"), 0o644))
	assert.Check(t, is.ErrorContains(writeTable(page, "0", nil), "has no lines"))
}

// TestTheGuideHasTheTable: make fresh finds where to write.
func TestTheGuideHasTheTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/lab.md")
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(text), tableBegins))
	assert.Check(t, is.Contains(string(text), tableEnds))
}

// TestStepsAreTheREADME: what the README promises is what is run.
func TestStepsAreTheREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	assert.NilError(t, err)
	_, after, found := strings.Cut(string(readme), "## Two commands\n")
	_, after, open := strings.Cut(after, "```\n")
	block, _, closed := strings.Cut(after, "```\n")
	if !found || !open || !closed {
		t.Fatal("the README has no block under \"Two commands\"")
	}
	var promised []string
	for line := range strings.Lines(block) {
		command, _, _ := strings.Cut(line, "#")
		promised = append(promised, strings.TrimSpace(command))
	}
	if len(promised) != 2 {
		t.Errorf("the README promises %q, want two commands", promised)
	}
	for _, command := range append(promised, "make test-all", "make demo-down", "make lint") {
		if !slices.ContainsFunc(steps(true), func(s step) bool { return strings.Join(s.command, " ") == command }) {
			t.Errorf("%q is not run", command)
		}
	}
}
