package process

import (
	"fmt"
	"os"
	"strings"
)

// Identity tells a process from a later one with the same pid: it is the time
// the kernel started it. A process that is gone, or dead and not yet reaped,
// has none.
func Identity(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the name in parentheses and may hold spaces.
	_, rest, ok := strings.Cut(string(data), ") ")
	for ok && strings.Contains(rest, ") ") {
		_, rest, ok = strings.Cut(rest, ") ")
	}
	f := strings.Fields(rest)
	const state, startTime = 0, 19 // fields 3 and 22 of proc_pid_stat(5)
	if len(f) <= startTime || f[state] == "Z" || f[state] == "X" {
		return ""
	}
	return f[startTime]
}
