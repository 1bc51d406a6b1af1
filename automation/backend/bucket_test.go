package backend

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"

	"tombolo/automation/fault"
	"tombolo/automation/process"
	s3 "tombolo/tests/bucket"
)

const (
	bucketState = ".pulumi/stacks/tombolo/demo-core.json"
	bucketLocks = ".pulumi/locks/organization/tombolo/demo-core/"
)

func newBucketBench(t *testing.T) (*bench, *s3.Bucket) {
	t.Helper()
	b, in := newBench(t), s3.Serve(t)
	b.URL = in.URL()
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "lab", "AWS_SECRET_ACCESS_KEY": "lab"}
	b.Getenv = func(name string) string { return keys[name] }
	return b, in
}

func putLock(t *testing.T, in *s3.Bucket, id string, o Owner) {
	t.Helper()
	raw, err := json.Marshal(o)
	assert.NilError(t, err)
	in.Put(t, bucketLocks+id+".json", string(raw))
}

// TestOneLockOfABucketIsRemoved: finding 6. Of two locks only the one goes whose owner
// is gone, and the CLI, which would remove both, is not asked.
func TestOneLockOfABucketIsRemoved(t *testing.T) {
	b, in := newBucketBench(t)
	b.Processes = &table{processes: map[int]process.Process{78: {Name: "pulumi", Parent: 70}}}
	putLock(t, in, "a", lockOwner(t, 77))
	putLock(t, in, "b", lockOwner(t, 78))
	var locked *LockedError
	if err := b.ReleaseLocks(t.Context(), "demo-core"); !errors.As(err, &locked) || locked.Owner.PID != 78 {
		t.Errorf("error is %v", err)
	}
	assert.DeepEqual(t, slices.Collect(maps.Keys(in.Objects(t))), []string{bucketLocks + "b.json"})
	locks, err := b.Locks(t.Context(), "demo-core")
	assert.Assert(t, err == nil && len(locks) == 1 && locks[0].State == OwnerAlive, "locks are %v, error %v", locks, err)
	putLock(t, in, "c", lockOwner(t, 79))
	assert.NilError(t, b.Unlock(t.Context(), locks[0], true))
	assert.DeepEqual(t, slices.Collect(maps.Keys(in.Objects(t))), []string{bucketLocks + "c.json"})
	assert.Equal(t, len(b.cli.calls), 0, "the CLI was asked: %v", b.cli.calls)
}

// TestNotTheLockOfAnother: finding 6, where the CLI has to remove it: never with a lock
// of another owner beside it.
func TestNotTheLockOfAnother(t *testing.T) {
	b := newBench(t)
	b.URL = "postgres://ada@db/state"
	o := lockOwner(t, 77)
	const text = " (pid 77) at 2026-01-02T03:04:05Z"
	mine := "created by ada@" + o.Host + text
	b.cli.fail["stack rename demo-core"] = mine + "\n" + strings.Replace(mine, "77", "78", 1)
	b.Processes = &table{processes: map[int]process.Process{78: {Name: "pulumi", Parent: 70}}}
	var locked *LockedError
	err := b.ReleaseLocks(t.Context(), "demo-core")
	assert.Check(t, errors.As(err, &locked) && locked.Owner.PID == 78, "error is %v", err)
	assert.Equal(t, len(b.cli.calls), 0)
	b.cli.fail["stack rename demo-core"] = mine
	assert.NilError(t, b.ReleaseLocks(t.Context(), "demo-core"))
	assert.DeepEqual(t, b.cli.calls, []string{"cancel demo-core"})
}

// TestCopiesInABucket: finding 8. An operation begins with a copy of the state, which
// stays while a lock does, and goes at its end.
func TestCopiesInABucket(t *testing.T) {
	b, in := newBucketBench(t)
	b.KeepCopies(os.Getenv, map[string]string{})
	copies := func() (out []string) {
		for key, content := range in.Objects(t) {
			if strings.HasPrefix(key, bucketState+".") {
				out = append(out, content)
			}
		}
		return out
	}
	assert.NilError(t, b.BeginCopies("demo-core"))
	assert.Equal(t, len(copies()), 0, "a copy of nothing")
	in.Put(t, bucketState, `{"as":"it was"}`)
	in.Put(t, bucketState+".1767323045000000000", `{"as":"of an earlier one"}`)
	assert.NilError(t, b.BeginCopies("demo-core"))
	assert.DeepEqual(t, copies(), []string{`{"as":"it was"}`})
	in.Put(t, bucketState, `{"as":"it is"}`)
	putLock(t, in, "a", lockOwner(t, 77))
	assert.NilError(t, b.EndCopies("demo-core"))
	assert.DeepEqual(t, copies(), []string{`{"as":"it was"}`})
	assert.NilError(t, b.ReleaseLocks(t.Context(), "demo-core"))
	assert.NilError(t, b.EndCopies("demo-core"))
	assert.Equal(t, len(copies()), 0)
	in.SetReadOnly(true)
	var refused *fault.Error
	err := b.BeginCopies("demo-core")
	assert.Check(t, errors.As(err, &refused), "without a copy, it begins: %v", err)
}

