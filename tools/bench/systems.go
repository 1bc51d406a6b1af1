package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"tombolo/config"
	"tombolo/platform"
	"tombolo/platform/contract"
	"tombolo/platform/contract/finding"
	"tombolo/platform/contract/published"
	"tombolo/platform/contract/tree/treetest"
)

// systems is what a check of a tree with so many systems of teams costs.
type systems struct {
	Counts []systemsOf `json:"counts"`
}

// systemsOf are measurements with one number of systems.
type systemsOf struct {
	Systems int `json:"systems"`
	// Seconds is the median of the rounds, MB what one check allocates.
	Seconds float64 `json:"seconds"`
	MB      float64 `json:"mb"`
}

// systemRounds is how often each number is checked.
const systemRounds = 5

// measureSystems checks the reference tree of the cluster teams, with few systems and with
// many.
func measureSystems() (*systems, error) {
	c, err := config.Load(filepath.Join("clusters", "teams.yaml"))
	if err != nil {
		return nil, err
	}
	published := []published.Set{published.To(c, c)}
	out := &systems{}
	for _, count := range []int{3, 50, 200} {
		tree, err := treetest.Systems(platform.Flux(), count)
		if err != nil {
			return nil, err
		}
		one, err := checkSystems(tree, published, count)
		if err != nil {
			return nil, err
		}
		out.Counts = append(out.Counts, one)
	}
	return out, nil
}

func checkSystems(tree fs.FS, clusters []published.Set, count int) (systemsOf, error) {
	out := systemsOf{Systems: count}
	var took []float64
	for range systemRounds {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		found, err := contract.Check(contract.Tree{FS: tree, Name: "tree"}, clusters)
		if err != nil {
			return out, err
		}
		took = append(took, time.Since(start).Seconds())
		runtime.ReadMemStats(&after)
		out.MB = float64(after.TotalAlloc-before.TotalAlloc) / (1 << 20)
		if n := found.Count(finding.Error); n > 0 {
			return out, fmt.Errorf("the tree with %d systems has %d errors: %s", count, n, found[0])
		}
	}
	slices.Sort(took)
	out.Seconds = took[len(took)/2]
	return out, nil
}
