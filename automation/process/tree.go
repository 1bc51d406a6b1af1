package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Below are the ids of what a process has started, and of what that has started, and
// so on.
func Below(pid int) []int { return descendants(pid, parents()) }

// parents maps the processes of this host to their parents, as /proc has them,
// or ps where there is no /proc.
func parents() map[int]int {
	all := map[int]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return parentsByPS()
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		if p, _, ok := parseStat(string(stat)); ok {
			all[pid] = p.Parent
		}
	}
	return all
}

func parentsByPS() map[int]int {
	all := map[int]int{}
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return all
	}
	for line := range strings.Lines(string(out)) {
		var ids []int
		for _, field := range strings.Fields(line) {
			if id, err := strconv.Atoi(field); err == nil {
				ids = append(ids, id)
			}
		}
		if len(ids) == 2 {
			all[ids[0]] = ids[1]
		}
	}
	return all
}

// descendants are the children of a process, theirs, and so on.
func descendants(pid int, parents map[int]int) []int {
	var below []int
	for child, parent := range parents {
		if parent == pid && child != pid {
			below = append(below, child)
			below = append(below, descendants(child, parents)...)
		}
	}
	return below
}
