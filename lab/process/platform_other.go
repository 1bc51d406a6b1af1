//go:build !linux

package process

import (
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// ownGroup puts a child into a process group of its own. Where the kernel has
// no parent-death signal, Reap clears up by the pid files at the next start.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

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

// portHolder names the process that listens on a TCP port, as lsof tells it.
func portHolder(port int) string {
	out, err := exec.Command("lsof", "-nP", fmt.Sprintf("-iTCP:%d", port), "-sTCP:LISTEN", "-Fpc").Output()
	if err != nil {
		return ""
	}
	var pid, name string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "p"):
			pid = line[1:]
		case strings.HasPrefix(line, "c"):
			name = line[1:]
		}
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf("%s (pid %s)", name, pid)
}

// PeerUser is not known on this system.
func PeerUser(net.Conn) (uid uint64, known bool) { return 0, false }
