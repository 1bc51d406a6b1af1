//go:build lab

package lab

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
	"gotest.tools/v3/assert"
)

// processesIn lists the running processes whose command line names a
// directory, as "pid command".
func processesIn(t *testing.T, dir string) []string {
	t.Helper()
	all, err := procfs.AllProcs()
	assert.NilError(t, err)
	var found []string
	for _, p := range all {
		words, err := p.CmdLine()
		if line := strings.Join(words, " "); err == nil && strings.Contains(line, dir) {
			found = append(found, fmt.Sprint(p.PID, " ", line))
		}
	}
	return found
}

// pulumiIn lists the Pulumi CLIs whose working directory is below dir.
func pulumiIn(t *testing.T, dir string) []int {
	t.Helper()
	all, err := procfs.AllProcs()
	assert.NilError(t, err)
	var found []int
	for _, p := range all {
		cwd, err := p.Cwd()
		if name, _ := p.Comm(); err == nil && strings.HasPrefix(cwd, dir) && name == "pulumi" {
			found = append(found, p.PID)
		}
	}
	return found
}

// resident is the memory of a process, in MiB.
func resident(t *testing.T, pid int) int {
	t.Helper()
	p, err := procfs.NewProc(pid)
	assert.NilError(t, err)
	stat, err := p.Stat()
	assert.NilError(t, err)
	return stat.ResidentMemory() >> 20
}
