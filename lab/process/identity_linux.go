package process

import (
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Identity tells a process from a later one with the same pid: it is the time
// when the kernel started it. A process that has ended has none, also while its
// parent has not waited for it yet.
func Identity(pid int) string {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return ""
	}
	stat, err := p.Stat()
	if err != nil || stat.State == "Z" || stat.State == "X" {
		return ""
	}
	return strconv.FormatUint(stat.Starttime, 10)
}

// stopped reports whether all threads of a process have stopped: a signal
// reaches one after the other.
func stopped(pid int) bool {
	threads, err := procfs.AllThreads(pid)
	if err != nil || len(threads) == 0 {
		return false
	}
	for _, thread := range threads {
		if stat, err := thread.Stat(); err == nil && !strings.Contains("TtZX", stat.State) {
			return false
		}
	}
	return true
}
