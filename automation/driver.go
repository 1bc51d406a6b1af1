// Package automation drives a cluster's two stacks through the Pulumi
// Automation API: core first and bootstrap second, the reverse for teardown,
// with recovery from interrupted runs before each operation and a check of
// the hand-over afterwards.
//
// A Driver holds no state of its own: everything it knows is in the Pulumi
// backend. Methods for different clusters may run in parallel; methods for
// the same cluster are kept apart by the backend's lock.
//
// Errors are of four classes: fault.Error (nothing was started, unless its class says otherwise),
// backend.LockedError (another operation works on the stack), pulumicli.Error or
// fault.Error with its class Deployment (an operation failed part of the way), and
// health.Error (everything was deployed, but the platform is not ready).
//
// An operation whose context is cancelled starts nothing more, lets the calls
// under way finish within Options.CancelGrace, releases its lock, and returns an
// error that wraps context.Canceled. Hurry cuts that short for all operations of
// a driver, still without a lock left behind; Abandon kills what runs.
package automation

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/addons"
	"tombolo/automation/approval"
	"tombolo/automation/backend"
	"tombolo/automation/cloud"
	"tombolo/automation/connect"
	"tombolo/automation/handover"
	"tombolo/automation/hubs"
	"tombolo/automation/kube"
	"tombolo/automation/lastup"
	"tombolo/automation/operation"
	"tombolo/automation/own"
	"tombolo/automation/preflight"
	"tombolo/automation/preview"
	"tombolo/automation/process"
	"tombolo/automation/pulumicli"
	"tombolo/automation/reach"
	"tombolo/automation/rebuild"
	"tombolo/automation/unchanged"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
	"tombolo/stacks/handoff"
)

// Driver runs the stacks' life cycle. Make one with New.
type Driver struct {
	opts    Options
	env     map[string]string
	backend *backend.Backend
	pulumi  *pulumicli.CLI
	deps    deps
	// assumesReach is AssumeReachable.
	assumesReach bool
	// asked are the accounts that the preflight has asked, starts those of ups that make clusters, and
	// pushing serialises pushes to Git.
	asked   preflight.Accounts
	starts  *operation.Starts
	pushing sync.Mutex
}

// deps are what a driver asks of others. New makes the real ones; tests set theirs.
type deps struct {
	// program of a stack, and preflight, which checks what the programs of a cluster will need.
	program   func(*config.Cluster, stacks.Kind, catalog.Options) (pulumi.RunFunc, error)
	preflight func(context.Context, *config.Cluster, catalog.Options) error
	// reachGit asks a repository for the preflight.
	reachGit func(context.Context, handover.Repository) error
	// cloud of a cluster.
	cloud func(*config.Cluster) cloud.Cloud
	// dial makes clients for a cluster, and dialHub for a hub that others run. loadHub loads the cluster
	// file of a spoke's hub.
	dial    func(handoff.Values) (kube.Cluster, error)
	dialHub func(kubeconfig []byte) (kube.Cluster, error)
	loadHub func(*config.Cluster) (*config.Cluster, error)
	// secretsKey is of the digests of secrets by which an up is recorded.
	secretsKey func() (unchanged.Key, error)
	// now is the time.
	now func() time.Time
	// probeTimeout is how long a Kubernetes API may take to answer before it counts as unreachable, and
	// pauses are those before an up is tried again.
	probeTimeout time.Duration
	pauses       []time.Duration
}

// New makes a driver. Besides the options it looks at which backend the CLI is
// logged in to: a missing CLI or backend is reported by the first operation, as a
// fault.Error.
func New(o Options) (*Driver, error) {
	if o.Root == "" {
		return nil, errors.New("automation: Options.Root is empty: set it to the directory of Pulumi.yaml")
	}
	if o.Programs.Of == nil || o.Clouds.Of == nil {
		return nil, errors.New("automation: Options.Programs or Options.Clouds is empty: set them to programs.All() and clouds.All()")
	}
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	if found, err := o.backend(); err == nil { // else the CLI reports it
		o.BackendURL = backend.Absolute(found, o.base())
	}
	settings := ""
	if o.WorkDir == "" {
		var err error
		if o.WorkDir, err = o.ownWorkDir(); err != nil {
			return nil, err
		}
		settings = o.Settings
	}
	d := &Driver{opts: o, env: o.environment(), starts: operation.NewStarts(runtime.NumCPU())}
	d.deps = d.realDeps()
	d.pulumi = pulumicli.New(pulumicli.Options{
		WorkDir: o.WorkDir, Settings: settings, Env: d.env, Getenv: o.lookupEnv, Home: o.PulumiHome, Secrets: o.SecretsProvider,
		Command: o.Command, Grace: o.CancelGrace, Note: o.Observer.Note,
		LockedBy: func(stack, text string) error { return d.backend.LockedBy(stack, text) },
	})
	d.backend = &backend.Backend{
		URL: o.BackendURL, WorkDir: o.WorkDir, CLI: d.pulumi, Processes: process.Host{},
		LockWait: o.LockWait, Flags: o.Flags, Note: o.Observer.Note, Getenv: o.lookupEnv,
	}
	d.backend.KeepCopies(o.lookupEnv, d.env)
	return d, nil
}

