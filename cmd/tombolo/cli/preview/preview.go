// Package preview is the command tombolo preview.
package preview

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/cli/result"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Preview(context.Context, *config.Cluster, automation.PreviewOptions) (automation.Result, error)
	List(ctx context.Context, dir string) ([]automation.ClusterInfo, error)
}

// Options of the command.
type Options struct {
	*fleet.Fleet
	Driver func(context.Context, automation.Observer) (Driver, error)
	// Markdown says that one comment is written in place of plans.
	Markdown func() bool

	Refresh        bool
	WithoutSecrets bool
	Details        bool
	Review

	// Programs is the directory with the programs of own stacks; "" for the project's, unless a change is
	// previewed.
	Programs string

	// settings is the directory of the project file and the stacks' settings; "" for
	// the project's own.
	settings string
}

// NewCmdPreview returns the command; runF, if not nil, runs in place of it.
func NewCmdPreview(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Fleet:    fleet.New(f, fleet.Operation{Name: "preview", Order: rollout.Free}),
		Markdown: func() bool { return f.Globals.Output == render.Markdown },
	}
	opts.Driver = func(ctx context.Context, o automation.Observer) (Driver, error) {
		return f.DriverWith(ctx, o, factory.Trusted{Settings: opts.settings, Programs: opts.Programs})
	}
	opts.Lookup = f.Lookup
	cmd := &cobra.Command{
		Use:   "preview [<cluster>...]",
		Short: "Show what up would change",
		Long: strings.TrimSpace(`
List the resources of both stacks that up would change. Change nothing.

Before core exists, bootstrap is previewed with typed unknowns in place of core's
outputs. They are shown as such, and up never applies them. If core would change,
bootstrap is previewed with the outputs that core's preview predicts.

Own stacks, which tombolo.stacks.yaml names, are previewed in their places. With
--changed-since, the project may have programs that somebody proposes: then
--programs names a checkout that is trusted, and without it own stacks are named
and not previewed.

With --without-secrets, the command decrypts nothing, and needs no key or
passphrase of the states. Secrets are unknown, and count as unchanged if the
state has them. So the preview does not show that a secret changes. Use it in
jobs that only preview.

The command also shows the warnings of the cluster files, as validate does. For
a cluster that does not exist yet, it says from where the Kubernetes API will be
reachable, and whether this machine is there.

With --output markdown, the result is one comment for a pull request, for all
clusters together; tombolo comment posts it. With --output markdown or --exit-code,
the rules of tombolo.policy.yaml are checked. With --changed-since, they are read
from that commit, so that a change cannot relax its own rules; and so are Pulumi.yaml
and the settings of the stacks.`),
		Example: strings.TrimSpace(`
  tombolo preview demo --lab
  tombolo preview demo --details
  tombolo preview --selector environment=prod
  tombolo preview --changed-since origin/main --output markdown --html preview.html`),
		Args: cobra.MatchAll(opts.check, opts.Args),
		RunE: func(cmd *cobra.Command, _ []string) error { return factory.Run(cmd.Context(), opts, runF, previewRun) },
	}
	opts.AddFlags(cmd)
	opts.AddChangedFlags(cmd)
	cmd.Flags().BoolVar(&opts.Refresh, "refresh", false, "compare with the cloud, not only with the state")
	factory.AddWithoutSecrets(cmd, &opts.WithoutSecrets)
	cmd.Flags().StringVar(&opts.Programs, "programs", "",
		"the `directory` with tombolo.stacks.yaml and the programs that it names (default: the project's; with --changed-since none)")
	opts.addFlags(cmd, &f.Globals.Output)
	cmd.Flags().BoolVar(&opts.Details, "details", false, "show the inputs of each resource; secrets are masked")
	return cmd
}

func previewRun(ctx context.Context, o *Options) (err error) {
	if o.settings, err = o.SettingsAtBase(ctx); err != nil {
		return err
	}
	if o.settings != "" {
		defer func() {
			if left := os.RemoveAll(o.settings); err == nil {
				err = left
			}
		}()
	}
	if o.wanted() || o.Markdown() {
		return o.reviewRun(ctx)
	}
	all, err := o.Choose()
	if err != nil || len(all) == 0 {
		return err
	}
	if err := o.warn(all); err != nil {
		return err
	}
	return fleet.With(ctx, o.Fleet, o.Driver, func(s *fleet.Session[Driver]) error {
		return s.Run(ctx, all, fleet.Tasks{Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			r, err := s.Driver.Preview(ctx, c, automation.PreviewOptions{Refresh: o.Refresh, WithoutSecrets: o.WithoutSecrets})
			if err != nil {
				return result.Work(r), err
			}
			return result.Work(r), o.write(t.Out, r, result.Plans(s.Progress, r))
		}})
	})
}

// warn shows the warnings of the clusters' files before anything is previewed.
func (o *Options) warn(all []*config.Cluster) error {
	clusters.Warn(o.Status(), all...)
	if !o.JSON() {
		return nil
	}
	for _, c := range all {
		if err := clusters.WriteWarnings(o.Out, c); err != nil {
			return err
		}
	}
	return nil
}

// fileChanges writes which keys of the file differ from the live cluster.
func (o *Options) fileChanges(w io.Writer, r automation.Result) error {
	if o.JSON() {
		return render.WriteFileChanges(w, r.Cluster, r.FileChanges)
	}
	render.FileChanges(w, r.Cluster, r.FileChanges)
	return nil
}

// planDocument is the document of one stack's plan in the JSON format.
type planDocument struct {
	Type         string            `json:"type"`
	Stack        string            `json:"stack"`
	Placeholders bool              `json:"placeholders"`
	Changes      map[string]int    `json:"changes"`
	Steps        []render.PlanStep `json:"steps"`
}

func (o *Options) write(w io.Writer, r automation.Result, plans []render.Plan) error {
	if err := o.fileChanges(w, r); err != nil {
		return err
	}
	table := o.Table()
	for i, p := range plans {
		if o.JSON() {
			d := planDocument{
				Type: "plan", Stack: p.Stack, Placeholders: p.Placeholders, Changes: p.Changes,
				Steps: append([]render.PlanStep{}, p.Steps...),
			}
			if err := render.WriteJSON(w, d); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		render.WritePlan(w, p, render.PlanOptions{Style: table.Style, Width: table.Width, Details: o.Details})
	}
	if o.JSON() {
		return result.Write(w, "preview", r)
	}
	return nil
}
