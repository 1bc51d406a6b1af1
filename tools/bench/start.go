package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// start is what the start of bin/tombolo costs, which every command pays before its work.
type start struct {
	// MB is the size of the file, not stripped.
	MB float64 `json:"mb"`
	// Seconds from start to end, and the processors' share of it: medians of the rounds.
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"`
	// ResidentMB is the most memory that a round had.
	ResidentMB float64 `json:"residentMB"`
}

// startRounds is how often the program is started.
const startRounds = 31

// measureStart runs `tombolo version`, which does nothing else.
func measureStart(ctx context.Context, o options) (*start, error) {
	program := o.program()
	file, err := os.Stat(program)
	if err != nil {
		return nil, err
	}
	out := &start{MB: float64(file.Size()) / (1 << 20)}
	var wall, work []float64
	for range startRounds {
		cmd := exec.CommandContext(ctx, program, "version")
		began := time.Now()
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", cmd, err, text)
		}
		wall = append(wall, time.Since(began).Seconds())
		work = append(work, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
		if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			out.ResidentMB = max(out.ResidentMB, float64(used.Maxrss)/(1<<10)) // in KB on Linux
		}
	}
	slices.Sort(wall)
	slices.Sort(work)
	out.Seconds, out.CPU = wall[len(wall)/2], work[len(work)/2]
	return out, nil
}
