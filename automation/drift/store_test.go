package drift

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestStore(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "a", "drift")}
	if r, err := s.Load("demo"); r != nil || err != nil {
		t.Fatalf("before the first one: %v, %v", r, err)
	}
	want := Report{
		Cluster: "demo", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Stacks: []Stack{{Stack: "demo-core", Resources: 3}},
		Differences: []Difference{{Class: Missing, Type: vpcType, Name: "demo"}}, Seconds: 1.5,
	}
	for _, r := range []Report{{Cluster: "demo", Error: "an older one"}, want} {
		assert.NilError(t, s.Save(r))
	}
	got, err := s.Load("demo")
	assert.NilError(t, err)
	assert.DeepEqual(t, *got, want)
	files, err := os.ReadDir(s.Dir)
	assert.Check(t, err == nil && len(files) == 1, "the directory holds %v, %v", files, err)
}

// TestStoreFollows: what an up has put back differs no more, and of a cluster that is gone nothing
// does.
func TestStoreFollows(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	load := func() *Report {
		t.Helper()
		r, err := s.Load("demo")
		assert.NilError(t, err)
		return r
	}
	assert.NilError(t, s.PutBack("demo"))
	assert.NilError(t, s.Forget("demo"))
	found := Report{Cluster: "demo", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	found.Add(Difference{Class: Missing, Name: "a"}, Difference{Class: Changed, Name: "b"})
	assert.NilError(t, s.Save(found))
	assert.NilError(t, s.PutBack("demo"))
	assert.Assert(t, load() == nil)

	unexpected := Difference{Class: Unexpected, Name: "c"}
	found.Add(unexpected)
	assert.NilError(t, s.Save(found))
	assert.NilError(t, s.PutBack("demo"))
	left := load()
	assert.DeepEqual(t, left.Differences, []Difference{unexpected})
	assert.Equal(t, left.At, found.At)
	assert.NilError(t, s.Forget("demo"))
	assert.Assert(t, load() == nil)
}

func TestStoreBroken(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	assert.NilError(t, os.WriteFile(filepath.Join(s.Dir, "demo.json"), []byte(`{"cluster":`), 0o600))
	_, err := s.Load("demo")
	if err == nil || !strings.HasPrefix(err.Error(), "read the last drift of cluster demo from "+s.Dir) ||
		!strings.HasSuffix(err.Error(), "unexpected end of JSON input; delete the file, `tombolo drift` writes it again") {
		t.Errorf("error is %v", err)
	}
}