// TestLooksOnlyAtABucket: finding 8. Who may only read can ask for locks.
func TestLooksOnlyAtABucket(t *testing.T) {
	b, in := newBucketBench(t)
	putLock(t, in, "a", lockOwner(t, 77))
	in.SetReadOnly(true)
	locks, err := b.Locks(t.Context(), "demo-core", "demo-bootstrap")
	assert.Check(t, err == nil && len(locks) == 1 && len(in.Refused()) == 0,
		"locks are %v, error %v, refused was %v", locks, err, in.Refused())
}

func writtenState(at, resource string) string {
	return `{"version":3,"checkpoint":{"stack":"s","latest":{"manifest":{"time":"` + at + `"},"resources":[` + resource + `]}}}`
}

// TestMovedState: finding 5. A state that somebody else has written, removed or locked
// meanwhile is not replaced.
func TestMovedState(t *testing.T) {
	const at, later = "2026-01-02T03:04:05Z", "2026-01-02T03:05:00Z"
	vpc := `{"urn":"urn:pulumi:s::tombolo::aws:ec2/vpc:Vpc::v","type":"aws:ec2/vpc:Vpc"}`
	for name, tt := range map[string]struct{ now, want string }{
		"as it was":       {writtenState(at, ""), ""},
		"another time":    {writtenState(later, ""), "was written by somebody else at " + later + " after it was read"},
		"another content": {writtenState(at, vpc), "was written by somebody else after it was read"},
		"gone":            {"", "was removed by somebody else after it was read"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			file := filepath.Join(b.dir, bucketState)
			assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o700))
			assert.NilError(t, os.WriteFile(filepath.Join(b.dir, ".pulumi", "meta.yaml"), []byte("version: 1\n"), 0o600))
			assert.NilError(t, os.WriteFile(file, []byte(writtenState(at, "")), 0o600))
			read, err := b.State(t.Context(), "demo-core")
			assert.NilError(t, err)
			read.Raw = apitype.UntypedDeployment{} // what was made of it since counts for nothing
			if tt.now == "" {
				assert.NilError(t, os.Remove(file))
			} else {
				assert.NilError(t, os.WriteFile(file, []byte(tt.now), 0o600))
			}
			err = b.RequireUnmoved(t.Context(), "demo-core", read)
			if tt.want == "" {
				assert.NilError(t, err)
				return
			}
			assert.ErrorContains(t, err, "the state of stack demo-core "+tt.want+"; it was left as it is: run the same command again")
		})
	}
}

// TestStateInABucket is read without the CLI, where the bucket has the layout that is known.
func TestStateInABucket(t *testing.T) {
	b, in := newBucketBench(t)
	in.Put(t, bucketState, writtenState("2026-01-02T03:04:05Z", `{"urn":"u","type":"pulumi:pulumi:Stack"}`))
	_, err := b.State(t.Context(), "demo-core")
	assert.NilError(t, err)
	assert.Equal(t, b.cli.exports, 1)
	in.Put(t, ".pulumi/meta.yaml", "version: 1\n")
	in.SetReadOnly(true)
	st, err := b.State(t.Context(), "demo-core")
	assert.NilError(t, err)
	assert.Equal(t, len(st.All()), 1)
	text, err := b.Deployment(t.Context(), "demo-core")
	assert.NilError(t, err)
	assert.Equal(t, string(text), string(st.Raw.Deployment))
	st, err = b.State(t.Context(), "other-core")
	assert.NilError(t, err)
	assert.Assert(t, st == nil)
	assert.Equal(t, b.cli.exports, 1)
}

// TestStateIsOnlyRead: finding 8. Whatever is wrong beside a state, reading it mends
// nothing.
func TestStateIsOnlyRead(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(b.dir, bucketState)
	assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	for name, content := range map[string]string{
		filepath.Join(b.dir, ".pulumi", "meta.yaml"): "version: 1\n", file: writtenState("2026-01-02T03:04:05Z", ""), file + attributes: "",
	} {
		assert.NilError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	_, err := b.State(t.Context(), "demo-core")
	assert.NilError(t, err)
	_, err = os.Stat(file + attributes)
	assert.NilError(t, err)
	assert.NilError(t, b.Mend(t.Context(), "demo-core"))
	_, err = os.Stat(file + attributes)
	assert.Check(t, errors.Is(err, os.ErrNotExist), "the next up leaves it: %v", err)
}
