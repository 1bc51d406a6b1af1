// Package plugins is the group of commands tombolo plugins.
package plugins

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/plugins"
	"tombolo/automation/pulumicli"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	InstallPlugins(ctx context.Context, clusters []*config.Cluster, o pulumicli.PluginOptions) (pulumicli.InstalledPlugins, error)
}

// NewCmdPlugins returns the group of commands.
func NewCmdPlugins(f *factory.Factory) *cobra.Command {
	cmd := factory.Group("plugins <command>", "Install the plugins that the Pulumi engine needs", `
The Pulumi engine runs a plugin for each provider that the stacks use, in the version
that tombolo was built for.`)
	cmd.AddCommand(NewCmdInstall(f, nil))
	return cmd
}

// InstallOptions are the options of plugins install.
type InstallOptions struct {
	factory.Base
	Driver   func(context.Context, automation.Observer) (Driver, error)
	Clusters func([]string) ([]*config.Cluster, error)

	pulumicli.PluginOptions
}

// NewCmdInstall returns the command plugins install; runF, if not nil, runs in place
// of it.
func NewCmdInstall(f *factory.Factory, runF func(context.Context, *InstallOptions) error) *cobra.Command {
	opts := &InstallOptions{
		Base: f.Base(), Clusters: f.ClustersOrAll,
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
	}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the plugins that are missing, and check their digests",
		Long: strings.TrimSpace(`
Install the plugins that the stacks of the project's clusters need and that are not in
the Pulumi CLI's directory, and list all of them. As long as there are no clusters, those
for every cloud are installed. An archive with another digest than the one that
tombolo knows is refused, and nothing of it is installed. If no digest is known, the
plugin is installed with a message, or refused with --strict. Nothing is fetched if
all plugins are there.

Archives come from where Pulumi publishes them, or from a mirror: a directory, or the
address of one on a server, with the archives by their published names, such as
pulumi-resource-aws-v6.83.2-linux-amd64.tar.gz.`),
		Example: strings.TrimSpace(`
  tombolo plugins install
  tombolo plugins install --strict --mirror https://mirror.example/pulumi`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("mirror") {
				opts.Mirror = os.Getenv(plugins.MirrorVariable)
			}
			return factory.Run(cmd.Context(), opts, runF, installRun)
		},
	}
	cmd.Flags().StringVar(&opts.Mirror, "mirror", "", "`address` or directory of the archives (default $"+plugins.MirrorVariable+", or where they are published)")
	cmd.Flags().BoolVar(&opts.Strict, "strict", false, "refuse plugins whose digest is not known")
	return cmd
}

// document is the result in the JSON format.
type document struct {
	Type    string   `json:"type"`
	Plugins []plugin `json:"plugins"`
}

type plugin struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	For     string `json:"for,omitempty"`
	State   string `json:"state"`
	Digest  string `json:"digest,omitempty"`
}

func installRun(ctx context.Context, o *InstallOptions) error {
	all, _ := o.Clusters(nil) // files with problems are for other commands to report
	var installed pulumicli.InstalledPlugins
	err := factory.With(ctx, o.Progress, o.Driver, func(driver Driver, _ *render.Progress) (err error) {
		installed, err = driver.InstallPlugins(ctx, all, o.PluginOptions)
		return err
	})
	if err != nil {
		return err
	}
	if err := o.write(installed.All); err != nil {
		return err
	}
	o.Status().Done("the plugins are in %s", installed.Dir)
	return nil
}

func (o *InstallOptions) write(installed []pulumicli.InstalledPlugin) error {
	d := document{Type: "plugins"}
	var rows [][]string
	for _, i := range installed {
		p := plugin{Name: i.Name, Version: i.Version, For: i.For, State: "there", Digest: string(i.Check)}
		switch {
		case i.Attached:
			p.State, p.Digest = "attached", ""
		case i.New:
			p.State = "installed"
		}
		d.Plugins = append(d.Plugins, p)
		rows = append(rows, []string{p.Name, p.Version, p.State, p.Digest, p.For})
	}
	if o.JSON() {
		return render.WriteJSON(o.Streams.Out, d)
	}
	return render.Table(o.Streams.Out, o.Table(), []string{"PLUGIN", "VERSION", "STATE", "DIGEST", "FOR"}, rows)
}
