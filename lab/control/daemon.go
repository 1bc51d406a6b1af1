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
