package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestCompilersMemory: with room for them compilers collect no garbage, without it they
// collect some, and what the user has set stays.
func TestCompilersMemory(t *testing.T) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Setenv(name, "") // put back afterwards
		assert.NilError(t, os.Unsetenv(name))
	}
	enough := 2 * uint64(runtime.NumCPU()) * compilersMemory
	assert.DeepEqual(t, compilersEnv(enough), []string{"GOGC=off", fmt.Sprint("GOMEMLIMIT=", 3<<30)})
	assert.DeepEqual(t, compilersEnv(enough-1), []string{"GOGC=400"})
	assert.DeepEqual(t, compilersEnv(0), []string{"GOGC=400"})
	t.Setenv("GOGC", "50")
	assert.DeepEqual(t, compilersEnv(enough), []string(nil))
}

func TestAvailableMemory(t *testing.T) {
	const text = "MemTotal:       24689508 kB\nMemFree:          812344 kB\nMemAvailable:   20480000 kB\n"
	assert.Equal(t, parseAvailable(strings.NewReader(text)), uint64(20480000)<<10)
	assert.Equal(t, parseAvailable(strings.NewReader("MemTotal: 1 kB\n")), uint64(0))
}
