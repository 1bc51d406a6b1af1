package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sampleEvery is the time between two looks at a command's memory.
const sampleEvery = 250 * time.Millisecond

// usage is what a command took, with all that it started.
type usage struct {
	// Wall and CPU in seconds, PeakMB the largest sum of the processes' memory,
	// pages that they share counted once (PSS).
	Wall   float64 `json:"wall"`
	CPU    float64 `json:"cpu"`
	PeakMB float64 `json:"peakMB"`
}

// measure runs a command to its end.
func measure(ctx context.Context, cmd *exec.Cmd) (usage, error) {
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	tick := time.NewTicker(sampleEvery)
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
			u.PeakMB = max(u.PeakMB, memory(cmd.Process.Pid))
		}
	}
}

// memory is what a process and its descendants have, in MB.
func memory(pid int) float64 {
	var sum float64
	for _, p := range family(pid) {
		pss := procValue(filepath.Join("/proc", strconv.Itoa(p), "smaps_rollup"), "Pss")
		if kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(pss, " kB"), 64); err == nil {
			sum += kilobytes / 1024
		}
	}
	return sum
}

// ticksPerSecond of the times in /proc, which is the same on every Linux.
const ticksPerSecond = 100

// cpu is what a process and its living descendants have taken so far, with those
// of their children that have ended, in seconds.
func cpu(pid int) float64 {
	var ticks float64
	for _, p := range family(pid) {
		fields := stat(p)
		for _, f := range fields[min(len(fields), 11):min(len(fields), 15)] {
			if n, err := strconv.ParseFloat(f, 64); err == nil {
				ticks += n
			}
		}
	}
	return ticks / ticksPerSecond
}

// family is a process and its descendants.
func family(pid int) []int {
	children := map[int][]int{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	for _, dir := range dirs {
		child, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if fields := stat(child); len(fields) > 1 {
			if parent, err := strconv.Atoi(fields[1]); err == nil {
				children[parent] = append(children[parent], child)
			}
		}
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// stat are the fields of /proc/<pid>/stat from the state on; none when the
// process is gone.
func stat(pid int) []string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')'):]), " ")
	return strings.Fields(rest)
}
