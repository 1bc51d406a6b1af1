package preflight

import (
	"context"
	"errors"
	"strings"

	"tombolo/automation/fault"
	"tombolo/automation/reach"
	"tombolo/config"
)

// Machine is where the driver runs.
type Machine interface {
	// Env reads a variable as the Pulumi CLI will see it.
	Env(key string) string
	// Has says whether a program is in PATH.
	Has(program string) bool
	// Run runs a program in PATH, and returns what it prints.
	Run(ctx context.Context, program string, args ...string) (string, error)
	// CLI says why the Pulumi CLI cannot be run; nil when it can.
	CLI(ctx context.Context) error
	// Home is where the Pulumi CLI keeps plugins; "" when it is not known.
	Home() string
}

// Backend keeps the states of the stacks.
type Backend interface {
	// ListStacks says why the stacks cannot be listed; nil when they can.
	ListStacks(ctx context.Context) error
	// Dir is the directory of a local backend.
	Dir() (dir string, local bool)
	// Scarce says that Dir has too little space; "" when it has enough.
	Scarce() string
	// Holders say for each lock of a stack whose it is, such as "locked by ada".
	Holders(stack string) ([]string, error)
	// Core is what the state of the cluster's core has. One that cannot be read
	// has nothing, and is a finding of the backend's.
	Core(ctx context.Context, c *config.Cluster) Core
}

// Surroundings are what a cluster needs that neither machine nor backend has.
type Surroundings interface {
	// Cloud is the provider of the cluster's cloud.
	Cloud(c *config.Cluster) Cloud
	// Repository says why the cluster's engine cannot read its repository.
	Repository(ctx context.Context, c *config.Cluster) error
	// Needs says what is missing of the engine's distribution and of secrets.
	Needs(ctx context.Context, c *config.Cluster) error
	// Reach judges whether this machine reaches the cluster's API.
	Reach(ctx context.Context, c *config.Cluster) (reach.Judgement, error)
	// API says why the cluster's API does not answer (silence), or why it cannot
	// be asked.
	API(ctx context.Context, c *config.Cluster) (silence, err error)
	// Hub says why a hub that others run does not let the cluster register.
	Hub(ctx context.Context, c *config.Cluster) error
	// HubOf reads the file of the cluster's hub.
	HubOf(c *config.Cluster) (*config.Cluster, error)
}

// Doctor examines clusters. It changes nothing in the cloud, in a cluster or in
// a state.
type Doctor struct {
	Machine
	Backend
	Surroundings
	// Root is the project's directory, from where places in files are told.
	Root string
	// Accounts that were asked already.
	Accounts *Accounts
}

// withoutCLI is the finding of a check that the Pulumi CLI is missing for, which
// is a finding of its own.
func withoutCLI(check string) Finding {
	return Bad(check, Warn, "install the Pulumi CLI first", "not asked for without the Pulumi CLI")
}

// because is the finding of a check that failed with an error. The remedy is for
// an error that has none of its own.
func because(err error, check, remedy string) Finding {
	if p := new(fault.Error); errors.As(err, &p) {
		return Bad(check, Fail, p.Remedy, "%s", p.What)
	}
	return Bad(check, Fail, remedy, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
}
