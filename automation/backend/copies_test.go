package backend

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// checkpoint is a state as the CLI writes it.
func checkpoint(name string) string {
	return fmt.Sprintf(`{"version":3,"checkpoint":{"stack":%q,"latest":{"manifest":{}}}}`, name)
}

// layOut writes files below the backend's .pulumi. A file with "torn" is cut
// short, and is as old as its place in the list says.
func (b *bench) layOut(t *testing.T, files ...string) {
	t.Helper()
	at := time.Now().Add(-time.Hour)
	for _, f := range files {
		name, content, _ := strings.Cut(f, "=")
		if content == "torn" {
			content = checkpoint("torn")[:20]
		} else {
			content = checkpoint(content)
		}
		path := filepath.Join(b.dir, ".pulumi", name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(content), 0o600))
		at = at.Add(time.Minute)
		assert.NilError(t, os.Chtimes(path, at, at))
	}
}

// stamp is a time in the name of a copy, so many minutes after the first file of
// layOut.
func stamp(minutes int) int64 {
	return time.Now().Add(-time.Hour + time.Duration(minutes)*time.Minute).UnixNano()
}

// TestRestoreState: which copy takes the place of a state that is cut short, and
// what is said.
func TestRestoreState(t *testing.T) {
	const state, bak = "stacks/tombolo/demo-core.json", "stacks/tombolo/demo-core.json.bak"
	kept := func(minutes int) string { return fmt.Sprintf("%s.%d", state, stamp(minutes)) }
	backup := func(minutes int) string {
		return fmt.Sprintf("backups/tombolo/demo-core/demo-core.%d.json", stamp(minutes))
	}
	for _, test := range []struct {
		name  string
		files []string // oldest first
		want  string   // content of the state; empty: it is gone
		note  string
		err   string
	}{
		{
			"whole", []string{kept(1) + "=older", state + "=now"}, "now", "", "",
		},
		{
			"the newest whole copy",
			[]string{kept(1) + "=first", kept(2) + "=second", bak + "=second", kept(4) + "=torn", state + "=torn"},
			"second", "put back its copy of ", "",
		},
		{
			"the copy of the newest state did not fit, its backup did",
			[]string{kept(1) + "=first", kept(2) + "=torn", bak + "=second", state + "=torn"},
			"second", "put back its copy of ", "",
		},
		{
			"somebody has used pulumi since",
			[]string{kept(1) + "=first", bak + "=second", state + "=torn"},
			"second", "", "what pulumi has made since is not in it; look for it with `tombolo drift demo`",
		},
		{
			"backups alone",
			[]string{backup(1) + "=first", backup(2) + "=second", bak + "=torn", state + "=torn"},
			"second", "", "what pulumi has made since is not in it",
		},
		{
			"a stack that was being made", []string{state + "=torn"}, "", "removed the state of a stack whose creation", "",
		},
		{
			"no whole copy", []string{bak + "=torn", state + "=torn"}, "torn", "", "no whole copy of it is left in ",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.layOut(t, test.files...)
			err := b.Mend(t.Context(), "demo-core", "demo-bootstrap")
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("error %v, want %q", err, test.err)
			}
			notes := strings.Join(b.notes, "\n")
			if test.note == "" && notes != "" || !strings.Contains(notes, test.note) {
				t.Errorf("notes %q, want %q", notes, test.note)
			}
			content, _ := os.ReadFile(filepath.Join(b.dir, ".pulumi", state))
			want := checkpoint(test.want)
			switch test.want {
			case "":
				want = ""
			case "torn":
				want = checkpoint("torn")[:20]
			}
			assert.Check(t, string(content) == want, "the state is %s, want %s", content, want)
		})
	}
}

// TestCopiesOfAState: an operation begins with a copy of the state, thins what
// gathers, and leaves none.
func TestCopiesOfAState(t *testing.T) {
	b := newBench(t)
	b.layOut(t, "stacks/tombolo/demo-core.json=now", fmt.Sprintf("stacks/tombolo/demo-core.json.%d=old", stamp(1)))
	file, _ := b.stateFile("demo-core")
	left := func() []stateCopy {
		t.Helper()
		copies, err := retained(file)
		assert.NilError(t, err)
		return copies
	}
	assert.NilError(t, b.BeginCopies("demo-core"))
	copies := left()
	assert.Assert(t, len(copies) == 1 && sameContent(copies[0].path, file), "copies %v", copies)
	for i := range manyCopies {
		content := "=state"
		if i > 1 {
			content = "=torn"
		}
		b.layOut(t, fmt.Sprintf("stacks/tombolo/demo-core.json.%d%s", time.Now().UnixNano(), content))
	}
	b.ThinCopies("demo-core")
	if copies := left(); len(copies) != manyCopies-1 || firstWhole(copies) != manyCopies-2 {
		t.Errorf("thinned to %d copies, of which the first whole one is %d", len(copies), firstWhole(copies))
	}
	err := b.EndCopies("demo-core")
	assert.Check(t, err == nil && len(left()) == 0, "left %v, error %v", left(), err)
}

// TestCopiesOfOthers: who tells the CLI to keep copies wants to have them.
func TestCopiesOfOthers(t *testing.T) {
	t.Setenv(retentionOnce, "1")
	b := newBench(t)
	env := map[string]string{}
	if b.KeepCopies(os.Getenv, env); len(env) > 0 {
		t.Errorf("what people have set is set: %v", env)
	}
	b.layOut(t, "stacks/tombolo/demo-core.json=now", fmt.Sprintf("stacks/tombolo/demo-core.json.%d=old", stamp(1)))
	file, _ := b.stateFile("demo-core")
	assert.NilError(t, b.BeginCopies("demo-core"))
	assert.NilError(t, b.EndCopies("demo-core"))
	copies, err := retained(file)
	assert.Check(t, err == nil && len(copies) == 1, "copies %v, error %v", copies, err)
}

// TestDiskAlmostFull: nothing starts that may fill it up.
func TestDiskAlmostFull(t *testing.T) {
	b := newBench(t)
	assert.Check(t, b.RequireSpace(), "the disk of the tests")
	b.FreeSpace = func(string) (uint64, error) { return leastSpace - 1, nil }
	want := "the disk of the state backend " + b.dir + " has 63 MiB free, and 64 are needed; nothing was started: "
	err := b.RequireSpace()
	assert.Check(t, err != nil && strings.HasPrefix(err.Error(), want), "error %v", err)
	b.URL = "gs://state"
	assert.Check(t, b.RequireSpace(), "a bucket")
}

// TestTornLock: a lock that could not be written to its end is nobody's.
func TestTornLock(t *testing.T) {
	b := newBench(t)
	b.layOut(t, "locks/organization/tombolo/demo-core/1.json=torn")
	assert.NilError(t, b.ReleaseLocks(t.Context(), "demo-core"))
	left, err := b.LockFiles("demo-core", "*")
	assert.Check(t, err == nil && len(left) == 0, "left %v, error %v", left, err)
}
