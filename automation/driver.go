// Package automation drives a cluster's two stacks through the Pulumi
// Automation API: core first and bootstrap second, the reverse for teardown,
// with recovery from interrupted runs before each operation and a check of
// the hand-over afterwards.
//
// A Driver holds no state of its own: everything it knows is in the Pulumi
// backend. Methods for different clusters may run in parallel; methods for
// the same cluster are kept apart by the backend's lock.
//
// Errors are of four classes: fault.Precondition (nothing was started),
// backend.LockedError (somebody else is working on the stack), DeploymentError (an
// operation failed part of the way) and health.Error (everything was deployed,
// but the platform is not ready).
//
// An operation whose context is cancelled starts nothing more, lets the calls
// under way finish within Options.CancelGrace, releases its lock, and returns an
// error that wraps context.Canceled. Hurry cuts that short for all operations of
// a driver, still without a lock left behind; Abandon kills what runs.
package automation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/backend"
	"tombolo/automation/cloud"
	"tombolo/automation/handover"
	"tombolo/automation/kube"
	"tombolo/automation/preflight"
	"tombolo/automation/process"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/handoff"
)

// Observer is told what a driver does. Calls for one stack come in order;
// calls for different stacks may come from different goroutines.
type Observer interface {
	// StackPlanned is called before an operation whose number of changes is
	// known from the stack's state.
	StackPlanned(stack string, changes int)
	// StackStarted is called before an operation (up, preview, destroy,
	// refresh) on a stack.
	StackStarted(stack, operation string)
	// EngineEvent passes on an event of the Pulumi engine.
	EngineEvent(stack string, e events.EngineEvent)
	// StackFinished is called when the operation is over, with the number of
	// resources by operation (create, update, same, …). The counts are nil
	// when it failed before it made any.
	StackFinished(stack string, counts map[string]int, err error)
	// Waiting says what a verification of a cluster waits for now; "" when it
	// is over.
	Waiting(cluster, what string)
	// Note says something that people should know, such as what was
	// recovered from an interrupted run.
	Note(stack, message string)
}

// Options of a Driver. Only Root is required.
type Options struct {
	// Root is the project's directory, with Pulumi.yaml and clusters/.
	Root string
	// WorkDir is the directory the Pulumi CLI runs in. Default: Root. Another
	// directory gets a Pulumi.yaml of its own, and stack settings beside it,
	// so that tracked files stay as they are.
	WorkDir string
	// Env is added to this process's environment for the CLI and for the
	// kubeconfig's exec plugin; its PATH wins.
	Env map[string]string
	// Flags that a remedy gives to the tombolo command it names, such as
	// --lab. Default: none.
	Flags []string
	// BackendURL of the Pulumi state. Default: PULUMI_BACKEND_URL of Env or
	// of this process, else the one in Pulumi.yaml, else the backend the CLI is
	// logged in to when the driver is made: it stays with that one.
	BackendURL string
	// SecretsProvider for new stacks, as in `pulumi stack init
	// --secrets-provider`. Default: the backend's own.
	SecretsProvider string
	// PulumiHome is where the CLI keeps plugins and credentials. Default:
	// PULUMI_HOME, else ~/.pulumi.
	PulumiHome string
	// Observer of what happens. Default: nobody.
	Observer Observer
	// Command runs the Pulumi CLI. Default: the pulumi found in PATH.
	Command auto.PulumiCommand
	// LockWait is how long to wait for a pulumi process whose driver is gone
	// before its lock counts as held. Default 30s.
	LockWait time.Duration
	// CancelGrace is how long the CLI gets, after the first signal, to finish
	// the calls under way and release its lock, before it is told to terminate;
	// Hurry ends it. Default: DefaultCancelGrace.
	CancelGrace time.Duration
}

// DefaultCancelGrace is about what the slowest cloud call takes to notice that
// it is cancelled.
const DefaultCancelGrace = 5 * time.Minute

// Driver runs the stacks' life cycle. Make one with New.
type Driver struct {
	opts      Options
	env       map[string]string
	backend   *backend.Backend
	pulumi    *pulumicli.CLI
	program   func(*config.Cluster, stacks.Kind, stacks.Options) (pulumi.RunFunc, error)
	preflight func(context.Context, *config.Cluster, stacks.Options) error
	// reachGit asks a repository for the preflight, and asked are the accounts that
	// it has asked.
	reachGit func(context.Context, handover.Repository) error
	asked    preflight.Accounts
	cloud    func(*config.Cluster) cloud.Cloud
	dial     func(handoff.Values) (kube.Cluster, error)
	hub      func(*config.Cluster) (*config.Cluster, error)
	// probeTimeout is the constant of that name, but in tests.
	probeTimeout time.Duration
	now          func() time.Time
	// pauses are those of the function of that name, but in tests.
	pauses []time.Duration

	// pushing serialises pushes to Git: of two at a time to one branch, the
	// server refuses the second.
	pushing sync.Mutex
}

