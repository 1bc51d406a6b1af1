// Package pulumicli runs the Pulumi CLI: how it is found, interrupted and answered, in
// which workspaces, with which plugins, and what its failures mean to people.
//
// The package knows stacks by their names, and nothing of clusters.
package pulumicli

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
)

// Options of a CLI. All are required that have no default.
type Options struct {
	// WorkDir is the directory that the CLI runs in, with a project file that is
	// written there.
	WorkDir string
	// Settings is the directory of the project whose clusters/ has the stacks'
	// settings. Default: they are kept in WorkDir.
	Settings string
	// Env is added to this process's environment.
	Env map[string]string
	// Getenv reads a variable as the CLI will see it.
	Getenv func(string) string
	// Home is where the CLI keeps plugins and credentials. Default: ~/.pulumi.
	Home string
	// Secrets is the secrets provider of new stacks. Default: the backend's own.
	Secrets string
	// Command runs the CLI. Default: the pulumi found in PATH.
	Command auto.PulumiCommand
	// Grace is the time between the first signal to a CLI that is cancelled and
	// the second.
	Grace time.Duration
	// Note says what people should know.
	Note func(stack, message string)
	// LockedBy is the error of an operation that met a lock, from what the CLI
	// wrote.
	LockedBy func(stack, text string) error
}

// CLI runs the Pulumi CLI. Make one with New.
type CLI struct {
	Options
	children *children

	commandOnce sync.Once
	command     auto.PulumiCommand
	commandErr  error

	// selecting serialises what the CLI cannot do in parallel: creating and
	// selecting stacks, and installing plugins.
	selecting sync.Mutex
	// pluginsDone has the lists of providers that are installed, by their names.
	pluginsDone map[string]bool
	// build says which plugins this program was built for.
	build func() (*debug.BuildInfo, bool)
}

// New makes a CLI. Whether there is one shows with the first call.
func New(o Options) *CLI {
	return &CLI{Options: o, children: newChildren(o.Grace), command: o.Command, pluginsDone: map[string]bool{}, build: debug.ReadBuildInfo}
}

// Home is where the CLI keeps plugins and credentials, given what it is told about
// it: ~/.pulumi when that is "".
func Home(told string) (string, error) {
	if told != "" {
		return told, nil
	}
	user, err := os.UserHomeDir()
	return filepath.Join(user, ".pulumi"), err
}

// Hurry ends the grace time of all processes whose context is cancelled, now or
// later. It may be called more than once, and from any goroutine.
func (p *CLI) Hurry() { p.children.hurry.Do(func() { close(p.children.hurried) }) }

// Abandon kills all processes with their children, and prevents further starts.
func (p *CLI) Abandon() { p.children.abandon() }
