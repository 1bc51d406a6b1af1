// Package notice tells the platform's channel, Slack's or Teams', how a run has ended: the one that
// cluster files name in gitops.channel, where they ask for it.
//
// The address of a channel is a secret: no message and no error holds any of it. A notice
// that is not delivered is told of, and changes nothing else.
package notice

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tombolo/automation/pulumicli"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/markdown"
	"tombolo/internal/wording"
)

// Run is a run of a command that has ended.
type Run struct {
	// Command that ran: up, destroy, rebuild or upgrade.
	Command string
	// Clusters that it was about.
	Clusters []Cluster
	// Took is how long it ran.
	Took time.Duration
}

// Cluster is what became of one cluster.
type Cluster struct {
	*config.Cluster
	Outcome rollout.Outcome
	// Did is what was changed, such as "5 created, 1 updated"; "" for nothing.
	Did string
	// Cause is why it did not succeed; "" when it did. It is told without passwords in URLs.
	Cause string
	// Took is how long the work on it took; 0 when there was none.
	Took time.Duration
}

// OfFleet is the run on clusters that a summary is of.
func OfFleet(all []*config.Cluster, s rollout.Summary) Run {
	byName := make(map[string]*config.Cluster, len(all))
	for _, c := range all {
		byName[c.Name] = c
	}
	r := Run{Command: s.Operation, Took: s.Duration}
	for _, e := range s.Clusters {
		r.Clusters = append(r.Clusters, Cluster{
			Cluster: byName[e.Cluster], Outcome: e.Outcome, Did: render.Changed(e.Changes), Cause: e.Cause(), Took: e.Duration,
		})
	}
	return r
}

// OfOne is the run of a command that works on one cluster; changed is what it changes when it succeeds.
func OfOne(command string, c *config.Cluster, changed string, took time.Duration, err error) Run {
	e := rollout.End{Outcome: rollout.Succeeded, Err: err}
	if err != nil {
		changed = ""
	}
	switch {
	case errors.Is(err, context.Canceled):
		e.Outcome = rollout.Interrupted
	case err != nil:
		e.Outcome = rollout.Failed
	}
	return Run{Command: command, Took: took, Clusters: []Cluster{{Cluster: c, Outcome: e.Outcome, Did: changed, Cause: e.Cause(), Took: took}}}
}

// all are the files of the clusters.
func (r Run) all() []*config.Cluster {
	var out []*config.Cluster
	for _, c := range r.Clusters {
		out = append(out, c.Cluster)
	}
	return out
}

func (c Cluster) succeeded() bool { return c.Outcome == rollout.Succeeded }

// wanted says whether the channel is told of the cluster: of what did not succeed, and on request of
// what was changed. What stays as it is, is told nobody.
func (c Cluster) wanted() bool {
	if channel := c.GitOps.Channel; channel.HasNotices() {
		return !c.succeeded() || c.Did != "" && channel.Notices == config.RunNotices
	}
	return false
}

// message is what one channel is told, in any format.
type message struct {
	title  string
	failed bool
	lines  []line
	// more are the clusters that have no line; "" for none.
	more string
	// facts are name and value, in turn.
	facts [][2]string
	link  string
}

// line is about one cluster.
type line struct {
	cluster, text string
	good          bool
}

const (
	// mostLines bounds a message: Slack takes 50 blocks with about 13,000 characters, and Teams 28 KB.
	// https://docs.slack.dev/reference/block-kit/blocks
	// https://github.com/slackapi/bolt-js/issues/2509
	// https://learn.microsoft.com/microsoftteams/limits-specifications-teams
	mostLines = 20
	// longestCause is in runes: 20 of them are well below all three.
	longestCause = 300
)

// compose makes the message for one channel of the clusters that it has. What did not succeed comes
// first.
func (s *Sender) compose(r Run, of []Cluster) message {
	m := message{title: title(r.Command, of), link: s.Link}
	slices.SortStableFunc(of, func(a, b Cluster) int { return rank(a) - rank(b) })
	rest := 0
	for _, c := range of {
		m.failed = m.failed || !c.succeeded()
		if !c.wanted() || len(m.lines) == mostLines {
			rest++
			continue
		}
		m.lines = append(m.lines, line{cluster: c.Name, text: c.told(), good: c.succeeded()})
	}
	if rest > 0 {
		m.more = "and " + wording.Plural(rest, "other cluster", "other clusters")
	}
	m.facts = [][2]string{{"Duration", r.Took.Round(time.Second).String()}}
	if s.Who != "" {
		m.facts = append(m.facts, [2]string{"By", markdown.OneLine(s.Who)})
	}
	return m
}

// rank is 0 for what failed, 1 for what was kept from success by that, and 2 for the rest.
func rank(c Cluster) int {
	switch {
	case c.Outcome == rollout.Failed || c.Outcome == rollout.Interrupted:
		return 0
	case !c.succeeded():
		return 1
	}
	return 2
}

// title is such as "up of demo succeeded" or "up of 3 clusters: 2 succeeded, 1 failed".
func title(command string, of []Cluster) string {
	if len(of) == 1 {
		return fmt.Sprintf("%s of %s: %s", command, of[0].Name, of[0].Outcome)
	}
	var parts []string
	for _, o := range rollout.Outcomes() {
		n := 0
		for _, c := range of {
			if c.Outcome == o {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	return fmt.Sprintf("%s of %d clusters: %s", command, len(of), strings.Join(parts, ", "))
}

// told is what the line of a cluster says of it.
func (c Cluster) told() string {
	parts := []string{string(c.Outcome)}
	if c.Took > 0 {
		parts[0] += " in " + c.Took.Round(time.Second).String()
	}
	if c.Did != "" {
		parts = append(parts, c.Did)
	}
	if c.Cause != "" {
		parts = append(parts, cut(markdown.OneLine(pulumicli.Reason(c.Cause))))
	}
	return strings.Join(parts, ": ")
}

func cut(cause string) string {
	if runes := []rune(cause); len(runes) > longestCause {
		return string(runes[:longestCause-1]) + "…"
	}
	return cause
}
