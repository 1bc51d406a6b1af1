// Package upgrader upgrades a cluster's Kubernetes: package upgrade says how it gets to another version.
package upgrader

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/automation/cloud"
	"tombolo/automation/connect"
	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/automation/operation"
	"tombolo/automation/step"
	"tombolo/automation/upgrade"
	"tombolo/config"
	"tombolo/internal/wording"
)

// Options of an upgrade of Kubernetes.
type Options struct {
	// To is the version to go to, major.minor. With Rollback it may be left out.
	To string
	// HoldNodes leaves the nodes at the version before the last: a cloud takes the control
	// plane back only while no node is newer.
	HoldNodes bool
	// Rollback goes back by one minor, which EKS allows for seven days, and AKS never.
	Rollback bool
	// Accept are the risks that are set aside.
	Accept []upgrade.Risk
	// NoGate goes on after each step without waiting for what Git declares.
	NoGate bool
	// GateTimeout is the longest wait for what Git declares after each step, and
	// NodeTimeout that for nodes. Defaults: 10m and 1h.
	GateTimeout, NodeTimeout time.Duration
	// Began and Ended, if not nil, are called before and after each step, with its
	// number in the plan, from 0.
	Began, Ended func(int, upgrade.Step)
	// Asked, if not nil, is called with what the cloud sees in the way of a step.
	Asked func([]upgrade.Insight)
}

// Plan says how a cluster's Kubernetes gets to another version.
type Plan struct {
	// Cluster is the cluster's name.
	Cluster string `json:"cluster"`
	// Terms are those of the cluster's cloud.
	Terms upgrade.Terms `json:"-"`
	// Has are the versions that the live cluster has.
	Has upgrade.Versions `json:"has"`
	// To is the version after all steps, major.minor.
	To string `json:"to"`
	// Steps in their order; none when there is nothing to do.
	Steps []upgrade.Step `json:"steps"`
	// Insights are what the cloud sees in the way of the first step; none when that is not
	// one of the control plane.
	Insights []upgrade.Insight `json:"insights,omitempty"`
}

// The longest waits of an upgrade when none are given. EKS itself gives up on a node that
// does not drain after 15 minutes, and a group may have many nodes:
// https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
const (
	DefaultGateTimeout = 10 * time.Minute
	DefaultNodeTimeout = time.Hour
)

// Upgrader upgrades clusters. All fields are required.
type Upgrader struct {
	Connector connect.Connector
	Observer  operation.Observer
	// Cloud is that of a cluster, and Run runs its command line.
	Cloud func(*config.Cluster) cloud.Cloud
	Run   upgrade.Runner
	// Live is what the live cluster was made from; nil when no cluster lives.
	Live func(context.Context, *config.Cluster) (*config.Live, error)
	// Up makes a cluster what its file says, and Verify waits until what Git declares is ready.
	Up     func(context.Context, *config.Cluster) error
	Verify func(context.Context, *config.Cluster, time.Duration) error
}

// Plan finds out what an upgrade would do, and changes nothing. It refuses what
// cannot be done or is not safe: strict.Problems when the cluster file says so, and a
// fault.Error for all else.
func (u Upgrader) Plan(ctx context.Context, c *config.Cluster, o Options) (Plan, error) {
	p := Plan{Cluster: c.Name, To: o.To, Terms: u.Cloud(c).Terms()}
	if c.IsExisting() {
		return p, &fault.Error{
			What:   fmt.Sprintf("%s is the existing cluster %s, whose owner upgrades it", c.Name, c.NameInCloud()),
			Remedy: fmt.Sprintf("upgrade it where it was made; the next `tombolo up %s` gives the new version to what reads it", c.Name),
		}
	}
	found, err := u.Live(ctx, c)
	if err != nil {
		return p, err
	}
	if found == nil || found.Cluster.Kubernetes.Version == "" {
		return p, &fault.Error{What: c.Name + " is not deployed", Remedy: "deploy it with `tombolo up " + c.Name + "`: a new cluster gets the version in its file"}
	}
	version := found.Cluster.Kubernetes.Version
	p.Has = upgrade.Versions{ControlPlane: version, Nodes: cmp.Or(found.NodeVersion, version)}
	if err := p.decide(c, o); err != nil {
		return p, err
	}
	if err := refuseOtherChanges(c, config.Compare(found, c)); err != nil {
		return p, err
	}
	if o.Rollback {
		err = u.refuseNewerNodes(ctx, c, p.To)
	} else {
		err = upgrade.Refusals(c, p.Steps, o.Accept).Err()
	}
	if err != nil {
		return p, err
	}
	if p.beginsWithControlPlane() { // else nodes come first, and change what there is to say
		p.Insights, err = u.askInsights(ctx, c, p.Steps[0].To, asks{}, o)
	}
	return p, err
}

