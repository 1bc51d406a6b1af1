// Package factory makes the dependencies of commands from the global flags: the streams,
// the project, the lab and the driver. It is the one place where commands meet
// the real ones; tests give a command fakes instead.
package factory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"tombolo/automation"
	"tombolo/automation/backend"
	"tombolo/automation/cloud"
	"tombolo/automation/process"
	"tombolo/automation/trace"
	"tombolo/check/finding"
	"tombolo/check/published"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/labprogram"
	"tombolo/cmd/tombolo/cli/streams"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/file"
	"tombolo/internal/scalar"
	"tombolo/lab/control"
	"tombolo/lab/substitute"
	"tombolo/lab/tools"
	"tombolo/stacks/catalog"
)

// project is the name in the Pulumi.yaml that marks a project's root.
const project = "tombolo"

// refreshEvery is the time between two drawings of the live view: quick enough
// for a clock that counts seconds.
const refreshEvery = 200 * time.Millisecond

// Globals are the flags that every command has.
type Globals struct {
	// Lab runs everything in the lab.
	Lab bool
	// Output is how progress and results are written.
	Output render.Format
	// NoColor forbids colours.
	NoColor bool
	// Verbose logs to standard error what is done, and how long it takes.
	Verbose bool
	// Root is the project's directory. Default: the first one upwards from
	// the working directory whose Pulumi.yaml names the project.
	Root string
	// Backend is the URL of the Pulumi state.
	Backend string
	// SecretsProvider encrypts the secrets of new stacks.
	SecretsProvider string
}

// again are the flags by which another command works on the same stacks.
func (g *Globals) again() []string {
	var out []string
	if g.Lab {
		out = append(out, "--lab")
	}
	if g.Backend != "" {
		out = append(out, "--backend", ShellWord(backend.Again(g.Backend)))
	}
	return out
}

// ShellWord makes one word of a text in any POSIX shell.
func ShellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Lab is what commands need of labprogram.Lab.
type Lab interface {
	// Enter starts the lab if need be, and returns its environment.
	Enter(ctx context.Context, progress func(control.Step)) (map[string]string, error)
}

// CheckTree checks that a tree, with the name that goes before its files, fits clusters. Others are
// of the same hubs, and not checked.
type CheckTree func(tree fs.FS, name string, clusters []published.Set, others ...published.Set) (finding.List, error)

// Factory makes the dependencies of commands.
type Factory struct {
	Streams *streams.Streams
	Globals *Globals
	// Args is the command line, for the program that takes it over.
	Args []string
	// Dir is the working directory.
	Dir string
	// Lookup reads an environment variable.
	Lookup func(string) (string, bool)
	// Setenv sets one for this process and those it starts.
	Setenv func(name, value string) error
	// Programs of the stacks, and Clouds that clusters are in. They are given, for they take
	// the SDKs of all providers along.
	Programs catalog.Programs
	Clouds   cloud.Set
	// CheckTree checks a platform tree; it is check.Check, which takes kustomize and Helm along.
	CheckTree CheckTree
	// OpenLab returns the lab of a project, which is not started.
	OpenLab func(root string) Lab

	mu sync.Mutex
	// view is the progress that was last asked for: it owns the terminal.
	view *render.Progress
	// drivers are those in use, and hurried says that they must not wait.
	drivers []*automation.Driver
	hurried bool
	// busy says that the command uses a driver or the lab.
	busy bool
	// trace of the command; nil without one.
	trace *trace.Run
	// endLog ends the log of the command; nil without one.
	endLog func(error)
}

// System returns the factory of the real process, which lacks what takes SDKs along.
func System() *Factory {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	// os/exec refuses what it finds first in the current directory, where a change may
	// have put it; what comes later in PATH is meant.
	if path, ok := os.LookupEnv("PATH"); ok {
		_ = os.Setenv("PATH", process.FixedPath(path)) // PATH is a valid name
	}
	return &Factory{
		Streams: streams.System(os.LookupEnv),
		Globals: &Globals{Output: render.Text},
		Args:    os.Args[1:],
		Dir:     dir,
		Lookup:  os.LookupEnv,
		Setenv:  os.Setenv,
		OpenLab: func(root string) Lab { return labprogram.Lab{Root: root} },
	}
}

