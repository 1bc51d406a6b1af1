// Package process looks at the processes of this host.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is a running process of this host. What the host does not tell is
// zero: there are hosts where the processes of others cannot be looked at.
type Process struct {
	// Name of the program, without its directory.
	Name string
	// Parent is the id of the parent; 0 or 1 when that one is gone.
	Parent int
	// Args is the command line.
	Args []string
	// Started is when it was started, by the clock as it is set now.
	Started time.Time
}

// Table looks processes up.
type Table interface {
	// Process returns the process with the id, and whether it runs.
	Process(pid int) (Process, bool)
}

// Host reads /proc where there is one, and asks ps elsewhere.
type Host struct{}

// Process returns the process with the id, and whether it runs.
func (Host) Process(pid int) (Process, bool) {
	if pid <= 0 {
		return Process{}, false
	}
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return Process{}, false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return askPS(pid)
	}
	p, ticks, ok := parseStat(string(stat))
	if !ok {
		return Process{}, false
	}
	if cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		p.Args = strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00")
	}
	if boot := bootTime(); !boot.IsZero() {
		p.Started = boot.Add(ticks)
	}
	return p, true
}

// clockTick is the unit of times in /proc/<pid>/stat: USER_HZ is 100 on every
// architecture that Go runs Linux on, see proc_pid_stat(5) and sysconf(3).
const clockTick = 10 * time.Millisecond

// parseStat reads "pid (name) state ppid …", and from field 22 how long after
// the host's start the process was started. A name may hold anything, so the
// last parenthesis counts. A zombie has ended.
func parseStat(stat string) (p Process, started time.Duration, ok bool) {
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return Process{}, 0, false
	}
	fields := strings.Fields(stat[end+1:]) // the first is field 3
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return Process{}, 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	ticks, errTicks := strconv.ParseInt(fields[19], 10, 64)
	return Process{Name: stat[open+1 : end], Parent: parent}, time.Duration(ticks) * clockTick, errors.Join(err, errTicks) == nil
}

// bootTime is when the host started, as btime of /proc/stat has it; zero when
// it does not tell.
func bootTime() time.Time {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	for line := range strings.Lines(string(stat)) {
		if seconds, ok := strings.CutPrefix(line, "btime "); ok {
			if n, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64); err == nil && n > 0 {
				return time.Unix(n, 0)
			}
		}
	}
	return time.Time{}
}

// askPS asks for a process that exists. One that ended meanwhile, or that this
// user may not see, is one of which nothing is known.
func askPS(pid int) (Process, bool) {
	out, err := exec.Command("ps", "-ww", "-o", "ppid=,etime=,command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return Process{}, !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}
	return parsePS(string(out), time.Now()), true
}

// wrapped are days that no process runs for. The ps of procps-ng takes the start of a
// process from an uptime that was read before, as unsigned numbers: for a process that has
// just started, the difference wraps around.
const wrapped = 1_000_000

// parsePS reads "ppid etime command…", with etime as [[days-]hours:]minutes:seconds.
func parsePS(line string, now time.Time) Process {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return Process{}
	}
	parent, err := strconv.Atoi(fields[0])
	if err != nil {
		return Process{}
	}
	p := Process{Name: filepath.Base(fields[2]), Parent: parent, Args: fields[2:]}
	if elapsed, err := parseElapsed(fields[1]); err == nil {
		p.Started = now.Add(-elapsed)
	}
	return p
}

func parseElapsed(etime string) (time.Duration, error) {
	days, clock, ok := strings.Cut(etime, "-")
	if !ok {
		days, clock = "0", etime
	}
	total, err := strconv.Atoi(days)
	if err != nil {
		return 0, fmt.Errorf("read elapsed time %q: %w", etime, err)
	}
	if total >= wrapped {
		return 0, nil
	}
	parts := strings.Split(clock, ":")
	for len(parts) < 3 {
		parts = append([]string{"0"}, parts...)
	}
	units := []int{24, 60, 60}
	for i, part := range parts[len(parts)-3:] {
		n, err := strconv.Atoi(part)
		if err != nil {
			return 0, fmt.Errorf("read elapsed time %q: %w", etime, err)
		}
		total = total*units[i] + n
	}
	return time.Duration(total) * time.Second, nil
}
