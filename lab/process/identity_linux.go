package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Identity tells a process from a later one with the same pid: it is the time
// the kernel started it. A process that is gone, or dead and not yet reaped,
// has none.
func Identity(pid int) string {
	f := statFields(fmt.Sprintf("/proc/%d/stat", pid))
	if len(f) <= startField || f[stateField] == "Z" || f[stateField] == "X" {
		return ""
	}
	return f[startField]
}

// stopped says whether all threads of a process have stopped: a signal reaches
// one after the other.
func stopped(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		return false
	}
	for _, file := range threads {
		if f := statFields(file); len(f) > stateField && !strings.Contains("TtZX", f[stateField]) {
			return false
		}
	}
	return true
}

// Fields 3 and 22 of proc_pid_stat(5), as statFields counts them.
const stateField, startField = 0, 19

// statFields are the fields of a process or a thread from the third on; none when
// it is gone.
func statFields(file string) []string {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	// The second field is the name in parentheses and may hold spaces.
	_, rest, ok := strings.Cut(string(data), ") ")
	for ok && strings.Contains(rest, ") ") {
		_, rest, ok = strings.Cut(rest, ") ")
	}
	return strings.Fields(rest)
}
