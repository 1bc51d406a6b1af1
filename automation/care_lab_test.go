//go:build lab

package automation

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/automation/backend"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/programs"
	"tombolo/tests/bucket"
	"tombolo/tests/tier"
)

// meetings is how often the second driver starts in the last second of the first.
const meetings = 8

// TestDriversMeetInABucket: findings 5 and 6. One driver starts an up in the last second
// of the up of another, in either order, at random moments. Each comes to its end or says
// that the stack is locked; nothing is lost, and nothing is made twice.
func TestDriversMeetInABucket(t *testing.T) {
	tier.Short(t, "two drivers that meet at random moments lose nothing")
	t.Parallel()
	random := rand.New(rand.NewPCG(seedOf(t), 0))
	at := inBucket(t)
	c, attach := serveCloud(t)
	var names []string
	drivers := make([]*Driver, 2)
	for i := range drivers {
		d, _ := realBenchIn(t, at, nil)
		d.env["PULUMI_DEBUG_PROVIDERS"] = attach
		d.deps.program = func(_ *config.Cluster, k stacks.Kind, _ programs.Options) (pulumi.RunFunc, error) {
			if k == stacks.Core {
				return roles(names...), nil
			}
			return exporting, nil
		}
		drivers[i] = d
	}
	begun := make(chan string, meetings)
	c.making = func(name string) {
		begun <- name
		time.Sleep(time.Second)
	}
	met := 0
	for meeting := range meetings {
		names = append(names, fmt.Sprintf("role-%d", meeting))
		first, second := drivers[meeting%2], drivers[(meeting+1)%2]
		later := time.Duration(random.IntN(1500)) * time.Millisecond // of which the last third is its end
		done := make(chan error, 1)
		go func() {
			_, err := first.Up(t.Context(), demo(), UpOptions{Force: true})
			done <- err
		}()
		select {
		case <-begun:
		case err := <-done:
			t.Fatalf("meeting %d: nothing was made, error %v", meeting, err)
		}
		time.Sleep(later)
		if len(done) == 0 {
			met++
		}
		_, two := second.Up(t.Context(), demo(), UpOptions{Force: true})
		one := <-done
		t.Logf("meeting %d after %s: %v, %v", meeting, later, one, two)
		locked := new(backend.LockedError)
		for _, err := range []error{one, two} {
			if err != nil && !errors.As(err, &locked) {
				t.Fatalf("meeting %d: %v", meeting, err)
			}
		}
		if one != nil || two != nil {
			_, err := first.Up(t.Context(), demo(), UpOptions{Force: true})
			assert.NilError(t, err)
		}
		assert.DeepEqual(t, slices.Sorted(slices.Values(c.creations)), slices.Sorted(slices.Values(names)))
		st, err := second.backend.State(t.Context(), "demo-core")
		assert.NilError(t, err)
		for _, name := range names {
			_, found := st.Object("aws:iam/role:Role", func(id string) bool { return id == name })
			assert.Assert(t, found, "meeting %d: %s was lost", meeting, name)
		}
	}
	assert.Check(t, met > 0, "the drivers never met")
}

// TestLookingWritesNothing: finding 8. A preview and a look for drift leave every file
// of a backend as it is, also what a killed CLI left, and ask a bucket for nothing but to read.
func TestLookingWritesNothing(t *testing.T) {
	tier.Short(t, "previews and looks for drift write nothing, in a directory or a bucket")
	t.Parallel()
	look := func(t *testing.T, d *Driver) {
		t.Helper()
		_, err := d.Preview(t.Context(), demo(), PreviewOptions{})
		assert.NilError(t, err)
		_, err = d.Drift(t.Context(), demo(), DriftOptions{})
		assert.NilError(t, err)
		_, err = d.Locks(t.Context(), demo(), "")
		assert.NilError(t, err)
	}
	t.Run("in a directory", func(t *testing.T) {
		d, _ := realBench(t, exporting)
		_, err := d.Up(t.Context(), demo(), UpOptions{Force: true})
		assert.NilError(t, err)
		dir, _ := d.backend.Directory()
		left := filepath.Join(dir, ".pulumi", "stacks", stacks.Project, "demo-core.json.bak.attrs")
		assert.NilError(t, os.WriteFile(left, nil, 0o600))
		before := listing(t, dir)
		look(t, d)
		assert.DeepEqual(t, listing(t, dir), before)
	})
	t.Run("in a bucket", func(t *testing.T) {
		in := bucket.Serve(t)
		d, _ := realBenchIn(t, in.URL(), exporting)
		_, err := d.Up(t.Context(), demo(), UpOptions{Force: true})
		assert.NilError(t, err)
		in.SetReadOnly(true)
		look(t, d)
		assert.Equal(t, strings.Join(in.Refused(), "\n"), "")
	})
}

// listing has a line for all that is below a directory: name, time and digest.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprint(path, " ", info.Mode(), " ", info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %x", sha256.Sum256(content))
		}
		out = append(out, line)
		return nil
	})
	assert.NilError(t, err)
	return out
}
