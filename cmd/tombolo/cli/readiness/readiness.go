// Package readiness waits until a cluster is ready and shows what was found, for verify and what comes
// after an up.
package readiness

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"time"

	"tombolo/automation/health"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/wording"
)

// DefaultTimeout is the longest wait when none is given: a platform of a few
// dozen releases is ready well before.
const DefaultTimeout = 10 * time.Minute

// Driver is what a verification needs of automation.Driver.
type Driver interface {
	Verify(context.Context, *config.Cluster, health.Options) (health.Verification, error)
}

// Output says how one cluster is verified, and where the result goes.
type Output struct {
	Out      io.Writer
	Status   render.Status
	Table    render.TableOptions
	JSON     bool
	Timeout  time.Duration
	Revision string
	// Brief leaves out the table when everything is ready.
	Brief bool
	// Named begins the table with the cluster's name.
	Named bool
}

// document is the result in the JSON format.
type document struct {
	Type    string         `json:"type"`
	Cluster string         `json:"cluster"`
	Ready   bool           `json:"ready"`
	Checks  []health.Check `json:"checks"`
	// Systems of teams, which are no reason for a cluster not to be ready.
	Systems []health.System `json:"systems,omitempty"`
	Cause   *health.Check   `json:"cause,omitempty"`
	Seconds float64         `json:"seconds"`
}

// Cluster verifies one cluster and writes what was found, ready or not.
func Cluster(ctx context.Context, driver Driver, c *config.Cluster, o Output) error {
	v, err := driver.Verify(ctx, c, health.Options{Timeout: o.Timeout, Revision: o.Revision})
	if len(v.Checks) == 0 && err != nil {
		return err
	}
	if wErr := o.write(c.Name, v, err == nil); wErr != nil {
		return wErr
	}
	if err == nil {
		o.Status.Done("%s: %s ready, after %s", c.Name, wording.Plural(len(v.Checks), "object is", "objects are"), v.Waited.Round(time.Second))
	}
	o.systems(v.Systems)
	return err
}

// systems says which teams' systems are not ready, and why.
func (o Output) systems(all []health.System) {
	if len(all) == 0 || o.JSON {
		return
	}
	var refused []health.System
	for _, s := range all {
		if !s.Ready {
			refused = append(refused, s)
		}
	}
	o.Status.Plain("  %s, %d not ready%s", wording.Plural(len(all), "system", "systems"), len(refused),
		map[bool]string{true: ":", false: ""}[len(refused) > 0])
	for _, s := range refused {
		o.Status.Plain("    %s of team %s: %s", s.Name, s.Team, s.Refusal)
	}
}

func (o Output) write(cluster string, v health.Verification, ready bool) error {
	if o.JSON {
		return render.WriteJSON(o.Out, document{
			Type: "verification", Cluster: cluster, Ready: ready, Checks: v.Checks, Systems: v.Systems, Cause: v.Cause,
			Seconds: v.Waited.Seconds(),
		})
	}
	if ready && o.Brief {
		return nil
	}
	if o.Brief || o.Named {
		fmt.Fprintf(o.Out, "%s:\n", cluster)
	}
	// A message is whole in any case: below the table where a line has an end.
	columns := []string{"KIND", "NAME", "READY", "REVISION"}
	if !ready && o.Table.Width == 0 {
		columns = append(columns, "MESSAGE")
	}
	rows := make([][]string, len(v.Checks))
	for i, c := range v.Checks {
		rows[i] = []string{c.Kind, qualified(c), "yes", short(c.Revision), ""}
		if !c.Ready {
			rows[i][2], rows[i][4] = "no", wording.OneLine(c.Message)
		}
		rows[i] = rows[i][:len(columns)]
	}
	if err := render.Table(o.Out, o.Table, columns, rows); err != nil || o.Table.Width == 0 {
		return err
	}
	for _, c := range v.Checks {
		if !c.Ready {
			fmt.Fprintf(o.Out, "\n%s", render.Paragraph(c.String(), o.Table.Width))
		}
	}
	return nil
}

// digest matches the hexadecimal digits of a revision; the first twelve of them
// tell revisions apart, as in Git.
var digest = regexp.MustCompile(`([0-9a-f]{12})[0-9a-f]{28,}`)

func short(revision string) string { return digest.ReplaceAllString(revision, "$1") }

func qualified(c health.Check) string {
	if c.Namespace == "" {
		return c.Name
	}
	return c.Namespace + "/" + c.Name
}
