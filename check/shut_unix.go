//go:build unix

package check

import (
	"runtime/debug"
	"syscall"
)

// openNoMore has the system refuse this process any new file, pipe and socket,
// so that it can start no program either, and more memory than a build needs.
func openNoMore() error {
	debug.SetMemoryLimit(mostMemory * 3 / 4)
	// macOS knows the limit of memory and does not hold it.
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: mostMemory, Max: mostMemory})
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{})
}
