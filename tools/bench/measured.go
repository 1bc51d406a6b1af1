package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/prometheus/procfs"
)

// measured is everything that was measured. Parts are measured apart, and keep
// what they have until they are measured again.
type measured struct {
	// Machines are what parts were measured on, by part.
	Machines map[string]machine `json:"machines"`
	taken
	Before *before `json:"before,omitempty"`
}

// taken is what the programs of one checkout took, by part.
type taken struct {
	Fleets    *fleets     `json:"fleets,omitempty"`
	Driver    *driver     `json:"driver,omitempty"`
	Unchanged *unchanged  `json:"unchanged,omitempty"`
	Chain     *chain      `json:"chain,omitempty"`
	Scheduler *scheduler  `json:"scheduler,omitempty"`
	Systems   *systems    `json:"systems,omitempty"`
	Delivery  *deliveries `json:"delivery,omitempty"`
	Rebuild   *rebuilds   `json:"rebuild,omitempty"`
	Start     *start      `json:"start,omitempty"`
}

// machine that a part was measured on.
type machine struct {
	Date     string  `json:"date"`
	System   string  `json:"system"`
	CPU      string  `json:"cpu"`
	Cores    int     `json:"cores"`
	MemoryGB float64 `json:"memoryGB"`
	Go       string  `json:"go"`
	// Load is the average over the part's last minute: on a machine with something
	// else to do, times are not to be trusted.
	Load float64 `json:"load"`
}

// load reads what earlier runs have measured; nothing where none has.
func load(file string) (measured, error) {
	m := measured{Machines: map[string]machine{}}
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
		if err := os.WriteFile(o.plot, plot(m.Fleets, m.Machines[partClusters].Cores), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(o.document, m.markdown(), 0o644)
}

// durations of ups that made a cluster, for the scheduler.
func (m taken) durations() []time.Duration {
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
		Cores: runtime.NumCPU(), Go: runtime.Version(),
	}
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return m, fmt.Errorf("read about this machine: %w", err)
	}
	processors, errCPU := proc.CPUInfo()
	memory, errMemory := proc.Meminfo()
	load, errLoad := proc.LoadAvg()
	if err := errors.Join(errCPU, errMemory, errLoad); err != nil {
		return m, fmt.Errorf("read about this machine: %w", err)
	}
	m.CPU, m.MemoryGB, m.Load = processors[0].ModelName, float64(*memory.MemTotalBytes)/(1<<30), load.Load1
	return m, nil
}
