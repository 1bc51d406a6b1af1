// Package backend reads and writes the stacks of a state backend: their states, who
// holds their locks, the copies of a state in a directory, and its free space.
//
// Files of a local backend, and states, tags, locks and copies in a bucket, are read here, and written
// but for the states; for everything else the Pulumi CLI is asked.
package backend

import (
	"context"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/process"
)

// Backend is a state backend, as one user of it sees it. All fields are required
// that have no default.
type Backend struct {
	// URL of the backend; "" when the CLI is to be asked which one it uses.
	URL string
	// WorkDir is what a relative path in URL is relative to.
	WorkDir string
	// CLI answers what files do not.
	CLI CLI
	// Processes of this host, among which are the owners of locks.
	Processes process.Table
	// FreeSpace is how many bytes may still be written to the disk of a directory.
	// Default: what the operating system says.
	FreeSpace func(dir string) (uint64, error)
	// LockWait is how long to wait for a pulumi process whose driver is gone
	// before its lock counts as held.
	LockWait time.Duration
	// Flags that a remedy gives to the tombolo command it names. Default: none.
	Flags []string
	// Note says what people should know, such as what was recovered.
	Note func(stack, message string)
	// OwnCopies says that the CLI keeps copies of states because keepCopies told it
	// to: then they are removed when they are not needed any more.
	OwnCopies bool
	// Getenv reads a variable as the CLI sees it, for the access key of a bucket.
	// Default: what the SDK of its cloud finds.
	Getenv func(string) string

	opening   sync.Mutex
	opened    *bucket
	openedURL string
}

// CLI asks the Pulumi CLI about a backend. Its errors are for people.
type CLI interface {
	// LoggedIn is the URL of the backend that the CLI uses.
	LoggedIn(ctx context.Context) (string, error)
	// Stacks lists the stacks of the backend.
	Stacks(ctx context.Context) ([]auto.StackSummary, error)
	// Export returns the state of a stack, its secrets encrypted, and whether the
	// stack exists.
	Export(ctx context.Context, stack string) (raw apitype.UntypedDeployment, found bool, err error)
	// Manage runs a command on a stack, and returns what it wrote about errors,
	// also when it failed. The error calls the command by the operation.
	Manage(ctx context.Context, stack, operation string, args ...string) (stderr string, err error)
	// Tag reads a tag of a stack, "" for none, and SetTag writes one.
	Tag(ctx context.Context, stack, name string) (string, error)
	SetTag(ctx context.Context, stack, name, value string) error
}
