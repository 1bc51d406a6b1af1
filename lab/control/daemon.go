// Package control is what is said on the socket of the lab's daemon, and the client of it.
// It knows nothing of what the daemon does: cmd/lab-aws starts at once with it.
package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tombolo/lab/process"
)

// Protocol is what is said on the socket, and what the daemon's ports want. It changes
// with what an older daemon does not know.
const Protocol = 4

// Daemon says how to reach the daemon, and tells whether a pid still is it.
type Daemon struct {
	PID      int    `json:"pid"`
	Identity string `json:"identity"`
	Socket   string `json:"socket"`
	// Protocol is that of the daemon's program; one from before has 0.
	Protocol int `json:"protocol"`
}

// File is where the daemon of the lab of a checkout is written down.
func File(root string) string { return filepath.Join(root, ".lab", "daemon.json") }

// ReadDaemon returns what the last daemon left in its file; false when there is none.
func ReadDaemon(path string) (Daemon, bool, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Daemon{}, false, nil
	}
	if err != nil {
		return Daemon{}, false, fmt.Errorf("read %s: %w", path, err)
	}
	var d Daemon
	if err := json.Unmarshal(data, &d); err != nil {
		return Daemon{}, false, nil // cut short by a crash: no daemon wrote it to its end
	}
	return d, true, nil
}

// Alive says that the daemon runs.
func (d Daemon) Alive() bool { return d.Identity != "" && process.Identity(d.PID) == d.Identity }

// SecretsVariable is the environment variable with the secrets provider of a lab's new stacks: a
// key that the daemon serves, and keeps until the lab is removed. The passphrase, which the
// environment has too, is of stacks from before, and of those that plain pulumi makes.
const SecretsVariable = "TOMBOLO_LAB_SECRETS"

// StepState is how far a step has got.
type StepState string

// The states of a step.
const (
	StepDoing  StepState = "doing"
	StepDone   StepState = "done"
	StepFailed StepState = "failed"
	// StepNote is no work, but something to know.
	StepNote StepState = "note"
)

// Step is the progress of the lab's start and end. A step is reported when it begins and
// when it ends.
type Step struct {
	// Name of the step, such as "start the lab".
	Name string
	// State of the step.
	State StepState
	// Detail says more, such as what was recovered. It may be empty.
	Detail string
	// Elapsed since the step began; 0 when it begins.
	Elapsed time.Duration
}
