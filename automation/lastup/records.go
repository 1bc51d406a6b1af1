// Package lastup records an up that ended well, and finds out what has changed since: see package
// unchanged.
package lastup

import (
	"fmt"
	"time"

	"tombolo/automation/approved"
	"tombolo/automation/backend"
	"tombolo/automation/connect"
	"tombolo/automation/unchanged"
	"tombolo/config"
)

// Records are those of the last ups, in tags of the stacks. All fields are required.
type Records struct {
	Backend   *backend.Backend
	Connector connect.Connector
	// Program that ups are recorded of.
	Program func() (approved.Program, error)
	// Identity tells the backend from others, and Settings is the directory of the stacks' settings.
	Identity, Settings string
	// LoadHub loads the cluster file of a spoke's hub.
	LoadHub func(*config.Cluster) (*config.Cluster, error)
	// Key of the digests of secrets.
	Key func() (unchanged.Key, error)
	// Note says what people should know of a stack.
	Note func(stack, message string)
	// Now is the time, and Who runs the driver.
	Now func() time.Time
	Who func() string
}

// Up is the up that a cluster is unchanged since.
type Up struct {
	// At is when it ended, and By who ran it, such as alice@laptop.
	At time.Time `json:"at"`
	By string    `json:"by"`
}

// String is a text such as "up of 2026-11-25T14:40:00Z by alice@laptop".
func (u Up) String() string {
	return fmt.Sprintf("up of %s by %s", u.At.UTC().Format(time.RFC3339), u.By)
}
