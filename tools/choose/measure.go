package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// recordRun writes the times of a run's tests into the list: seconds of the clock, and of CPU as
// their part of all that the run took. A test that did not pass there keeps what it has.
func recordRun(entries []entry, jsonfile string, cpu int) error {
	text, err := os.ReadFile(jsonfile)
	if err != nil {
		return fmt.Errorf("reading the run: %w", err)
	}
	took, all := map[string]float64{}, 0.0
	for line := range bytes.Lines(text) {
		var event struct {
			Action, Package, Test string
			Elapsed               float64
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return fmt.Errorf("reading the run: %w", err)
		}
		if event.Action == "pass" && event.Test != "" && !strings.Contains(event.Test, "/") {
			took[strings.TrimPrefix(event.Package, "tombolo/")+" "+event.Test] = event.Elapsed
		}
	}
	for _, e := range entries {
		all += took[e.Package+" "+e.Test]
	}
	for i, e := range entries {
		seconds, passed := took[e.Package+" "+e.Test]
		if !passed {
			continue
		}
		entries[i].Wall = up(seconds)
		if cpu > 0 {
			entries[i].set(up(seconds*float64(cpu)/all), false)
		}
	}
	return write(list, entries)
}

// up is a number of seconds in whole ones, at least one.
func up(seconds float64) int { return max(1, int(math.Ceil(seconds))) }

// set is what the test takes of the processors, in the short tier alone or in all.
func (e *entry) set(cpu int, onlyShort bool) {
	switch {
	case onlyShort:
		e.Short = cpu
	case e.Tier == short:
		e.CPU, e.Short = cpu, cpu
	default:
		e.CPU = cpu
	}
}

// measureAll runs the tests that a pattern matches one by one, and writes what the machine did
// meanwhile into the list: it must have nothing else to do.
func measureAll(ctx context.Context, entries []entry, pattern string, flags []string, out io.Writer) error {
	matches, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("reading the pattern of tests: %w", err)
	}
	room, err := os.MkdirTemp("", "tombolo-measure-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(room)
	for i, e := range entries {
		if !matches.MatchString(e.Test) {
			continue
		}
		program, err := compile(ctx, room, e.Package, flags)
		if err != nil {
			return err
		}
		for _, onlyShort := range []bool{false, true} {
			if onlyShort && e.Tier != part {
				continue
			}
			cpu, err := measure(ctx, program, e, onlyShort)
			if err != nil {
				return err
			}
			entries[i].set(cpu, onlyShort)
			fmt.Fprintf(out, "%s %s, short %t: %d s\n", e.Package, e.Test, onlyShort, cpu)
		}
	}
	return write(list, entries)
}

// compile makes the program of a package's tests, once.
func compile(ctx context.Context, room, pkg string, flags []string) (string, error) {
	program := filepath.Join(room, strings.ReplaceAll(pkg, "/", "-")+".test")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	args := slices.Concat([]string{"test", "-c", "-o", program}, flags, []string{"./" + pkg})
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("compiling the tests of %s: %w\n%s", pkg, err, out)
	}
	return program, nil
}

// measure is what the machine's processors did while a test ran, in seconds.
func measure(ctx context.Context, program string, e entry, onlyShort bool) (int, error) {
	before, err := worked()
	if err != nil {
		return 0, err
	}
	args := []string{"-test.run", "^" + e.Test + "$", "-test.timeout", "30m"}
	if onlyShort {
		args = append(args, "-test.short")
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = e.Package
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("measuring %s: %w\n%s", e.Test, err, out)
	}
	after, err := worked()
	return up((after - before).Seconds()), err
}

// worked is how long the machine's processors have worked since it started.
func worked() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("reading what the machine does: %w; only Linux tells", err)
	}
	return workedOf(string(text))
}

// workedOf reads /proc/stat: hundredths of seconds of user, nice, system, idle, iowait, irq and
// softirq (proc_stat(5)).
func workedOf(text string) (time.Duration, error) {
	var user, nice, system, idle, iowait, irq, softirq int64
	if _, err := fmt.Sscanf(text, "cpu %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &iowait, &irq, &softirq); err != nil {
		return 0, errors.Join(errors.New("reading what the machine does: /proc/stat has another form"), err)
	}
	return time.Duration(user+nice+system+irq+softirq) * 10 * time.Millisecond, nil
}
