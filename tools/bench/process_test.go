package bench

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// The time until the first look at a command's memory, and the longest between two. It
// doubles in between, so that a command of a moment is seen, and a long one not disturbed.
const (
	sampleFirst = 50 * time.Millisecond
	sampleEvery = time.Second
)

// usage is what a command took, with all that it started.
type usage struct {
	// Wall and CPU in seconds, Peak the largest sum of the processes' memory,
	// pages that they share counted once (PSS).
	Wall, CPU, Peak float64
}

// measure runs a command to its end.
func measure(ctx context.Context, cmd *exec.Cmd) (usage, error) {
	var output bytes.Buffer
	cmd.Stderr = &output
	if cmd.Stdout == nil {
		cmd.Stdout = &output
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	wait := sampleFirst
	tick := time.NewTimer(wait)
	defer tick.Stop()
	var u usage
	for {
		select {
		case err := <-exited:
			u.Wall = time.Since(start).Seconds()
			u.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
			if ctx.Err() != nil {
				return u, ctx.Err()
			}
			if err != nil {
				return u, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, output.Bytes())
			}
			return u, nil
		case <-tick.C:
			u.Peak = max(u.Peak, memory(cmd.Process.Pid))
			wait = min(2*wait, sampleEvery)
			tick.Reset(wait)
		}
	}
}

// memory is what a process and its descendants have, in bytes.
func memory(pid int) float64 {
	var bytes uint64
	for _, p := range family(pid) {
		if maps, err := p.ProcSMapsRollup(); err == nil { // else it has ended
			bytes += maps.Pss
		}
	}
	return float64(bytes)
}

// ticksPerSecond of the times in /proc, which is the same on every Linux.
const ticksPerSecond = 100

// cpu is what a process and its living descendants have taken so far, with those
// of their children that have ended, in seconds.
func cpu(pid int) float64 {
	var ticks float64
	for _, p := range family(pid) {
		if s, err := p.Stat(); err == nil {
			ticks += float64(s.UTime+s.STime) + float64(s.CUTime+s.CSTime)
		}
	}
	return ticks / ticksPerSecond
}

// family is a process and its descendants.
func family(pid int) []procfs.Proc {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil
	}
	children := map[int][]procfs.Proc{}
	var found []procfs.Proc
	for _, p := range all {
		if s, err := p.Stat(); err == nil {
			children[s.PPID] = append(children[s.PPID], p)
		}
		if p.PID == pid {
			found = append(found, p)
		}
	}
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].PID]...)
	}
	return found
}
