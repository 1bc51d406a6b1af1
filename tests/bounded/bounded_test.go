package bounded

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// failing notes that a test would have failed.
type failing struct {
	testing.TB
	failed int
}

func (f *failing) Helper()               {}
func (f *failing) Errorf(string, ...any) { f.failed++ }

func TestRead(t *testing.T) {
	f := &failing{TB: t}
	Read(f, func() {})
	assert.Equal(t, f.failed, 0)
	var kept []byte
	Read(f, func() { kept = make([]byte, mostMemory+1) })
	assert.Equal(t, f.failed, 1)
	assert.Equal(t, len(kept), mostMemory+1)
	Read(f, func() {
		for end := time.Now().Add(2 * mostTime); time.Now().Before(end); {
		}
	})
	assert.Assert(t, f.failed >= 1)
}
