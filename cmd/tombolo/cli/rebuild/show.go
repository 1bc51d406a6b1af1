package rebuild

import (
	"fmt"
	"time"

	"tombolo/automation"
	"tombolo/automation/rebuild"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// planDocument, phaseDocument and endDocument are the results in the JSON format.
type planDocument struct {
	Type string `json:"type"`
	automation.RebuildPlan
}

type phaseDocument struct {
	Type    string `json:"type"`
	Cluster string `json:"cluster"`
	automation.RebuildPhase
	Seconds float64 `json:"seconds"`
	// Spent says what the seconds went to, where that is more than one thing.
	Spent []rebuild.Took `json:"spent,omitempty"`
}

type endDocument struct {
	Type    string    `json:"type"`
	Cluster string    `json:"cluster"`
	Version string    `json:"version"`
	Began   time.Time `json:"began"`
	Resumed bool      `json:"resumed"`
	// Seconds of this run: of a rebuild that was resumed, the ones since that.
	Seconds float64 `json:"seconds"`
}

func (o *Options) showPlan(p automation.RebuildPlan) error {
	if o.JSON() {
		return render.WriteJSON(o.Streams.Out, planDocument{Type: "rebuild-plan", RebuildPlan: p})
	}
	status := o.Status()
	if p.Resumes {
		status.Doing("%s: going on with the rebuild of %s", p.Cluster, p.Began.Local().Format(time.DateTime))
	}
	version := "Kubernetes " + p.Version
	if p.From != "" && p.From != p.Version {
		version = fmt.Sprintf("Kubernetes %s in place of %s", p.Version, p.From)
	}
	what := "it is destroyed, and made again with " + version
	if p.Destroyed {
		what = "it was destroyed, and is made again with " + version
	}
	status.Plain("%s: %s", p.Cluster, what)
	for _, change := range p.Changes {
		status.Plain("  new: %s: %s", change.Path, change.Values())
	}
	if p.KeepData {
		status.Plain("  buckets, file systems and snapshots are kept")
	}
	return nil
}

// times shows how long each phase takes.
type times struct {
	options  *Options
	progress *render.Progress
	cluster  *config.Cluster
	start    time.Time
	rows     [][]string
	err      error
}

func (t *times) began(p automation.RebuildPhase) {
	t.options.Spent.Begin(p)
	t.progress.Interlude(func() { t.options.Status().Doing("%s: %s", t.cluster.Name, p) })
}

func (t *times) ended(p automation.RebuildPhase, took time.Duration) {
	spent := t.options.Spent.End()
	t.rows = append(t.rows, []string{p.Operation, p.Part, took.Round(time.Second).String()})
	for _, part := range spent {
		t.rows = append(t.rows, []string{"", "  " + string(part.On), time.Duration(part.Seconds * float64(time.Second)).Round(time.Second).String()})
	}
	t.progress.Interlude(func() {
		t.options.Status().Done("%s: %s, in %s", t.cluster.Name, p, took.Round(time.Second))
		if t.options.JSON() {
			t.err = render.WriteJSON(t.options.Streams.Out, phaseDocument{
				Type: "rebuild-phase", Cluster: t.cluster.Name, RebuildPhase: p, Seconds: took.Seconds(), Spent: spent,
			})
		}
	})
}

// end shows all times, with that of the whole, and what is left to a person.
func (t *times) end(p automation.RebuildPlan, took time.Duration) error {
	if t.err != nil {
		return t.err
	}
	o := t.options
	if o.JSON() {
		return render.WriteJSON(o.Streams.Out, endDocument{
			Type: "rebuild", Cluster: t.cluster.Name, Version: p.Version, Began: p.Began, Resumed: p.Resumes, Seconds: took.Seconds(),
		})
	}
	t.rows = append(t.rows, []string{"all", "", took.Round(time.Second).String()})
	if err := render.Table(o.Streams.ErrOut, o.Table(), []string{"operation", "part", "time"}, t.rows); err != nil {
		return err
	}
	o.Status().Done("%s: rebuilt with Kubernetes %s", t.cluster.Name, p.Version)
	if p.Resumes {
		o.Status().Plain("  The rebuild began %s; the times are those since it was resumed.", p.Began.Local().Format(time.DateTime))
	}
	if p.Version != t.cluster.Kubernetes.Version {
		o.Status().Plain("  Commit %s: it says so now.", clusters.Short(t.cluster.File))
	}
	return nil
}
