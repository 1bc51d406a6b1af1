package automation

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"

	"tombolo/automation/approved"
	"tombolo/automation/backend"
	"tombolo/automation/cloud"
	"tombolo/automation/destroy"
	"tombolo/automation/fault"
	"tombolo/automation/operation"
	"tombolo/automation/process"
	"tombolo/automation/pulumicli"
	"tombolo/automation/trace"
	"tombolo/stacks/catalog"
)

// Observer is notified of what a driver does.
type Observer = operation.Observer

// Options of a Driver. Root, Programs and Clouds are required.
type Options struct {
	// Root is the project's directory, with Pulumi.yaml and clusters/.
	Root string
	// Programs of the stacks, such as programs.All(), and Clouds that clusters are in, such as
	// clouds.All(). They are given, for they take the SDKs of all providers along.
	Programs catalog.Programs
	Clouds   cloud.Set
	// Settings is the directory whose Pulumi.yaml names the backend, and whose
	// clusters/ has the stacks' settings, Pulumi.<stack>.yaml. Default: Root. It is
	// another one when Root has what somebody proposes: the CLI sees nothing of
	// Root then.
	Settings string
	// OwnPrograms is the directory with tombolo.stacks.yaml and the programs that it names. Default:
	// Root. Where Root has what somebody proposes, as Settings is another directory, there is no
	// default: own stacks are named then, and no program of Root is run.
	OwnPrograms string
	// WorkDir is the directory the Pulumi CLI runs in, with a Pulumi.yaml that is
	// written there, and with stack settings of its own. Default: a directory in
	// PulumiHome, with the stack settings of Settings. It is never Root, whose
	// Pulumi.yaml may name programs that the CLI would run.
	WorkDir string
	// Env is added to this process's environment for the CLI and for the
	// kubeconfig's exec plugin; its PATH wins.
	Env map[string]string
	// Flags that a remedy gives to the tombolo command it names, such as
	// --lab. Default: none.
	Flags []string
	// BackendURL of the Pulumi state. Default: PULUMI_BACKEND_URL of Env or
	// of this process, else the one in Pulumi.yaml, else the backend the CLI is
	// logged in to when the driver is made: it stays with that one. A variable of
	// this process that contradicts Pulumi.yaml is an error.
	BackendURL string
	// SecretsProvider for new stacks, as in `pulumi stack init
	// --secrets-provider`. Default: the backend's own.
	SecretsProvider string
	// PulumiHome is where the CLI keeps plugins and credentials. Default:
	// PULUMI_HOME, else ~/.pulumi.
	PulumiHome string
	// Observer of what happens. Default: none.
	Observer Observer
	// Trace of what happens. It is told of previews too that people are not told of, as nothing
	// comes of them. Default: none.
	Trace *trace.Run
	// Command runs the Pulumi CLI. Default: the pulumi found in PATH.
	Command auto.PulumiCommand
	// LockWait is how long to wait for a pulumi process whose driver is gone
	// before its lock counts as held. Default 30s.
	LockWait time.Duration
	// Program that ups are recorded of. Default: the one that runs.
	Program func() (approved.Program, error)
	// CancelGrace is how long the CLI gets, after the first signal, to finish
	// the calls under way and release its lock, before it is told to terminate;
	// Hurry ends it. Default: DefaultCancelGrace.
	CancelGrace time.Duration
}

// DefaultCancelGrace is about what the slowest cloud call takes to notice that
// it is cancelled.
const DefaultCancelGrace = 5 * time.Minute

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
	return backend.Identity(found, o.base()), nil
}

// backend is the URL as it was given; "" when the CLI is logged in nowhere.
func (o *Options) backend() (string, error) {
	if o.BackendURL != "" {
		return o.BackendURL, nil
	}
	return backend.Search{Root: o.Settings, Home: func() (string, error) { return pulumicli.Home(o.PulumiHome) }, Getenv: o.lookupEnv}.Find()
}

// refuseContradiction refuses a variable of the process that names another backend than
// Pulumi.yaml pins. One in Env was given on purpose, as the lab's.
func (o *Options) refuseContradiction() error {
	if _, given := o.Env["PULUMI_BACKEND_URL"]; given {
		return nil
	}
	what, err := (backend.Search{Root: o.Settings}).Contradiction(os.Getenv("PULUMI_BACKEND_URL"), o.base())
	if err != nil || what == "" {
		return nil //nolint:nilerr // a project that cannot be read is reported by whoever needs it
	}
	return &fault.Error{What: what, Remedy: "nothing was started: unset the variable, correct Pulumi.yaml, or say which one with --backend"}
}

