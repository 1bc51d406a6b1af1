//go:build unix

package bounded

import (
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// processorTime is what this process has worked so far, whoever else works on the machine.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	assert.NilError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
