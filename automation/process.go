package automation

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// process is a running process of this host.
type process struct {
	// Name of the program, without its directory.
	Name string
	// Parent is the id of the parent; 0 or 1 when that one is gone.
	Parent int
}

// processTable looks processes up.
type processTable interface {
	// Process returns the process with the id, and whether it runs.
	Process(pid int) (process, bool)
}

// hostProcesses reads /proc where there is one, and asks ps elsewhere.
type hostProcesses struct{}

func (hostProcesses) Process(pid int) (process, bool) {
	if pid <= 0 {
		return process{}, false
	}
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return process{}, false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		return parseStat(string(stat))
	}
	out, err := exec.Command("ps", "-o", "ppid=,comm=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return process{}, false
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 {
		return process{}, false
	}
	parent, err := strconv.Atoi(fields[0])
	return process{Name: filepath.Base(fields[1]), Parent: parent}, err == nil
}

// parseStat reads "pid (name) state ppid …"; a name may hold anything, so the
// last parenthesis counts. A zombie has ended.
func parseStat(stat string) (process, bool) {
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	fields := strings.Fields(stat[end+1:])
	if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
		return process{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	return process{Name: stat[open+1 : end], Parent: parent}, err == nil
}
