package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// measured is everything that was measured. Parts are measured apart, and keep
// what they have until they are measured again.
type measured struct {
	Machine   machine    `json:"machine"`
	Fleets    *fleets    `json:"fleets,omitempty"`
	Driver    *driver    `json:"driver,omitempty"`
	Scheduler *scheduler `json:"scheduler,omitempty"`
}

// machine that the last part was measured on.
type machine struct {
	Date     string  `json:"date"`
	System   string  `json:"system"`
	CPU      string  `json:"cpu"`
	Cores    int     `json:"cores"`
	MemoryGB float64 `json:"memoryGB"`
	Go       string  `json:"go"`
	// Load is the average over the minute before the document was written: on a
	// machine with something else to do, times are not to be trusted.
	Load float64 `json:"load"`
}

// load reads what earlier runs have measured; nothing where none has.
func load(file string) (measured, error) {
	var m measured
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("read %s: %w", file, err)
	}
	return m, nil
}

// save writes what was measured, and the document and the plot of it.
func (m measured) save(o options) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(o.records, append(text, '\n'), 0o644); err != nil {
		return err
	}
	if m.Fleets != nil {
		if err := os.WriteFile(o.plot, plot(m.Fleets, m.Machine.Cores), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(o.document, m.markdown(), 0o644)
}

// durations of ups that made a cluster, for the scheduler.
func (m measured) durations() []time.Duration {
	if m.Fleets == nil {
		return nil
	}
	var out []time.Duration
	for _, f := range m.Fleets.Fleets {
		for _, s := range f.Durations {
			out = append(out, seconds(s))
		}
	}
	return out
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func thisMachine() (machine, error) {
	m := machine{
		Date: time.Now().UTC().Format(time.DateOnly), System: runtime.GOOS + "/" + runtime.GOARCH,
		CPU: procValue("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(), Go: runtime.Version(),
	}
	kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(procValue("/proc/meminfo", "MemTotal"), " kB"), 64)
	if err != nil {
		return m, fmt.Errorf("read this machine's memory: %w", err)
	}
	m.MemoryGB = kilobytes / (1 << 20)
	average, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return m, err
	}
	first, _, _ := strings.Cut(string(average), " ")
	m.Load, err = strconv.ParseFloat(first, 64)
	return m, err
}

// procValue is the first value of a key in a file of /proc; "" without.
func procValue(file, key string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(text) {
		name, value, ok := strings.Cut(string(line), ":")
		if ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
