package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
)

// compilersMemory is how much memory one compiler or linker may fill before it collects
// garbage, where there is room for it: the largest packages here need about half of it.
const compilersMemory = 3 << 30

// compilersEnv is the environment of go build: compilers live for seconds, and with room for
// what they allocate they need not collect garbage at all, which is a tenth of their time.
// Where there is less room they collect a quarter as often as Go's default. The user's own
// settings are kept.
func compilersEnv(available uint64) []string {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := os.LookupEnv(name); set {
			return nil
		}
	}
	// Half is left to what else runs here.
	if available/2 < compilersMemory*uint64(runtime.NumCPU()) {
		return []string{"GOGC=400"}
	}
	return []string{"GOGC=off", fmt.Sprintf("GOMEMLIMIT=%d", int64(compilersMemory))}
}

// availableMemory is how many bytes of memory programs can take without swapping; 0 where the
// system does not tell.
func availableMemory() uint64 {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer file.Close()
	return parseAvailable(file)
}

// parseAvailable reads MemAvailable of /proc/meminfo (proc_meminfo(5)), which is in KiB.
func parseAvailable(meminfo io.Reader) uint64 {
	for lines := bufio.NewScanner(meminfo); lines.Scan(); {
		var kib uint64
		if _, err := fmt.Sscanf(lines.Text(), "MemAvailable: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	return 0
}

// ownEnv is the environment of a command; go is given what compilers need beside it.
func ownEnv(name string) []string {
	if name != "go" {
		return nil // as this process has it
	}
	return append(os.Environ(), compilersEnv(availableMemory())...)
}