func (p Plan) beginsWithControlPlane() bool {
	return len(p.Steps) > 0 && p.Steps[0].Phase.MovesControlPlane()
}

// decide chooses the steps, or says why there are none that lead there.
func (p *Plan) decide(c *config.Cluster, o Options) error {
	usage := func(remedy, format string, args ...any) error {
		return &fault.Error{Class: fault.Usage, What: c.Name + ": " + fmt.Sprintf(format, args...), Remedy: remedy}
	}
	if o.Rollback && p.Terms.RollbackDays == 0 {
		return usage("make a new cluster in its place with `tombolo rebuild "+c.Name+"`", "%s takes no control plane back to an earlier version", p.Terms.Service)
	}
	if o.Rollback {
		p.Steps = upgrade.Back(p.Has)
		to := p.Steps[len(p.Steps)-1].To
		if o.To != "" && o.To != to {
			return usage("leave --to out", "the control plane has %s, and %s takes it back to %s only, not to %s", p.Has.ControlPlane, p.Terms.Service, to, o.To)
		}
		p.To = to
		return nil
	}
	if !slices.Contains(p.Terms.Versions, o.To) {
		return usage("choose one of them", "%s is not a version that %s and this program have; these are %s", wording.Quote(o.To), p.Terms.Service, wording.And(p.Terms.Versions))
	}
	if config.CompareMinors(o.To, p.Has.ControlPlane) < 0 && p.Terms.RollbackDays == 0 {
		return usage("choose "+p.Has.ControlPlane+" or a newer one: "+p.Terms.Service+" takes no control plane back", "the control plane has %s, which is newer than %s", p.Has.ControlPlane, o.To)
	}
	if config.CompareMinors(o.To, p.Has.ControlPlane) < 0 {
		return usage("within seven days of the upgrade, `tombolo upgrade "+c.Name+" --rollback` goes back by one minor version",
			"the control plane has %s, which is newer than %s", p.Has.ControlPlane, o.To)
	}
	_, karpenter := c.Addons["karpenter"]
	if o.HoldNodes && c.UpgradesTogether() {
		return usage("leave --hold-nodes out; or set kubernetes.upgrades.kubernetes: none in the file, and run `tombolo up "+c.Name+"` first",
			"%s takes control plane and nodes on together with kubernetes.upgrades.kubernetes: %s", p.Terms.Service, c.Kubernetes.Upgrades.Kubernetes)
	}
	p.Steps = upgrade.Steps(p.Has, o.To, upgrade.Ways{Hold: o.HoldNodes, Together: c.UpgradesTogether(), Karpenter: karpenter})
	return nil
}

