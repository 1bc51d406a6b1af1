// Package kubeconfig is the command tombolo kubeconfig.
package kubeconfig

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/file"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Kubeconfig(context.Context, *config.Cluster) ([]byte, error)
}

// Options of the command.
type Options struct {
	factory.Base
	Clusters func([]string) ([]*config.Cluster, error)
	Driver   func(context.Context, automation.Observer) (Driver, error)
	Lab      func() bool

	Name string
	File string
}

// NewCmdKubeconfig returns the command; runF, if not nil, runs in place of it.
func NewCmdKubeconfig(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Base: f.Base(), Clusters: f.Clusters,
		Lab:    func() bool { return f.Globals.Lab },
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
	}
	cmd := &cobra.Command{
		Use:   "kubeconfig <cluster>",
		Short: "Print a kubeconfig without credentials",
		Long: strings.TrimSpace(`
Print a kubeconfig of the cluster, or write it to a file and print its path. It
holds no credentials: kubectl gets a token from the cloud each time, with the AWS
CLI, or with kubelogin in Azure. In the lab, it uses the lab's own command, which the
kubeconfig names by its path.`),
		Example: strings.TrimSpace(`
  tombolo kubeconfig demo >demo.kubeconfig
  kubectl --kubeconfig "$(tombolo kubeconfig demo --file kubeconfig)" get nodes`),
		Args: clusters.ClusterFile.One(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Name = args[0]
			return factory.Run(cmd.Context(), opts, runF, kubeconfigRun)
		},
	}
	cmd.Flags().StringVar(&opts.File, "file", "", "write to `path`, readable only by you, and print the path")
	return cmd
}

// document is the result in the JSON format.
type document struct {
	Type       string `json:"type"`
	Cluster    string `json:"cluster"`
	File       string `json:"file,omitempty"`
	Kubeconfig string `json:"kubeconfig,omitempty"`
}

func kubeconfigRun(ctx context.Context, o *Options) error {
	all, err := o.Clusters([]string{o.Name})
	if err != nil {
		return err
	}
	return factory.With(ctx, o.Progress, o.Driver, func(driver Driver, _ *render.Progress) error { return o.one(ctx, driver, all[0]) })
}

func (o *Options) one(ctx context.Context, driver Driver, c *config.Cluster) error {
	kubeconfig, err := driver.Kubeconfig(ctx, c)
	if err != nil {
		return err
	}
	if o.Lab() {
		if kubeconfig, err = withPluginPath(kubeconfig); err != nil {
			return err
		}
	}
	d := document{Type: "kubeconfig", Cluster: c.Name, Kubeconfig: string(kubeconfig)}
	if o.File != "" {
		if d.File, err = write(o.File, kubeconfig); err != nil {
			return err
		}
		d.Kubeconfig = ""
	}
	return o.print(d)
}

func (o *Options) print(d document) error {
	if o.JSON() {
		return render.WriteJSON(o.Out, d)
	}
	text := d.Kubeconfig
	if d.File != "" {
		text = d.File + "\n"
	}
	_, err := io.WriteString(o.Out, text)
	return err
}

// write replaces the file as a whole, so that a kubectl that reads it meanwhile
// sees the old or the new one. The path it returns is absolute.
func write(path string, content []byte) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("writing the kubeconfig: %w", err)
	}
	if err := file.Replace(path, content, 0o600); err != nil {
		return "", fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return path, nil
}