// New makes a driver. Besides the options it looks at which backend the CLI is
// logged in to: a missing CLI or backend is reported by the first operation, as a
// fault.Precondition.
func New(o Options) (*Driver, error) {
	if o.Root == "" {
		return nil, errors.New("automation: Options.Root is empty: set it to the directory of Pulumi.yaml")
	}
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	if found, err := o.backend(); err == nil { // else the CLI reports it
		o.BackendURL = found
	}
	d := &Driver{
		opts:      o,
		env:       o.environment(),
		program:   stacks.Program,
		preflight: stacks.Preflight,
		now:       time.Now,
	}
	d.reachGit = handover.Reach
	d.cloud = func(c *config.Cluster) cloud.Cloud { return cloud.Of(c, d.pulumi) }
	d.dial = d.connect
	d.hub = config.LoadHub
	d.probeTimeout = probeTimeout
	d.pauses = pauses()
	d.pulumi = pulumicli.New(pulumicli.Options{
		Root: o.Root, WorkDir: o.WorkDir, Env: d.env, Getenv: o.lookupEnv, Home: o.PulumiHome, Secrets: o.SecretsProvider,
		Command: o.Command, Grace: o.CancelGrace, Note: o.Observer.Note,
		LockedBy: func(stack, text string) error { return d.backend.LockedBy(stack, text) },
	})
	d.backend = &backend.Backend{
		URL: o.BackendURL, WorkDir: o.WorkDir, CLI: d.pulumi, Processes: process.Host{},
		LockWait: o.LockWait, Flags: o.Flags, Note: o.Observer.Note,
	}
	d.backend.KeepCopies(o.lookupEnv, d.env)
	return d, nil
}

// Backend is the URL of the state that a driver with these options works on, as
// the CLI finds it and without starting one. A directory has its absolute path,
// and a password is left out: the URL tells backends from each other, and opens
// none. It is "" when the CLI is logged in nowhere.
func (o Options) Backend() (string, error) {
	if err := o.setDefaults(); err != nil {
		return "", err
	}
	found, err := o.backend()
	if err != nil || found == "" {
		return "", err
	}
	return backend.Identity(found, o.WorkDir), nil
}

// backend is the URL as it was given; "" when the CLI is logged in nowhere.
func (o *Options) backend() (string, error) {
	if o.BackendURL != "" {
		return o.BackendURL, nil
	}
	return backend.Search{Root: o.Root, Home: func() (string, error) { return pulumicli.Home(o.PulumiHome) }, Getenv: o.lookupEnv}.Find()
}

func (o *Options) setDefaults() error {
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return fmt.Errorf("resolve project directory %s: %w", o.Root, err)
	}
	o.Root = root
	if o.WorkDir == "" {
		o.WorkDir = root
	}
	if o.WorkDir, err = filepath.Abs(o.WorkDir); err != nil {
		return fmt.Errorf("resolve working directory %s: %w", o.WorkDir, err)
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.LockWait == 0 {
		o.LockWait = 30 * time.Second
	}
	if o.CancelGrace == 0 {
		o.CancelGrace = DefaultCancelGrace
	}
	if o.BackendURL == "" {
		o.BackendURL = o.lookupEnv("PULUMI_BACKEND_URL")
	}
	if o.PulumiHome == "" {
		o.PulumiHome = o.lookupEnv("PULUMI_HOME")
	}
	return nil
}

// lookupEnv reads a variable as the CLI will see it.
func (o *Options) lookupEnv(key string) string {
	if v, ok := o.Env[key]; ok {
		return v
	}
	return os.Getenv(key)
}

// environment is what every call of the CLI gets in addition to this
// process's own environment.
func (o *Options) environment() map[string]string {
	env := maps.Clone(o.Env)
	if env == nil {
		env = map[string]string{}
	}
	env["PULUMI_SKIP_UPDATE_CHECK"] = "true"
	if o.lookupEnv("GOGC") == "" {
		env["GOGC"] = collectLess
	}
	if o.lookupEnv(stateSecrets) == "" {
		env[stateSecrets] = "true"
	}
	if o.BackendURL != "" {
		env["PULUMI_BACKEND_URL"] = o.BackendURL
	}
	if o.PulumiHome != "" {
		env["PULUMI_HOME"] = o.PulumiHome
	}
	return env
}

// stateSecrets has the CLI look into the state for what encrypts a stack's secrets
// when its settings file does not say it, as on a machine that did not make the
// stack. Otherwise it goes on with a passphrase, and encrypts the state anew.
const stateSecrets = "PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER"

// collectLess is GOGC for the CLI and its plugins, which live for seconds: at Go's
// default of 100 an engine that changes nothing spends a fifth of its CPU time
// on garbage, and has 190 MB instead of 250 MB at its peak.
const collectLess = "200"

// nobody is the observer of a driver that has none.
type nobody struct{}

func (nobody) StackStarted(string, string)                 {}
func (nobody) EngineEvent(string, events.EngineEvent)      {}
func (nobody) StackFinished(string, map[string]int, error) {}
func (nobody) StackPlanned(string, int)                    {}
func (nobody) Waiting(string, string)                      {}
func (nobody) Note(string, string)                         {}

// Hurry ends the grace time of operations whose context was cancelled: each
// Pulumi CLI that is still at work is told a second time, gives up the calls
// under way, writes its state and releases its lock. What it gave up is pending
// in the state, and the next operation finds out what became of it. Operations
// whose context is not cancelled go on; cancelled later, they get no grace time.
// It returns at once, may be called more than once, and from any goroutine.
func (d *Driver) Hurry() { d.pulumi.Hurry() }

// Abandon kills every Pulumi CLI that the driver runs, with its plugins, and
// lets no further one start. Their locks stay; the next operation finds that
// nobody holds them, and recovers. It is the last step before a process leaves
// that was told to cancel, and to hurry, and cannot wait.
func (d *Driver) Abandon() { d.pulumi.Abandon() }