// Hurry ends the grace time of operations whose context was cancelled: each
// Pulumi CLI that is still at work is told a second time, gives up the calls
// under way, writes its state and releases its lock. What it gave up is pending
// in the state, and the next operation finds out what became of it. Operations
// whose context is not cancelled go on; cancelled later, they get no grace time.
// It returns at once, may be called more than once, and from any goroutine.
func (d *Driver) Hurry() { d.pulumi.Hurry() }

// Abandon kills every Pulumi CLI that the driver runs, with its plugins, and
// lets no further one start. Their locks stay; the next operation finds that
// they have no owner, and recovers. It is the last step before a process leaves
// that was told to cancel, and to hurry, and cannot wait.
func (d *Driver) Abandon() { d.pulumi.Abandon() }

// realDeps are those that are not of tests.
func (d *Driver) realDeps() deps {
	return deps{
		program:   d.opts.Programs.Of,
		preflight: d.opts.Programs.Preflight,
		reachGit:  handover.Reach,
		cloud:     func(c *config.Cluster) cloud.Cloud { return d.opts.Clouds.Of(c, d.pulumi) },
		dial:      func(values handoff.Values) (kube.Cluster, error) { return connect.Dial(values, d.env) },
		dialHub:   func(kubeconfig []byte) (kube.Cluster, error) { return kube.ConnectWith(kubeconfig, d.env) },
		loadHub:   config.LoadHub,
		secretsKey: sync.OnceValues(func() (unchanged.Key, error) {
			secret, err := approval.Secret(d.opts.lookupEnv)
			if err != nil {
				return unchanged.Key{}, err
			}
			return unchanged.NewKey(secret, backend.Identity(d.opts.BackendURL, d.opts.base()))
		}),
		now: time.Now,
		// A control plane that restarts is back well before.
		probeTimeout: 30 * time.Second,
		// They are enough for a cloud that throttles, or an API server that restarts, and short enough
		// for people who wait.
		pauses: []time.Duration{5 * time.Second, 20 * time.Second},
	}
}

// AssumeReachable has the driver's ups go on where the API of a cluster seems to be out of
// reach, for networks with ways that this machine does not see.
func (d *Driver) AssumeReachable() { d.assumesReach = true }

// The functions below put together the packages of automation, each of which has one subject and declares what it needs.

func (d *Driver) runner() *operation.Runner {
	return &operation.Runner{
		Backend: d.backend, CLI: d.pulumi, Program: d.deps.program, Cloud: d.deps.cloud,
		Observer: d.opts.Observer, Trace: d.opts.Trace, Env: d.opts.Env, BackendURL: d.opts.BackendURL,
		Now: d.deps.now, Pauses: d.deps.pauses,
	}
}

func (d *Driver) connector() connect.Connector {
	return connect.Connector{
		Backend: d.backend, CLI: d.pulumi, Programs: d.opts.Programs, Env: d.opts.Env,
		Dial: d.deps.dial, ProbeTimeout: d.deps.probeTimeout,
	}
}

func (d *Driver) hubs() hubs.Hubs {
	return hubs.Hubs{
		Backend: d.backend, Runner: d.runner(), Connector: d.connector(), DialHub: d.deps.dialHub, LoadHub: d.deps.loadHub,
	}
}

func (d *Driver) addons() addons.Addons {
	return addons.Addons{Hubs: d.hubs(), Note: d.opts.Observer.Note}
}

func (d *Driver) reach() reach.Check {
	return reach.Check{Getenv: d.opts.lookupEnv, Note: d.opts.Observer.Note, Assumed: d.assumesReach}
}

func (d *Driver) own() own.Stacks {
	return own.Stacks{
		Backend: d.backend, Runner: d.runner(), Dir: cmp.Or(d.opts.OwnPrograms, d.opts.Root),
		Started: d.opts.OwnPrograms != "" || d.opts.Settings == d.opts.Root,
	}
}

func (d *Driver) previewer() preview.Previewer {
	return preview.Previewer{Backend: d.backend, Runner: d.runner(), Connector: d.connector(), Hubs: d.hubs()}
}

func (d *Driver) approver() approval.Approver {
	return approval.Approver{
		Backend: d.backend, Connector: d.connector(), Hubs: d.hubs(), Previewer: d.previewer(),
		Getenv: d.opts.lookupEnv, Note: d.opts.Observer.Note,
	}
}

func (d *Driver) records() lastup.Records {
	return lastup.Records{
		Backend: d.backend, Connector: d.connector(), Program: d.opts.Program,
		Identity: backend.Identity(d.opts.BackendURL, d.opts.base()), Settings: d.opts.Settings, LoadHub: d.deps.loadHub,
		Key: d.deps.secretsKey, Note: d.opts.Observer.Note, Now: d.deps.now, Who: func() string { return Who(d.opts.lookupEnv) },
	}
}

func (d *Driver) handover() handover.Handover {
	return handover.Handover{Connector: d.connector(), Pushing: &d.pushing}
}

func (d *Driver) rebuildProgress() rebuild.Progress { return rebuild.Progress{Runner: d.runner()} }