// refuseOtherChanges keeps an upgrade to itself: what else the file asks for is looked at
// and made by an up.
func refuseOtherChanges(c *config.Cluster, changes config.Changes) error {
	var others []string
	for _, change := range changes {
		if !slices.Contains(upgrade.Keys(), change.Path) {
			others = append(others, change.Path)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return &fault.Error{
		What:   fmt.Sprintf("upgrade %s: the cluster file differs from the live cluster in more than the version: %s", c.Name, wording.And(others)),
		Remedy: fmt.Sprintf("nothing was started: run `tombolo up %s` first, or take the changes back", c.Name),
	}
}

// refuseNewerNodes refuses a rollback below nodes that it does not take back itself.
func (u Upgrader) refuseNewerNodes(ctx context.Context, c *config.Cluster, to string) error {
	k, _, err := u.Connector.Connect(ctx, c)
	if err != nil {
		return err
	}
	nodes, err := nodesOf(ctx, k, u.Cloud(c).Terms())
	if err != nil {
		return err
	}
	var names []string
	for _, n := range upgrade.Newer(nodes, to) {
		if n.Group == "" {
			names = append(names, n.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &fault.Error{
		What: fmt.Sprintf("roll back %s: %s newer than %s, and no node group has: %s",
			c.Name, wording.Plural(len(names), "node that is", "nodes that are"), to, strings.Join(names, ", ")),
		Remedy: "nothing was started: pin the image of Karpenter's EC2NodeClass to one of " + to + " in the tree, wait until its nodes are replaced, and run the command again",
	}
}

// asks say how the cloud is asked: fresh has it look again, and not tell what it has seen before.
type asks struct{ fresh bool }

// askInsights asks the cloud what is in the way of a control plane's next version. An
// error there is one here, unless it is accepted.
func (u Upgrader) askInsights(ctx context.Context, c *config.Cluster, version string, a asks, o Options) ([]upgrade.Insight, error) {
	accepted := slices.Contains(o.Accept, upgrade.BadInsights)
	terms := u.Cloud(c).Terms()
	all, err := u.Cloud(c).Insights(ctx, u.Run, c, upgrade.Question{Version: version, Back: o.Rollback, Fresh: a.fresh})
	if err != nil && accepted {
		return nil, nil
	}
	remedy := fmt.Sprintf("nothing was started for %s; ", version)
	if err != nil {
		return nil, &fault.Error{
			What:   fmt.Sprintf("upgrade %s: %s does not say what is in the way of %s: %v", c.Name, terms.Cloud, version, err),
			Remedy: remedy + terms.Rights + ", or pass --accept insights", Err: err,
		}
	}
	bad := upgrade.Errors(all)
	if len(bad) == 0 || accepted {
		return all, nil
	}
	reasons := make([]string, len(bad))
	for i, b := range bad {
		reasons[i] = strings.TrimRight(b.String(), ".")
		if b.Recommendation != "" {
			reasons[i] += " (" + terms.Cloud + " recommends: " + strings.TrimRight(b.Recommendation, ".") + ")"
		}
	}
	return all, &fault.Error{
		What:   fmt.Sprintf("upgrade %s: %s sees in the way of %s: %s", c.Name, terms.Cloud, version, strings.Join(reasons, "; ")),
		Remedy: remedy + "do what " + terms.Cloud + " recommends; " + terms.Service + " refuses the update as long as it sees an error",
	}
}

// Steps of an upgrade. Before each change the versions are written into the
// cluster file, so that whatever stops it, the same command goes on, and an up does not
// go back. After each, the upgrade waits until the nodes have their version and what Git declares
// is ready.
func (u Upgrader) Steps(c *config.Cluster, p Plan, o Options) []step.Step {
	now := *c
	if len(p.Steps) == 0 {
		return []step.Step{{Name: "write the versions", Do: func(context.Context) error { return writeVersions(&now, p.Has) }}}
	}
	out := make([]step.Step, len(p.Steps))
	for i, s := range p.Steps {
		out[i] = step.Step{Name: p.Terms.To(s), Do: func(ctx context.Context) error {
			if o.Began != nil {
				o.Began(i, s)
			}
			if err := step.Run(ctx, append(u.settle(&now, p, i, o), u.stepsOf(&now, i, s, o)...), nil); err != nil {
				return err
			}
			if o.Ended != nil {
				o.Ended(i, s)
			}
			return nil
		}}
	}
	return out
}

// settle waits before the first step for what the cloud has under way, such as a change of an
// upgrade that was killed: it begins no other meanwhile. A plan that has asked knows of it.
func (u Upgrader) settle(c *config.Cluster, p Plan, i int, o Options) []step.Step {
	_, busy := upgrade.AtWork(p.Insights)
	if i > 0 || !p.Terms.TellsOfWork || len(p.Insights) > 0 && !busy {
		return nil
	}
	return []step.Step{{Name: "wait for what is under way", Do: func(ctx context.Context) error { return u.awaitWork(ctx, c, p, o) }}}
}

// workPoll is how often the cloud is asked for what it has under way, which takes minutes.
const workPoll = 5 * time.Second

// awaitWork waits until the cloud has nothing under way. A cloud that does not say is left to the change
// that follows.
func (u Upgrader) awaitWork(ctx context.Context, c *config.Cluster, p Plan, o Options) error {
	timeout := cmp.Or(o.NodeTimeout, DefaultNodeTimeout)
	var at upgrade.Insight
	defer u.Observer.Waiting(c.Name, "")
	err := wait.PollUntilContextTimeout(ctx, workPoll, timeout, true, func(ctx context.Context) (bool, error) {
		all, err := u.Cloud(c).Insights(ctx, u.Run, c, upgrade.Question{Version: p.Steps[0].To, Fresh: true})
		found, busy := upgrade.AtWork(all)
		if at = found; err == nil && busy {
			u.Observer.Waiting(c.Name, at.Reason)
		}
		return err != nil || !busy, nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &fault.Error{
			What:   fmt.Sprintf("upgrade %s: after %s, %s, and %s begins no other operation", c.Name, timeout, at.Reason, p.Terms.Service),
			Remedy: "nothing was started: look at the cluster's operations in the cloud, and run the same command again",
		}
	}
	return nil
}

// stepsOf are the parts of one step of the plan, whose number is i.
func (u Upgrader) stepsOf(c *config.Cluster, i int, s upgrade.Step, o Options) []step.Step {
	var out []step.Step
	add := func(name string, do func(context.Context) error) { out = append(out, step.Step{Name: name, Do: do}) }
	if s.Phase.MovesControlPlane() && i > 0 { // the plan has asked before the first
		add("ask the cloud", func(ctx context.Context) error {
			found, err := u.askInsights(ctx, c, s.To, asks{fresh: true}, o)
			if o.Asked != nil {
				o.Asked(found)
			}
			return err
		})
	}
	if s.Phase != upgrade.Karpenter {
		add("write the versions", func(context.Context) error { return writeVersions(c, s.File) })
		add("up", func(ctx context.Context) error {
			c.RollBack = o.Rollback
			return u.Up(ctx, c)
		})
	}
	if s.Phase != upgrade.ControlPlane {
		add("wait for the nodes", func(ctx context.Context) error { return u.awaitNodes(ctx, c, s, o) })
	}
	if !o.NoGate {
		add("wait for what Git declares", func(ctx context.Context) error {
			return u.Verify(ctx, c, cmp.Or(o.GateTimeout, DefaultGateTimeout))
		})
	}
	return out
}

// writeVersions gives the cluster other versions, in its file too.
func writeVersions(c *config.Cluster, v upgrade.Versions) error {
	if err := config.SetVersions(c.File, v.ControlPlane, v.Nodes); err != nil {
		return err
	}
	c.Kubernetes.Version, c.Kubernetes.NodeVersion = v.ControlPlane, v.NodeVersion()
	return nil
}

// nodePoll is how often nodes are looked at: they take minutes.
const nodePoll = 2 * time.Second

// awaitNodes waits until the nodes of a step have its version. An API that does not
// answer is asked again.
func (u Upgrader) awaitNodes(ctx context.Context, c *config.Cluster, s upgrade.Step, o Options) error {
	timeout := cmp.Or(o.NodeTimeout, DefaultNodeTimeout)
	k, _, err := u.Connector.Connect(ctx, c)
	if err != nil {
		return err
	}
	terms := u.Cloud(c).Terms()
	var left []string
	var nodes []upgrade.Node
	defer u.Observer.Waiting(c.Name, "")
	err = wait.PollUntilContextTimeout(ctx, nodePoll, timeout, true, func(ctx context.Context) (bool, error) {
		var err error
		if nodes, err = nodesOf(ctx, k, terms); err != nil {
			left = []string{err.Error()}
		} else {
			left = upgrade.Awaited(nodes, s.Phase, s.To)
		}
		if len(left) > 0 {
			u.Observer.Waiting(c.Name, summary(left))
		}
		return len(left) == 0, nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &upgrade.GateError{Cluster: c.Name, Terms: terms, Step: s, Left: left, Waited: timeout}
	}
	for _, n := range upgrade.Strays(nodes, s.To) {
		u.Observer.Note(c.Name, fmt.Sprintf("node %s has %s: it is of no node group and no node pool, and is yours to upgrade", n.Name, n.Version))
	}
	return nil
}

// summary is the first line, and how many there are besides.
func summary(lines []string) string {
	if len(lines) == 1 {
		return lines[0]
	}
	return fmt.Sprintf("%s, and %d more", lines[0], len(lines)-1)
}

// nodesOf are the nodes of a cluster, as its API tells.
func nodesOf(ctx context.Context, k kube.Cluster, terms upgrade.Terms) ([]upgrade.Node, error) {
	list, err := k.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the nodes of the cluster: %w", err)
	}
	return upgrade.NodesOf(list.Items, terms.GroupLabel), nil
}