// ApplyEnv takes defaults of flags from the environment: TOMBOLO_LAB for
// --lab. A flag on the command line wins.
func (f *Factory) ApplyEnv(labFlagGiven bool) error {
	return f.fromEnv("TOMBOLO_LAB", labFlagGiven, &f.Globals.Lab)
}

// fromEnv takes a flag that is on or off from a variable of the environment, unless it was given.
func (f *Factory) fromEnv(variable string, given bool, flag *bool) error {
	value, ok := f.Lookup(variable)
	if !ok || value == "" || given {
		return nil
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		return fault.NewUsage(fmt.Sprintf("%s is %q", variable, value), "set it to 1 or 0, or unset it")
	}
	*flag = on
	return nil
}

// Style says which colours and symbols text may have, on a terminal or not.
func (f *Factory) Style(terminal bool) render.Style {
	plain := f.Globals.NoColor || f.Streams.NoColor || !terminal || f.Globals.Output != render.Text
	return render.Style{Color: !plain, Unicode: f.Streams.Unicode}
}

// JSON says whether results are written as JSON documents.
func (f *Factory) JSON() bool { return f.Globals.Output == render.JSON }

// Status returns where a command says what it does.
func (f *Factory) Status() render.Status {
	return render.Status{W: f.Streams.ErrOut, Style: f.Style(f.Streams.ErrIsTerminal()), Width: f.Streams.ErrWidth(), Quiet: f.JSON()}
}

// Table returns how tables are written to standard output.
func (f *Factory) Table() render.TableOptions {
	return render.TableOptions{Style: f.Style(f.Streams.OutIsTerminal()), Width: f.Streams.OutWidth()}
}

// Problems returns how what is wrong with files is written to standard error.
func (f *Factory) Problems() render.ProblemOptions {
	terminal := f.Streams.ErrIsTerminal()
	return render.ProblemOptions{
		Style: f.Style(terminal), Terminal: terminal && f.Globals.Output == render.Text, Width: f.Streams.ErrWidth(),
	}
}

// Progress returns a view of the operations to come. Close it after them.
func (f *Factory) Progress() *render.Progress {
	progress := render.New(render.Options{
		Out: f.Streams.Out, Err: f.Streams.ErrOut, Format: f.Globals.Output,
		Terminal: f.Streams.ErrRedraws() && !f.Globals.Verbose, Width: f.Streams.ErrWidth, Height: f.Streams.ErrHeight,
		Style: f.Style(f.Streams.ErrIsTerminal()), Refresh: refreshEvery,
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view = progress
	return progress
}

// Announce says something that did not come from the command itself, without
// disturbing the view that is on the terminal.
func (f *Factory) Announce(message string) {
	f.mu.Lock()
	view := f.view
	f.mu.Unlock()
	if view == nil {
		f.Status().Doing("%s", message)
		return
	}
	view.Note("", message)
}

// Root returns the project's directory.
func (f *Factory) Root() (string, error) {
	if f.Globals.Root != "" {
		return f.givenRoot()
	}
	for dir := f.Dir; ; dir = filepath.Dir(dir) {
		switch is, err := isProject(dir); {
		case err != nil:
			return "", err
		case is:
			return dir, nil
		case dir == filepath.Dir(dir):
			return "", fault.NewPrecondition(
				fmt.Sprintf("no project found: neither %s nor a directory above it has a Pulumi.yaml with name %s", f.Dir, project),
				"change into a project, name one with --root, or begin one with `tombolo init project`", nil)
		}
	}
}

// OwnStacks are the own stacks that the project's file names; none outside of a project.
func (f *Factory) OwnStacks() ([]config.OwnStack, error) {
	root, err := f.Root()
	if err != nil {
		return nil, nil //nolint:nilerr // cluster files may be named by their paths
	}
	return config.LoadStacks(root)
}

func (f *Factory) givenRoot() (string, error) {
	dir := f.Globals.Root
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(f.Dir, dir)
	}
	is, err := isProject(dir)
	if err == nil && !is {
		err = fault.NewUsage(fmt.Sprintf("--root %s is no project: it has no Pulumi.yaml with name %s", f.Globals.Root, project),
			"name the directory of a checkout")
	}
	return dir, err
}

func isProject(dir string) (bool, error) {
	text, err := file.ReadInside(filepath.Join(dir, "Pulumi.yaml"), file.MostOfSettings)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for the project: %w", err)
	}
	name, err := scalar.At(text, "name")
	return err == nil && name == project, nil // what is no YAML is not ours
}

