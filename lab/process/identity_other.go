//go:build !linux

package process

import (
	"os/exec"
	"strconv"
	"strings"
)

// Identity tells a process from a later one with the same pid: it is the time
// ps says it started. A process that is gone, or dead and not yet reaped, has
// none.
func Identity(pid int) string {
	out, err := exec.Command("ps", "-o", "stat=", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	state, start, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || strings.HasPrefix(state, "Z") {
		return ""
	}
	return strings.TrimSpace(start)
}

// stopped says whether a process has stopped.
func stopped(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.HasPrefix(strings.TrimSpace(string(out)), "T")
}
