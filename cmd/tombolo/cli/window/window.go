// Package window holds commands to the change windows of cluster files.
package window

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
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
func (g *Guard) Check(cmd *cobra.Command, _ []string) error {
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

// Enter refuses clusters that may not be changed now. With a reason it says so, and goes
// ahead.
func (g *Guard) Enter(status render.Status, all []*config.Cluster) error {
	now, outside := g.Time(), map[string]string{}
	for _, c := range all {
		if closed := c.Closed(now); closed != "" {
			outside[c.Name] = closed
		}
	}
	if len(outside) > 0 && g.Reason == "" {
		return refusal(outside)
	}
	for _, name := range slices.Sorted(maps.Keys(outside)) {
		status.Doing("%s %s; going ahead: %s", name, outside[name], g.Reason)
	}
	return nil
}

// Admit says whether the change of a cluster may begin now. Outside of its windows that
// takes a reason, and the journal has it first.
func (g *Guard) Admit(c *config.Cluster, journal *rollout.Journal) error {
	now := g.Time()
	closed := c.Closed(now)
	switch {
	case closed == "":
		return nil
	case g.Reason == "":
		return refusal(map[string]string{c.Name: closed})
	}
	if err := journal.Outside(now, c.Name, g.Reason, closed); err != nil {
		return fault.NewPrecondition("the reason of --"+flag+" cannot be recorded", "make the directory of the journals writable", err)
	}
	return nil
}

// refusal names a few of the clusters: the first by name, with when it may be changed.
func refusal(outside map[string]string) error {
	names := slices.Sorted(maps.Keys(outside))
	problem := fmt.Sprintf("%s %s", names[0], outside[names[0]])
	switch more := len(names) - 1; {
	case more == 1:
		problem += "; so is 1 other"
	case more > 1:
		problem += fmt.Sprintf("; so are %d others", more)
	}
	return &fault.Error{
		Class: fault.Window, Problem: problem,
		Remedy: "wait for it, or say why it cannot wait with --" + flag + ` "<reason>"`,
	}
}