// Clusters loads the clusters that the arguments name, in the order of their
// waves. Nothing is started when one of them has a problem.
func (f *Factory) Clusters(args []string) ([]*config.Cluster, error) {
	files, err := clusters.Files(f.Root, args)
	if err != nil {
		return nil, err
	}
	return clusters.Load(files)
}

// ClustersOrAll loads the clusters that the arguments name, all of the project's
// without any, in the order of their waves.
func (f *Factory) ClustersOrAll(args []string) ([]*config.Cluster, error) {
	if len(args) == 0 {
		return clusters.LoadAll(f.Root)
	}
	return f.Clusters(args)
}

// CompleteClusters offers the names of the known clusters with a prefix to the shell.
func (f *Factory) CompleteClusters(prefix string) []string {
	root, err := f.Root()
	if err != nil {
		return nil
	}
	names, _ := clusters.Known(root) // without names there is nothing to complete
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// Busy says that the command uses a driver or the lab: then it may have started
// something that has to end in order.
func (f *Factory) Busy() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.busy
}

func (f *Factory) setBusy() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy = true
}

// LabRoot returns the directory of the project whose lab the command uses.
func (f *Factory) LabRoot() (string, error) {
	f.setBusy()
	return f.Root()
}

// LabTools says, before anything starts, which tools the lab lacks for the
// clusters: those of an engine and of a cloud are built when a cluster has it.
func (f *Factory) LabTools(clusters []*config.Cluster) error {
	if !f.Globals.Lab {
		return nil
	}
	root, err := f.LabRoot()
	if err != nil {
		return err
	}
	built := tools.Of(root)
	for _, need := range []struct {
		of    string
		has   func(c *config.Cluster) bool
		check func() error
	}{
		{"any cluster", func(*config.Cluster) bool { return true }, built.Any},
		{"clusters in AWS", func(c *config.Cluster) bool { return c.Cloud.Provider == config.AWS }, built.EKS},
		{"clusters in Azure", func(c *config.Cluster) bool { return c.Cloud.Provider == config.Azure }, built.AKS},
		{"Argo CD", func(c *config.Cluster) bool { return c.GitOps.Engine == config.ArgoCD }, built.ArgoCD},
		{"Sealed Secrets", func(c *config.Cluster) bool { return slices.Contains(c.Addons.Names(), config.SealedSecretsAddon) }, built.SealedSecrets},
		{"External Secrets", func(c *config.Cluster) bool { return slices.Contains(c.Addons.Names(), "external-secrets") }, built.ExternalSecrets},
	} {
		if !slices.ContainsFunc(clusters, need.has) {
			continue
		}
		if err := need.check(); err != nil {
			return fault.NewPrecondition("the lab lacks tools for "+need.of, "", err)
		}
	}
	return f.labStandsIn(root, built, clusters)
}

// labStandsIn says what the lab has in place of what the cluster files name, and refuses files for
// which it has nothing.
func (f *Factory) labStandsIn(root string, built tools.Built, clusters []*config.Cluster) error {
	var said []string
	say := func(text string) {
		if !slices.Contains(said, text) {
			said = append(said, text)
			f.Status().Plain("  lab: %s", text)
		}
	}
	for _, c := range clusters {
		repository, err := substitute.RepositoryOf(root, c)
		if err != nil {
			return fault.NewPrecondition("the lab cannot be what "+c.Name+" follows", "", err)
		}
		manifest, err := substitute.ManifestOf(built, c)
		if err != nil {
			return fault.NewPrecondition("the lab cannot install the engine of "+c.Name, "", err)
		}
		if repository != nil {
			say(fmt.Sprintf("%s has the content of %s here", c.GitOps.URL, repository.Dir))
		}
		if manifest != "" {
			say(fmt.Sprintf("%s is installed from %s, so the checksum in the cluster file is not tried", c.GitOps.Distribution.URL, manifest))
		}
	}
	return nil
}

