// Package bounded holds what reads text of others to a bound: a reader that anybody's text can
// keep busy, or fill the memory with, fails where it is used.
package bounded

import (
	"runtime"
	"testing"
	"time"
)

const (
	// mostMemory is what a reader may allocate in all, in bytes.
	mostMemory = 256 << 20
	// mostTime is what it may work, of this process.
	mostTime = time.Second
)

// Read runs a reader of a small text, and fails the test when it takes more than a second of
// the processor or allocates more than 256 MB. A panic fails the test too.
func Read(t testing.TB, read func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := processorTime(t)
	read()
	worked := processorTime(t) - began
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > mostMemory {
		t.Errorf("reading allocated %d bytes, and may allocate %d", allocated, mostMemory)
	}
	if worked > mostTime {
		t.Errorf("reading took %v of the processor, and may take %v", worked, mostTime)
	}
}
