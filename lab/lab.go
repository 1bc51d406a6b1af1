// Package lab runs Tombolo's lab: real control planes and GitOps controllers
// as host processes, behind stand-ins for the cloud, the Git server and the
// chart repository.
//
// One daemon (Serve) supervises all of it. Up starts the daemon, Down ends it,
// and both live in the checkout: state in .lab, tools in .tools.
package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tombolo/lab/control"
	"tombolo/lab/standin"
)

// The account and region that the lab's stand-in answers for.
const (
	Account = "111122223333"
	Region  = "eu-central-1"
)

// ErrNotRunning is wrapped by what needs a running lab.
var ErrNotRunning = control.ErrNotRunning

// ErrHangs is wrapped by what needs a lab that answers.
var ErrHangs = control.ErrHangs

// Lab is the lab of one checkout.
type Lab struct{ root string }

// daemon is who answers for the lab.
func (l *Lab) daemon() control.Client { return control.Client{File: l.paths().daemon()} }

// Open returns the lab of a checkout. It starts nothing and makes no files.
func Open(root string) *Lab {
	if abs, err := filepath.Abs(root); err == nil {
		root = abs
	}
	return &Lab{root: root}
}

// Root is the checkout, an absolute path.
func (l *Lab) Root() string { return l.root }

// Step is the progress of Up and Down.
type Step = control.Step

// The states of a step.
const (
	StepDoing  = control.StepDoing
	StepDone   = control.StepDone
	StepFailed = control.StepFailed
	StepNote   = control.StepNote
)

// Status is what the lab consists of now.
type Status struct {
	// Running says that the daemon answers.
	Running bool `json:"running"`
	// PID of the daemon; 0 when it is not running.
	PID int `json:"pid,omitempty"`
	// Since is when the daemon was started.
	Since time.Time `json:"since,omitzero"`
	// Profile of the lab; empty when it is not running.
	Profile Profile `json:"profile,omitempty"`
	// Endpoints that the lab serves.
	Endpoints []Endpoint `json:"endpoints"`
	// Processes that the daemon supervises, by name.
	Processes []Process `json:"processes"`
	// Inventory is what exists in the cloud's stand-in; what it has on disk,
	// when the daemon is not running.
	Inventory []Item `json:"inventory"`
	// Notes are things to know, such as why the Git repository was not updated.
	Notes []string `json:"notes,omitempty"`
}

// Endpoint is something the lab serves.
type Endpoint struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Process is a supervised process.
type Process struct {
	Name string `json:"name"`
	// PID is 0 when it does not run.
	PID int `json:"pid,omitempty"`
	// State is starting, running, restarting, failed or stopped.
	State string `json:"state"`
	// Since is when it entered State.
	Since time.Time `json:"since"`
	// Restarts since the daemon started it first.
	Restarts int `json:"restarts"`
	// Detail says why it is not running, or why it last ended.
	Detail string `json:"detail,omitempty"`
}

// Item is a resource in the cloud's stand-in.
type Item = standin.Item

// Processes lists the names that have a log, whether they run or not.
func (l *Lab) Processes() ([]string, error) {
	entries, err := os.ReadDir(l.paths().logs())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the lab's logs: %w", err)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".log"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// LogFile is the path of a process's log. An unknown process is an error that
// lists the known ones.
func (l *Lab) LogFile(process string) (string, error) {
	names, err := l.Processes()
	if err != nil {
		return "", err
	}
	switch {
	case slices.Contains(names, process):
		return filepath.Join(l.paths().logs(), process+".log"), nil
	case len(names) == 0:
		return "", fmt.Errorf("find the log of %q: no process has a log: %w", process, ErrNotRunning)
	}
	return "", fmt.Errorf("find the log of %q: there is none; use one of %s", process, strings.Join(names, ", "))
}