func (o *Options) setDefaults() error {
	if o.Program == nil {
		o.Program = thisProgram
	}
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return fmt.Errorf("resolve project directory %s: %w", o.Root, err)
	}
	o.Root = root
	if o.Settings, err = filepath.Abs(cmp.Or(o.Settings, root)); err != nil {
		return fmt.Errorf("resolve directory of settings %s: %w", o.Settings, err)
	}
	if o.OwnPrograms != "" {
		if o.OwnPrograms, err = filepath.Abs(o.OwnPrograms); err != nil {
			return fmt.Errorf("resolve directory of own programs %s: %w", o.OwnPrograms, err)
		}
	}
	if o.WorkDir != "" {
		if o.WorkDir, err = filepath.Abs(o.WorkDir); err != nil {
			return fmt.Errorf("resolve working directory %s: %w", o.WorkDir, err)
		}
	}
	if o.Observer == nil {
		o.Observer = noObserver{}
	}
	if o.LockWait == 0 {
		o.LockWait = 30 * time.Second
	}
	if o.CancelGrace == 0 {
		o.CancelGrace = DefaultCancelGrace
	}
	if o.BackendURL == "" {
		if err := o.refuseContradiction(); err != nil {
			return err
		}
		o.BackendURL = o.lookupEnv("PULUMI_BACKEND_URL")
	}
	if o.PulumiHome == "" {
		o.PulumiHome = o.lookupEnv("PULUMI_HOME")
	}
	return nil
}

// base is what a relative path in a backend's URL is relative to.
func (o *Options) base() string { return cmp.Or(o.WorkDir, o.Root) }

// ownWorkDir is where the CLI runs by default: outside of the project, the same
// directory for each run, as the CLI remembers something of each that it runs in.
func (o *Options) ownWorkDir() (string, error) {
	if o.Settings != o.Root {
		return filepath.Join(o.Settings, "work"), nil
	}
	home, err := pulumicli.Home(o.PulumiHome)
	if err != nil {
		return "", &fault.Error{What: "the Pulumi CLI has no directory to run in: " + err.Error(), Remedy: "set HOME, or PULUMI_HOME", Err: err}
	}
	if home, err = filepath.Abs(home); err != nil {
		return "", fmt.Errorf("resolve the home of the Pulumi CLI %s: %w", home, err)
	}
	sum := sha256.Sum256([]byte(o.Settings))
	return filepath.Join(home, "tombolo", hex.EncodeToString(sum[:8])), nil
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
	env["PATH"] = process.FixedPath(o.lookupEnv("PATH"))
	if o.lookupEnv("GOGC") == "" {
		env["GOGC"] = collectLess
	}
	if o.lookupEnv(stateSecrets) == "" {
		env[stateSecrets] = "true"
	}
	maps.Copy(env, o.Clouds.LoginEnv(o.lookupEnv))
	if o.BackendURL != "" {
		env["PULUMI_BACKEND_URL"] = backend.ForCLI(o.BackendURL)
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

// noObserver is the observer of a driver that has none.
type noObserver struct{}

func (noObserver) StackStarted(string, string)                 {}
func (noObserver) EngineEvent(string, events.EngineEvent)      {}
func (noObserver) StackFinished(string, map[string]int, error) {}
func (noObserver) StackPlanned(string, int)                    {}
func (noObserver) Waiting(string, string)                      {}
func (noObserver) Note(string, string)                         {}

// UpOptions of an up.
type UpOptions struct {
	// Plan previews each stack right before its up, so that the Observer knows
	// how much is to come, and a stack whose preview fails is left as it is.
	Plan bool
	// Previewed says that a preview has just shown that something changes: Up does
	// not find out again whether it does.
	Previewed bool
	// Refresh the state from the cloud before comparing.
	Refresh bool
	// Force has the Pulumi engine look at a cluster of which nothing is known to have changed
	// since its last up.
	Force bool
	// Approved, if not nil, is what was approved of the cluster: Up does that and
	// nothing else. What differs is an approved.Error.
	Approved *approved.Cluster

	// began, if not nil, is called when the up comes to a stack.
	began func(string)
}

// PreviewOptions of a preview.
type PreviewOptions struct {
	// Refresh compares with the cloud, not only with the state.
	Refresh bool
	// Plan has the result say what an up would do, for people to approve. A cluster
	// of which that cannot be said, because an operation was interrupted, is refused.
	Plan bool
	// WithoutSecrets decrypts nothing, and reads no secret that the cluster file names: they are
	// taken as unknown, and as unchanged where the state has them. What the preview cannot tell
	// is whether a secret changes.
	WithoutSecrets bool
}

// DestroyOptions of a destroy.
type DestroyOptions = destroy.Options

// thisProgram is the one that runs, which is read once.
var thisProgram = sync.OnceValues(approved.ThisProgram)

// Who runs this process, such as alice@laptop; getenv reads a variable of the environment.
func Who(getenv func(string) string) string {
	name := getenv("USER")
	if u, err := user.Current(); name == "" && err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + "@" + host
}
