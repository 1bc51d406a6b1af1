// Package bench measures what a fleet costs, in the format of Go's benchmarks: fleets
// of lab clusters, the driver against the plain Pulumi CLI, the scheduler alone, the
// check of a tree with many systems, their delivery to one cluster, the rebuild of a
// cluster, and the start of the program. `make bench` runs it, and benchstat tells what
// it has found. One iteration is a measurement; -count is how many there are.
package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/check"
	"tombolo/check/finding"
	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/config"
	"tombolo/platform"
)

// checkoutVariable names the checkout whose programs are measured; by default it is this
// one. Another one, such as one of an earlier commit, has its programs in bin, and .tools.
const checkoutVariable = "TOMBOLO_BENCH_CHECKOUT"

// measuredRoot is the checkout whose programs are measured.
func measuredRoot(b *testing.B) string {
	b.Helper()
	if other := os.Getenv(checkoutVariable); other != "" {
		return other
	}
	return ownRoot(b)
}

// ownRoot is the project's directory.
func ownRoot(b *testing.B) string {
	b.Helper()
	root, err := filepath.Abs("../..")
	assert.NilError(b, err)
	return root
}

// ofThisCommit skips what cannot be measured of another checkout: its code is in this
// program.
func ofThisCommit(b *testing.B) {
	b.Helper()
	if os.Getenv(checkoutVariable) != "" {
		b.Skip("not measured of another checkout")
	}
}

// report gives a command's usage to benchstat.
func (u usage) report(b *testing.B, name string) {
	b.Helper()
	b.ReportMetric(0, "ns/op") // has the preparations in it
	b.ReportMetric(u.Wall, name+"-sec")
	b.ReportMetric(u.CPU, name+"-cpu-sec")
	if u.Peak > 0 {
		b.ReportMetric(u.Peak, name+"-peak-B")
	}
}

// BenchmarkStart is what the start of bin/tombolo costs, which every command pays before
// its work: `tombolo version` does nothing else.
func BenchmarkStart(b *testing.B) {
	program := filepath.Join(measuredRoot(b), "bin", "tombolo")
	file, err := os.Stat(program)
	assert.NilError(b, err)
	var work, resident float64
	for b.Loop() {
		cmd := exec.CommandContext(context.Background(), program, "version")
		text, err := cmd.CombinedOutput()
		assert.NilError(b, err, "%s", text)
		work += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			resident = max(resident, float64(used.Maxrss)*(1<<10)) // in KB on Linux
		}
	}
	b.ReportMetric(work/float64(b.N), "cpu-sec")
	b.ReportMetric(resident, "resident-B")
	b.ReportMetric(float64(file.Size()), "file-B")
}

// BenchmarkSystems checks the reference tree of the cluster teams, with few systems of
// teams and with many.
func BenchmarkSystems(b *testing.B) {
	ofThisCommit(b)
	c, err := config.Load(filepath.Join(ownRoot(b), "clusters", "teams.yaml"))
	assert.NilError(b, err)
	clusters := []published.Set{published.To(c, c)}
	for _, count := range []int{3, 50, 200} {
		tree, err := treetest.Systems(platform.Flux(), count)
		assert.NilError(b, err)
		b.Run(fmt.Sprintf("systems=%d", count), func(b *testing.B) {
			for b.Loop() {
				found, err := check.Check(tree, "tree", clusters)
				assert.NilError(b, err)
				assert.Equal(b, found.Count(finding.Error), 0, "%v", found)
			}
		})
	}
}
