//go:build lab

package automation

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/automation/pulumicli"
	"tombolo/stacks"
	"tombolo/tests/tier"
)

// limited puts a limit on the size of the files that the CLI writes, as long as
// the file it returns exists: to a process that is a disk without space, and it
// takes no privileges.
func (b *faultBench) limited(blocks int) (limit string) {
	b.t.Helper()
	real, err := pulumicli.LookPath("pulumi", b.opts.Env["PATH"])
	assert.NilError(b.t, err)
	dir := b.t.TempDir()
	limit = filepath.Join(dir, "limit")
	script := fmt.Sprintf("#!/bin/sh\n[ -e '%s' ] && ulimit -f %d\nexec '%s' \"$@\"\n", limit, blocks, real)
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "pulumi"), []byte(script), 0o700), os.WriteFile(limit, nil, 0o600),
	); err != nil {
		b.t.Fatal(err)
	}
	b.opts.Env["PATH"] = dir + string(os.PathListSeparator) + b.opts.Env["PATH"]
	b.env["PATH"] = b.opts.Env["PATH"]
	return limit
}

// TestFullDisk: the state cannot be written any more while resources are being
// made. The up says why and leaves a state that is whole, and the next one knows
// what was made. The CLI tries half a minute to write a state before it gives up.
func TestFullDisk(t *testing.T) {
	tier.Short(t, "an up says why it cannot write its state, and leaves a whole one")
	t.Parallel()
	b := newFaultBench(t)
	limit := b.limited(16) // of 512 bytes: enough for some of the resources
	_, err := b.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.ErrorContains(t, err, "file too large; free space on the disk")
	b.restored()
	b.onceThereIsSpace(limit)
}

// TestFullDiskAndKilled: while the CLI still tries to write the state it is
// killed, wherever the disk was full.
func TestFullDiskAndKilled(t *testing.T) {
	tier.Short(t, "a kill on a full disk leaves a state that the next up can go on from")
	t.Parallel()
	for _, blocks := range []int{10, 16, 18} { // the provider, a role, and a VPC are under way
		t.Run(fmt.Sprint(blocks), func(t *testing.T) {
			t.Parallel()
			b := newFaultBench(t)
			limit := b.limited(blocks)
			file := filepath.Join(strings.TrimPrefix(b.opts.BackendURL, "file://"), ".pulumi", "stacks", stacks.Project, "demo-core.json")
			done := make(chan struct{})
			var watcher sync.WaitGroup
			watcher.Go(func() { b.killWhenTorn(file, done) })
			_, err := b.Up(t.Context(), demo(), UpOptions{Force: true})
			close(done)
			watcher.Wait()
			assert.Assert(t, err != nil, "the disk was large enough")
			t.Logf("made %v: %v", b.made(), err)
			b.onceThereIsSpace(limit)
			b.restored()
		})
	}
}

// killWhenTorn kills the CLI when it has left the state cut short.
func (b *faultBench) killWhenTorn(file string, done <-chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		owners, err := b.backend.Owners("demo-core")
		text, unread := os.ReadFile(file)
		if errors.Join(err, unread) != nil || len(owners) == 0 || json.Valid(text) {
			continue
		}
		assert.NilError(b.t, syscall.Kill(owners[0].PID, syscall.SIGKILL))
		return
	}
}

func (b *faultBench) restored() {
	b.t.Helper()
	notes := strings.Join(b.seen.notes(), "\n")
	assert.Check(b.t, strings.Contains(notes, "put back its copy of "), "notes:\n%s", notes)
}

// onceThereIsSpace asserts that the next up makes what is missing, and nothing
// twice, and that no copies of the state stay.
func (b *faultBench) onceThereIsSpace(limit string) {
	b.t.Helper()
	assert.NilError(b.t, os.Remove(limit))
	_, err := b.Up(b.t.Context(), demo(), UpOptions{Force: true})
	assert.NilError(b.t, err)
	b.converged()
	dir, _ := b.backend.Directory()
	copies, err := filepath.Glob(filepath.Join(dir, ".pulumi", "stacks", stacks.Project, "demo-core.json.*[0-9]"))
	assert.Check(b.t, err == nil && len(copies) == 0, "copies left: %v, error %v", copies, err)
}
