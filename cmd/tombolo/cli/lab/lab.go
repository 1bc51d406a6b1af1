// Package lab is the group of commands tombolo lab.
package lab

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/render"
	"tombolo/lab"
)

// Lab is what the commands need of lab.Lab.
type Lab interface {
	ChooseProfile(p lab.Profile) error
	ChooseNetwork(n lab.Network) error
	Up(ctx context.Context, progress func(lab.Step)) error
	Down(ctx context.Context) error
	Status(ctx context.Context) (lab.Status, error)
	Env() (map[string]string, error)
	Processes() ([]string, error)
	LogFile(process string) (string, error)
	Change(ctx context.Context, typ, name string, changes map[string]any) (lab.Item, error)
	Delete(ctx context.Context, typ, name string) (lab.Item, error)
	Inbox(channel string) ([]lab.Message, error)
	AddFault(ctx context.Context, f lab.Fault) (lab.Fault, error)
	Faults(ctx context.Context) ([]lab.Fault, error)
	ClearFaults(ctx context.Context, ids ...int) (int, error)
	Cut(ctx context.Context, cluster string) error
	Restore(ctx context.Context, cluster string) error
	Restart(ctx context.Context, cluster string) error
}

// NewCmdLab returns the group of commands.
func NewCmdLab(f *factory.Factory) *cobra.Command {
	cmd := factory.Group("lab <command>", "Start, stop and look into the lab", `
The lab runs everything on this machine, without a cloud account. The Pulumi
engine, Kubernetes control planes and the GitOps controllers are real. The
cloud's APIs, nodes, pods and the software of charts are played: see
docs/guide/real.md. Its state is in .lab/ of the project.`)
	cmd.AddCommand(
		NewCmdUp(f, nil), NewCmdDown(f, nil), NewCmdStatus(f, nil), NewCmdEnv(f, nil), NewCmdLogs(f, nil), NewCmdInbox(f, nil),
		NewCmdDrift(f), NewCmdFault(f), NewCmdCluster(f),
		NewCmdServe(f), NewCmdAWS(f, nil), NewCmdAzure(f, nil),
	)
	return cmd
}

// open adapts the factory to the commands' own interface.
func open(f *factory.Factory) func() (Lab, error) {
	return func() (Lab, error) {
		root, err := f.LabRoot()
		if err != nil {
			return nil, err
		}
		return lab.Open(root), nil
	}
}

// UpOptions are the options of lab up.
type UpOptions struct {
	Lab    func() (Lab, error)
	Steps  func() func(lab.Step)
	Status func() render.Status

	// Profile that the lab is to be made with; empty for the one it has.
	Profile lab.Profile
	// Network that this machine is outside of or not, likewise.
	Network lab.Network
}

// NewCmdUp returns the command lab up; runF, if not nil, runs in place of it.
func NewCmdUp(f *factory.Factory, runF func(context.Context, *UpOptions) error) *cobra.Command {
	opts := &UpOptions{Lab: open(f), Steps: f.LabSteps, Status: f.Status}
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
		RunE: func(cmd *cobra.Command, _ []string) error { return factory.Run(cmd.Context(), opts, runF, upRun) },
	}
	profile := flags.NewEnum(&opts.Profile, lab.Profiles()...)
	cmd.Flags().Var(profile, "profile", "which processes a cluster has (default full, or $"+lab.ProfileVariable+")")
	factory.CompleteFlag(cmd, "profile", profile.Values())
	network := flags.NewEnum(&opts.Network, lab.Networks()...)
	cmd.Flags().Var(network, "network", "what the clusters' networks are like (default open, or $"+lab.NetworkVariable+")")
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

// DownOptions are the options of lab down.
type DownOptions struct {
	Lab    func() (Lab, error)
	Status func() render.Status
}

// NewCmdDown returns the command lab down; runF, if not nil, runs in place of it.
func NewCmdDown(f *factory.Factory, runF func(context.Context, *DownOptions) error) *cobra.Command {
	opts := &DownOptions{Lab: open(f), Status: f.Status}
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the lab and remove all its data",
		Long: strings.TrimSpace(`
Stop every process of the lab and remove .lab/: its resources, the state of its
stacks, and its logs. Nothing outside the lab is changed.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return factory.Run(cmd.Context(), opts, runF, downRun) },
	}
}

func downRun(ctx context.Context, o *DownOptions) error {
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
func NewCmdServe(f *factory.Factory) *cobra.Command {
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
			return lab.Serve(cmd.Context(), root, f.Streams.ErrOut)
		},
	}
}
