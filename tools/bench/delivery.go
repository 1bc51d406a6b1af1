package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tombolo/automation/health"
	"tombolo/internal/sleep"
	"tombolo/lab"
	"tombolo/platform"
	"tombolo/platform/contract/tree/treetest"
)

// deliveries are what systems cost on one cluster in the lab.
type deliveries struct {
	Counts []delivery `json:"counts"`
}

// delivery is what so many systems cost.
type delivery struct {
	Systems int `json:"systems"`
	// All came with one commit, One was added by another.
	All arrival `json:"all"`
	One arrival `json:"one"`
	// Rest is the share of a core that the lab takes when everything is ready.
	Rest float64 `json:"rest"`
	// MB that the cluster's processes have, by name, and that the database takes on disk.
	MB       map[string]float64 `json:"mb"`
	Database float64            `json:"database"`
}

// arrival is what a commit cost until all systems were ready, in seconds.
type arrival struct {
	Wall float64 `json:"wall"`
	// CPU of the lab: the control plane, the engine's controllers, the stand-in, Git.
	CPU float64 `json:"cpu"`
}

// The numbers of systems, and for how long the lab is watched at rest.
var deliveryCounts = []int{3, 200}

const restTime = time.Minute

// readyTimeout bounds the wait for systems.
const readyTimeout = 30 * time.Minute

// teamsCluster is the cluster that has the systems.
const teamsCluster = "teams"

// measureDeliveries has systems, each with a repository of its own, delivered to one
// cluster of the profile full: few at first, then many in one commit.
func measureDeliveries(ctx context.Context, o options) (*deliveries, error) {
	text, err := os.ReadFile(filepath.Join("clusters", teamsCluster+".yaml"))
	if err != nil {
		return nil, err
	}
	c, err := fill(o, map[string]string{teamsCluster: string(text)})
	if err != nil {
		return nil, err
	}
	defer c.remove()
	if err := c.prepareSystems(ctx, o, slices.Max(deliveryCounts)+1); err != nil {
		return nil, err
	}
	out := &deliveries{}
	for _, count := range deliveryCounts {
		d, err := c.deliver(ctx, count)
		if err != nil {
			return nil, err
		}
		out.Counts = append(out.Counts, d)
		o.progress.Printf("✔ %d systems: all ready after %.0f s, one more after %.0f s", count, d.All.Wall, d.One.Wall)
	}
	return out, nil
}

// prepareSystems makes the systems' repositories, and the cluster with one system.
func (c *checkout) prepareSystems(ctx context.Context, o options, count int) error {
	dir := filepath.Join(c.dir, "lab", "systems")
	shop := os.DirFS(filepath.Join(dir, "shop"))
	for i := range count {
		if err := os.CopyFS(filepath.Join(dir, treetest.SystemName(i)), shop); err != nil {
			return err
		}
	}
	if err := c.writeSystems(1); err != nil {
		return err
	}
	o.progress.Printf("► %d repositories of systems and the cluster are made", count)
	if err := c.labUp(ctx, lab.Full, 0); err != nil {
		return err
	}
	// They are there, and the lab need not compare them with their directories again.
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	_, err := c.run(ctx, c.tombolo, "up", teamsCluster, "--yes", "--verify")
	return err
}

// writeSystems has the platform tree have so many systems.
func (c *checkout) writeSystems(count int) error {
	tree, err := treetest.Systems(platform.Flux(), count)
	if err != nil {
		return err
	}
	dir := filepath.Join(c.dir, "platform", "flux")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.CopyFS(dir, tree)
}

// deliver measures so many systems, and one more.
func (c *checkout) deliver(ctx context.Context, count int) (delivery, error) {
	d := delivery{Systems: count, MB: map[string]float64{}}
	var err error
	if d.All, err = c.arrive(ctx, count); err != nil {
		return d, err
	}
	if d.Rest, err = c.rest(ctx); err != nil {
		return d, err
	}
	status, err := c.labStatus(ctx)
	if err != nil {
		return d, err
	}
	for _, p := range status.Processes {
		d.MB[strings.TrimPrefix(p.Name, teamsCluster+"-")] = memory(p.PID)
	}
	if d.Database, err = c.databaseMB(); err != nil {
		return d, err
	}
	d.One, err = c.arrive(ctx, count+1)
	return d, err
}

// arrive commits a tree with so many systems, and waits until all are ready.
func (c *checkout) arrive(ctx context.Context, count int) (arrival, error) {
	var a arrival
	if err := c.writeSystems(count); err != nil {
		return a, err
	}
	before, err := c.labCPU(ctx)
	if err != nil {
		return a, err
	}
	start := time.Now()
	if _, err := c.run(ctx, c.tombolo, "lab", "up"); err != nil { // its repository follows the tree
		return a, err
	}
	if err := c.awaitSystems(ctx, count); err != nil {
		return a, err
	}
	a.Wall = time.Since(start).Seconds()
	after, err := c.labCPU(ctx)
	a.CPU = after - before
	return a, err
}

// awaitSystems waits until the platform and so many systems are ready.
func (c *checkout) awaitSystems(ctx context.Context, count int) error {
	for deadline := time.Now().Add(readyTimeout); ; {
		out, err := c.run(ctx, c.tombolo, "verify", teamsCluster, "--timeout", readyTimeout.String(), "--output", "json")
		if err != nil {
			return err
		}
		lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
		var v struct{ Systems []health.System }
		if err := json.Unmarshal(lines[len(lines)-1], &v); err != nil {
			return fmt.Errorf("read what verify found: %w", err)
		}
		waiting := slices.DeleteFunc(v.Systems, func(s health.System) bool { return s.Ready })
		if ready := len(v.Systems) - len(waiting); ready == count && len(waiting) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d systems are not ready after %s: %+v", len(waiting), count, readyTimeout, waiting)
		}
		if err := sleep.For(ctx, time.Second); err != nil {
			return err
		}
	}
}

// rest is the share of a core that the lab takes when nothing is to be done.
func (c *checkout) rest(ctx context.Context) (float64, error) {
	before, err := c.labCPU(ctx)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := sleep.For(ctx, restTime); err != nil {
		return 0, err
	}
	after, err := c.labCPU(ctx)
	return (after - before) / time.Since(start).Seconds(), err
}

// databaseMB is the size of the database of the cluster's etcd.
func (c *checkout) databaseMB() (float64, error) {
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
	if err == nil && size == 0 {
		err = errors.New("the cluster's etcd has no database")
	}
	return float64(size) / (1 << 20), err
}
