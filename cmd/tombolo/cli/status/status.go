// Package status is the command tombolo status.
package status

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/health"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/webpage"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// DefaultTimeout is the longest time for one cluster when none is given: an API
// that works answers well before.
const DefaultTimeout = 20 * time.Second

// Driver is what the command needs of automation.Driver.
type Driver interface {
	List(ctx context.Context, dir string) ([]automation.ClusterInfo, error)
	Remains(ctx context.Context, c *config.Cluster) (automation.Remains, error)
	Look(ctx context.Context, c *config.Cluster) (health.Look, error)
}

// Options of the command.
type Options struct {
	factory.Base
	Driver func(context.Context, automation.Observer) (Driver, error)
	// Records are what the journals tell, from the newest run on.
	Records func() ([]rollout.Record, error)
	// Drift is the last comparison of a cluster; nil when there was none.
	Drift func(cluster string) (*Drift, error)
	Now   func() time.Time

	clusters.Choice
	Systems  bool
	HTML     string
	Timeout  time.Duration
	Parallel int
}

// NewCmdStatus returns the command; runF, if not nil, runs in place of it.
func NewCmdStatus(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Base: f.Base(), Now: time.Now, Choice: f.Choice(),
		Driver:  func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
		Records: f.Records,
		Drift:   func(cluster string) (*Drift, error) { return lastDrift(f, cluster) },
	}
	cmd := &cobra.Command{
		Use:   "status [<cluster>...]",
		Short: "Show the fleet: versions, last operation, drift, GitOps readiness",
		Long: strings.TrimSpace(`
Show the clusters: their versions, the last operation on each, the drift that
tombolo drift last found, and whether everything that Git declares is ready now.
Without a selection, show all clusters of the project. The command changes nothing
and does not wait: a cluster that does not answer in time is shown as such.

--systems shows the systems of teams on the clusters instead: their teams, the
last delivery, and why a system is not ready. With the engine Argo CD, it shows
none.

--html also writes all this, with more details, as one self-contained page.`),
		Example: strings.TrimSpace(`
  tombolo status
  tombolo status --html fleet.html
  tombolo status teams --systems
  tombolo status --selector environment=prod
  tombolo status demo --timeout 5s --output json`),
		Args: opts.Args,
		RunE: func(cmd *cobra.Command, _ []string) error { return factory.Run(cmd.Context(), opts, runF, statusRun) },
	}
	opts.AddFlags(cmd)
	cmd.Flags().BoolVar(&opts.Systems, "systems", false, "show the systems of teams in place of the clusters")
	cmd.Flags().StringVar(&opts.HTML, "html", "", "also write a page to this `file`")
	cmd.Flags().DurationVar(&opts.Timeout, "timeout", DefaultTimeout, "longest time for one cluster")
	cmd.Flags().IntVar(&opts.Parallel, "parallel", defaultParallel, "how many clusters are read at a time")
	return cmd
}

// defaultParallel is high: each look waits for the API of its cluster, most of the time.
const defaultParallel = 16

// document is the result in the JSON format.
type document struct {
	Type     string     `json:"type"`
	At       time.Time  `json:"at"`
	Clusters []Standing `json:"clusters"`
}

func statusRun(ctx context.Context, o *Options) error {
	if o.Timeout <= 0 {
		return fault.NewUsage(fmt.Sprintf("--timeout is %s", o.Timeout), "give a duration such as 20s")
	}
	if o.Parallel <= 0 {
		return fault.NewUsage(fmt.Sprintf("--parallel is %d", o.Parallel), "pass 1 or more")
	}
	all, err := o.Choose()
	if err != nil {
		return err
	}
	found, err := o.gather(ctx, all)
	if err != nil {
		return err
	}
	p := page{At: o.Now().UTC(), Clusters: found}
	if o.HTML != "" {
		text, err := p.render()
		if err == nil {
			err = webpage.Write(o.HTML, text)
		}
		if err != nil {
			return err
		}
		o.Status().Done("the page is in %s", o.HTML)
	}
	if o.JSON() {
		return render.WriteJSON(o.Out, document{Type: "status", At: p.At, Clusters: found})
	}
	if o.Systems {
		return o.systems(found)
	}
	return o.table(found)
}

// table writes a line for each cluster, and the causes of what is not well
// below, where they have room.
func (o *Options) table(found []Standing) error {
	rows := make([][]string, len(found))
	for i, s := range found {
		rows[i] = []string{
			s.Name, fmt.Sprint(s.Wave), s.Kubernetes.String(), s.Runs(),
			s.lastText(o.Now()), s.DriftText(), s.GitOps.Text(),
		}
	}
	header := []string{"CLUSTER", "WAVE", "KUBERNETES", "ENGINE", "LAST OPERATION", "DRIFT", "GITOPS"}
	if err := render.Table(o.Out, o.Table(), header, rows); err != nil {
		return err
	}
	for _, s := range found {
		for _, trouble := range s.Troubles() {
			o.Status().Failed("%s: %s", s.Name, trouble)
		}
	}
	return nil
}
