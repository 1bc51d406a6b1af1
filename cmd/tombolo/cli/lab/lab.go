// Package lab is the group of commands tombolo lab.
package lab

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/cli/labprogram"
	"tombolo/lab/control"
)

// Lab is what the commands need of lab.Lab.
type Lab interface {
	ChooseProfile(p control.Profile) error
	ChooseNetwork(n control.Network) error
	Up(ctx context.Context, progress func(control.Step)) error
	Down(ctx context.Context) error
	Status(ctx context.Context) (control.Status, error)
	Env() (map[string]string, error)
	Processes() ([]string, error)
	LogFile(process string) (string, error)
	KeyVault(ctx context.Context, r control.VaultRequest) (json.RawMessage, error)
	AddMember(ctx context.Context, group, member string) error
	Person(ctx context.Context, r control.PersonRequest) (control.Person, error)
	Change(ctx context.Context, typ, name string, changes map[string]any) (control.Item, error)
	Delete(ctx context.Context, typ, name string) (control.Item, error)
	Inbox(channel string) ([]control.Message, error)
	AddFault(ctx context.Context, f control.Fault) (control.Fault, error)
	Faults(ctx context.Context) ([]control.Fault, error)
	ClearFaults(ctx context.Context, ids ...int) (int, error)
	Cut(ctx context.Context, cluster string) error
	Restore(ctx context.Context, cluster string) error
	Restart(ctx context.Context, cluster string) error
}

// Here is the lab in the program that has it.
type Here struct {
	// Open returns the lab of a project, which is not started.
	Open func(root string) Lab
	// Serve is the lab's daemon.
	Serve func(ctx context.Context, root string, log io.Writer) error
}

// Given is what the commands are made of.
type Given struct {
	*factory.Factory
	Here
}

// open adapts the factory to the commands' own interface.
func (g *Given) open() (Lab, error) {
	root, err := g.LabRoot()
	if err != nil {
		return nil, err
	}
	return g.Open(root), nil
}

// NewCmdLab returns the group of commands. Without the lab in this program, which is tombolo
// then, the lab's own program takes the command line over: both have the same commands, so that
// help and completion need only one.
func NewCmdLab(f *factory.Factory, here *Here) *cobra.Command {
	cmd := factory.Group("lab <command>", "Start, stop and look into the lab", `
The lab runs everything on this machine, without a cloud account. The Pulumi
engine, Kubernetes control planes and the controllers of Flux and Argo CD are real. The
cloud's APIs, nodes, pods and the software of charts are played: see
docs/guide/real.md. Its state is in .lab/ of the project.`)
	g := &Given{Factory: f}
	if here != nil {
		g.Here = *here
	} else {
		cmd.PersistentPreRunE = elsewhere(f)
	}
	cmd.AddCommand(
		NewCmdUp(g), NewCmdDown(g), NewCmdStatus(g), NewCmdEnv(g), NewCmdLogs(g), NewCmdInbox(g, nil),
		NewCmdDrift(g), NewCmdFault(g), NewCmdCluster(g),
		NewCmdEnter(g), NewCmdServe(g), NewCmdAWS(g), NewCmdAzure(g),
	)
	return cmd
}

// elsewhere replaces this program by the lab's, once the command line has been found right. A
// group of commands only prints its help, which this program has.
func elsewhere(f *factory.Factory) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		// Cobra runs one of these functions: the nearest.
		if err := cmd.Root().PersistentPreRunE(cmd, args); err != nil || cmd.HasSubCommands() {
			return err
		}
		if _, err := f.LabRoot(); err != nil {
			return err
		}
		return labprogram.Become(cmd.Context(), f.Args)
	}
}

// Options are what all commands of the lab have.
type Options struct {
	factory.Base
	// Lab opens the lab of the project.
	Lab func() (Lab, error)
}

func (g *Given) options() Options { return Options{Base: g.Base(), Lab: g.open} }

// UpOptions are the options of lab up.
type UpOptions struct {
	Options
	Steps func() func(control.Step)
	// Profile that the lab is to be made with; empty for the one it has.
	Profile control.Profile
	// Network that this machine is outside of or not, likewise.
	Network control.Network
}

// NewCmdUp returns the command lab up.
func NewCmdUp(f *Given) *cobra.Command {
	opts := &UpOptions{Options: f.options(), Steps: f.LabSteps}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the lab, or the parts of it that are not running",
		Long: strings.TrimSpace(`
Start the lab, or the parts of it that are not running. The profile says which
processes a cluster has. full: a complete control plane and the engine's
controllers. light-engine: an API server, on one etcd for all clusters, and the
engine's controllers. light: only the API server, so verify would wait forever.
The network is open: this machine reaches every cluster; or closed: it is outside,
and a cluster without a public endpoint is reached only through the proxy that
TOMBOLO_LAB_RUNNER of lab env names, from an address that the cluster lets in. A lab
keeps both until lab down.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return upRun(cmd.Context(), opts) },
	}
	profile := flags.NewEnum(&opts.Profile, control.Profiles()...)
	cmd.Flags().Var(profile, "profile", "which processes a cluster has (default full, or $"+control.ProfileVariable+")")
	factory.CompleteFlag(cmd, "profile", profile.Values())
	network := flags.NewEnum(&opts.Network, control.Networks()...)
	cmd.Flags().Var(network, "network", "what the clusters' networks are like (default open, or $"+control.NetworkVariable+")")
	factory.CompleteFlag(cmd, "network", network.Values())
	return cmd
}

func upRun(ctx context.Context, o *UpOptions) error {
	l, err := o.Lab()
	if err != nil {
		return err
	}
	if o.Profile != "" {
		if err := l.ChooseProfile(o.Profile); err != nil {
			return factory.LabFailed(err)
		}
	}
	if o.Network != "" {
		if err := l.ChooseNetwork(o.Network); err != nil {
			return factory.LabFailed(err)
		}
	}
	if err := l.Up(ctx, o.Steps()); err != nil {
		return factory.LabFailed(err)
	}
	o.Status().Done("the lab is running")
	return nil
}

// NewCmdDown returns the command lab down.
func NewCmdDown(f *Given) *cobra.Command {
	opts := f.options()
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the lab and remove all its data",
		Long: strings.TrimSpace(`
Stop every process of the lab and remove .lab/: its resources, the state of its
stacks, and its logs. Nothing outside the lab is changed.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return downRun(cmd.Context(), opts) },
	}
}

func downRun(ctx context.Context, o Options) error {
	l, err := o.Lab()
	if err != nil {
		return err
	}
	if err := l.Down(ctx); err != nil {
		return err
	}
	o.Status().Done("the lab is gone")
	return nil
}

// NewCmdServe returns the hidden command that is the lab's daemon.
func NewCmdServe(f *Given) *cobra.Command {
	return &cobra.Command{
		Use:    "serve",
		Short:  "Run the lab's daemon in the foreground",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := f.Root()
			if err != nil {
				return err
			}
			return f.Serve(cmd.Context(), root, f.Streams.ErrOut)
		},
	}
}
