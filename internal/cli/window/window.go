// Package window holds commands to the change windows of cluster files.
package window

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/config"
	"tombolo/internal/cli/fault"
	"tombolo/internal/render"
)

// flag is the name of the flag with the reason.
const flag = "outside-window"

// Guard lets a command change clusters in their change windows, and with a reason at other
// times. Commands embed it in their options.
type Guard struct {
	// Now is the clock by which windows are judged. Default: time.Now.
	Now func() time.Time
	// Reason for going ahead outside of a window; "" for none.
	Reason string
}

// AddFlag adds the flag with the reason.
func (g *Guard) AddFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.Reason, flag, "", "go ahead outside of the change windows of cluster files, for this `reason`")
}

// Check refuses the flag without a reason.
func (g *Guard) Check(cmd *cobra.Command) error {
	if cmd.Flags().Changed(flag) && strings.TrimSpace(g.Reason) == "" {
		return fault.NewUsage("--"+flag+" has no reason", "say why it cannot wait, such as --"+flag+` "incident 4711"`)
	}
	return nil
}

// Time is what the clock shows.
func (g *Guard) Time() time.Time {
	if g.Now == nil {
		return time.Now()
	}
	return g.Now()
}

// Refuse is the error of a cluster that may not be changed now, whatever the reason; nil of
// one that may.
func (g *Guard) Refuse(c *config.Cluster) error {
	closed := c.Closed(g.Time())
	if closed == "" {
		return nil
	}
	return refusal(map[string]string{c.Name: closed})
}

// Outside has, by name, what is said of the clusters that may not be changed now.
func (g *Guard) Outside(all []*config.Cluster) map[string]string {
	now, out := g.Time(), map[string]string{}
	for _, c := range all {
		if closed := c.Closed(now); closed != "" {
			out[c.Name] = closed
		}
	}
	return out
}

// Enter refuses clusters that may not be changed now. With a reason it says so, and goes
// ahead; it returns what is said of those clusters, for the record.
func (g *Guard) Enter(status render.Status, all []*config.Cluster) (map[string]string, error) {
	outside := g.Outside(all)
	if len(outside) > 0 && g.Reason == "" {
		return nil, refusal(outside)
	}
	for _, name := range slices.Sorted(maps.Keys(outside)) {
		status.Doing("%s %s; going ahead: %s", name, outside[name], g.Reason)
	}
	return outside, nil
}

// refusal names a few of the clusters: the first by name, with when it may be changed.
func refusal(outside map[string]string) error {
	names := slices.Sorted(maps.Keys(outside))
	problem := fmt.Sprintf("%s %s", names[0], outside[names[0]])
	if more := len(names) - 1; more > 0 {
		problem += fmt.Sprintf("; so are %d others", more)
	}
	return &fault.Error{
		Class: fault.Window, Problem: problem,
		Remedy: "wait for it, or say why it cannot wait with --" + flag + ` "<reason>"`,
	}
}