// Driver returns the driver that tells the observer what it does. With --lab
// it starts the lab if need be, and everything runs there.
func (f *Factory) Driver(ctx context.Context, observer automation.Observer) (*automation.Driver, error) {
	return f.DriverWith(ctx, observer, Trusted{})
}

// Trusted are directories of what is trusted, where the project's has what somebody proposes; "" for
// the project's own.
type Trusted struct {
	// Settings has the project file and the stacks' settings; a lab has its own.
	Settings string
	// Programs has the programs of own stacks. Without it, none is run where Settings is another
	// directory than the project's.
	Programs string
}

// DriverWith returns a driver that takes from other directories what runs, or says where it does.
func (f *Factory) DriverWith(ctx context.Context, observer automation.Observer, from Trusted) (*automation.Driver, error) {
	f.setBusy()
	root, err := f.Root()
	if err != nil {
		return nil, err
	}
	o := automation.Options{
		Root: root, Programs: f.Programs, Clouds: f.Clouds, Settings: from.Settings, OwnPrograms: from.Programs, Observer: f.observer(ctx, observer), Trace: f.trace,
		BackendURL: f.Globals.Backend, SecretsProvider: f.Globals.SecretsProvider,
	}
	if f.Globals.Lab {
		if o.Env, err = f.enterLab(ctx, root); err != nil {
			return nil, err
		}
		o.WorkDir, o.SecretsProvider = labWorkDir(root), cmp.Or(o.SecretsProvider, o.Env[control.SecretsVariable])
	}
	o.Flags = f.Globals.again()
	driver, err := automation.New(o)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drivers = append(f.drivers, driver)
	if f.hurried {
		driver.Hurry()
	}
	return driver, nil
}

// labWorkDir is where the Pulumi CLI runs for the lab.
func labWorkDir(root string) string { return filepath.Join(root, ".lab", "work") }

// Hurry has all drivers end at once what was cancelled, without a lock left.
func (f *Factory) Hurry() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hurried = true
	for _, d := range f.drivers {
		d.Hurry()
	}
}

// Abandon kills what the drivers run.
func (f *Factory) Abandon() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.drivers {
		d.Abandon()
	}
}

// enterLab makes this process one of the lab, as `eval "$(tombolo lab env)"`
// does for a shell: the program that runs inside the driver, and the exec
// plugin of a kubeconfig, look at the process's environment.
func (f *Factory) enterLab(ctx context.Context, root string) (map[string]string, error) {
	env, err := f.OpenLab(root).Enter(ctx, f.LabSteps())
	if err != nil {
		return nil, err
	}
	for name, value := range env {
		if err := f.Setenv(name, value); err != nil {
			return nil, fmt.Errorf("entering the lab: setting %s: %w", name, err)
		}
	}
	return env, nil
}

// LabFailed puts an error of the lab's start into its class: whatever the
// command was to do has not started.
func LabFailed(err error) error {
	return fault.NewPrecondition("the lab did not start", "", err)
}

// LabSteps returns what shows the steps of the lab's start and end.
func (f *Factory) LabSteps() func(control.Step) {
	status := f.Status()
	return func(s control.Step) {
		text := "lab: " + s.Name
		if s.Detail != "" {
			text += ": " + s.Detail
		}
		switch s.State {
		case control.StepDoing:
			status.Doing("%s", text)
		case control.StepDone:
			status.Done("%s (%s)", text, s.Elapsed.Round(100*time.Millisecond))
		case control.StepFailed:
			status.Failed("%s", text)
		default:
			status.Plain("  %s", text)
		}
	}
}
