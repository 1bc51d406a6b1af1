package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/automation/health"
	"tombolo/check/tree/treetest"
	"tombolo/internal/sleep"
	"tombolo/lab"
	"tombolo/platform"
)

// restTime is for how long the lab is watched at rest.
const restTime = time.Minute

// readyTimeout bounds the wait for systems.
const readyTimeout = 30 * time.Minute

// teamsCluster is the cluster that has the systems.
const teamsCluster = "teams"

// BenchmarkDelivery has systems, each with a repository of its own, delivered to one cluster of
// the profile full. all came with one commit, one was added by another; both until all are ready,
// with the CPU time of the lab: the control plane, the engine's controllers, the stand-in, Git.
// at-rest-cores is what the lab takes when everything is ready, and the B are the memory of its
// processes then.
func BenchmarkDelivery(b *testing.B) {
	ofThisCommit(b)
	for _, count := range []int{3, 200} {
		b.Run(fmt.Sprintf("systems=%d", count), func(b *testing.B) {
			text, err := os.ReadFile(filepath.Join(ownRoot(b), "clusters", teamsCluster+".yaml"))
			assert.NilError(b, err)
			c := fill(b, map[string]string{teamsCluster: string(text)})
			c.prepareSystems(count + 1)
			c.arrive(count).report(b, "all")
			b.ReportMetric(c.rest(), "at-rest-cores")
			for _, p := range c.labStatus().Processes {
				b.ReportMetric(memory(p.PID), strings.TrimPrefix(p.Name, teamsCluster+"-")+"-B")
			}
			b.ReportMetric(c.databaseSize(), "database-B")
			c.arrive(count+1).report(b, "one")
		})
	}
}

// prepareSystems makes the systems' repositories, and the cluster with one system.
func (c *checkout) prepareSystems(count int) {
	c.b.Helper()
	dir := filepath.Join(c.dir, "lab", "systems")
	shop := os.DirFS(filepath.Join(dir, "shop"))
	for i := range count {
		assert.NilError(c.b, os.CopyFS(filepath.Join(dir, treetest.SystemName(i)), shop))
	}
	c.writeSystems(1)
	c.labUp(lab.Full, 0)
	// They are there, and the lab need not compare them with their directories again.
	assert.NilError(c.b, os.RemoveAll(dir))
	c.run("up", teamsCluster, "--yes", "--verify")
}

// writeSystems has the platform tree have so many systems.
func (c *checkout) writeSystems(count int) {
	c.b.Helper()
	tree, err := treetest.Systems(platform.Flux(), count)
	assert.NilError(c.b, err)
	dir := filepath.Join(c.dir, "platform", "flux")
	assert.NilError(c.b, os.RemoveAll(dir))
	assert.NilError(c.b, os.CopyFS(dir, tree))
}

// arrive commits a tree with so many systems, and waits until all are ready.
func (c *checkout) arrive(count int) usage {
	c.b.Helper()
	c.writeSystems(count)
	before, start := c.labCPU(), time.Now()
	c.run("lab", "up") // its repository follows the tree
	for deadline := start.Add(readyTimeout); ; {
		waiting := c.waiting(count)
		if waiting == "" {
			break
		}
		assert.Assert(c.b, time.Now().Before(deadline), "after %s: %s", readyTimeout, waiting)
		assert.NilError(c.b, sleep.For(c.ctx, time.Second))
	}
	return usage{Wall: time.Since(start).Seconds(), CPU: c.labCPU() - before}
}

// waiting says which of so many systems are not ready; "" when all are, and the platform.
func (c *checkout) waiting(count int) string {
	c.b.Helper()
	out := c.run("verify", teamsCluster, "--timeout", readyTimeout.String(), "--output", "json")
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	var v struct{ Systems []health.System }
	assert.NilError(c.b, json.Unmarshal(lines[len(lines)-1], &v))
	waiting := slices.DeleteFunc(slices.Clone(v.Systems), func(s health.System) bool { return s.Ready })
	if len(v.Systems) == count && len(waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d systems are there, and not ready are %+v", len(v.Systems), count, waiting)
}

// rest is the share of a core that the lab takes when nothing is to be done.
func (c *checkout) rest() float64 {
	c.b.Helper()
	before, start := c.labCPU(), time.Now()
	assert.NilError(c.b, sleep.For(c.ctx, restTime))
	return (c.labCPU() - before) / time.Since(start).Seconds()
}

// databaseSize is the size of the database of the cluster's etcd.
func (c *checkout) databaseSize() float64 {
	c.b.Helper()
	var size int64
	err := filepath.WalkDir(filepath.Join(c.dir, ".lab", "clusters", teamsCluster), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // etcd has just removed it
		}
		if err != nil || d.Name() != "db" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	assert.NilError(c.b, err)
	assert.Assert(c.b, size > 0, "the cluster's etcd has no database")
	return float64(size)
}
