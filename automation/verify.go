package automation

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/automation/plan"
	"tombolo/config"
	"tombolo/stacks/handoff"
)

// VerifyOptions of a verification.
type VerifyOptions struct {
	// Timeout is how long to wait for everything to be ready. Default 5m.
	Timeout time.Duration
	// Revision that the platform's Git repository must be at, such as a
	// commit's SHA. Default: whatever its source has fetched.
	Revision string
}

// Verification is what a verification found.
type Verification struct {
	// Cluster is the cluster's name.
	Cluster string `json:"cluster"`
	// Checks in the order of causes: the hand-over, sources, then what is
	// made from them.
	Checks []Check `json:"checks"`
	// Cause is the first cause when not everything is ready.
	Cause *Check `json:"cause,omitempty"`
	// Waited is how long it took.
	Waited time.Duration `json:"waited"`
}

// The hand-over's general ConfigMap, and its key that proves where it came from.
const (
	infraConfigMap = plan.InfraConfigMap
	infraVPC       = "vpc_id"
)

// platformName is the name of the Git repository that bootstrap sets up.
const platformName = "platform"

// lookGrace is how long a look may go on after the wait has ended: a look that
// is cut short finds the end of the wait in place of the cause.
const lookGrace = 3 * time.Second

// verifyPoll is how often the platform is looked at while verify waits.
const verifyPoll = time.Second

// site is where a cluster is, and the engine that works on it.
type site struct {
	own    cluster
	values handoff.Values
	// infra is the namespace of the general ConfigMap.
	infra  string
	engine engine
	// at is the cluster that the engine is in: a spoke's is its hub.
	at cluster
}

// Verify asks the engine to look at the repository now, and waits until the
// hand-over has arrived and everything that the engine has for the cluster is
// ready, as it is declared now and at the repository's revision: with Flux every
// source, Kustomization and HelmRelease, with Argo CD every Application and
// ApplicationSet. If that does not happen in time it returns what it found with
// a VerificationError that names the first cause.
func (d *Driver) Verify(ctx context.Context, c *config.Cluster, o VerifyOptions) (Verification, error) {
	s, err := d.site(ctx, c)
	if err != nil {
		return Verification{Cluster: c.Name}, err
	}
	d.fetchNow(ctx, c, s.engine, s.at)
	return d.verify(ctx, c, s, o)
}

func (d *Driver) site(ctx context.Context, c *config.Cluster) (site, error) {
	own, values, err := d.reach(ctx, c)
	if err != nil {
		return site{}, err
	}
	s := site{own: own, values: values, infra: c.EngineNamespace(), engine: engineOf(c), at: own}
	if !c.IsSpoke() {
		return s, nil
	}
	hub, err := d.hub(c)
	if err != nil {
		return site{}, err
	}
	s.at, _, err = d.reach(ctx, hub)
	return s, err
}

func (d *Driver) verify(ctx context.Context, c *config.Cluster, s site, o VerifyOptions) (Verification, error) {
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Minute
	}
	start := d.now()
	result := Verification{Cluster: c.Name}
	noted := ""
	looks, cancel := context.WithTimeout(ctx, o.Timeout+lookGrace)
	defer cancel()
	err := wait.PollUntilContextTimeout(ctx, verifyPoll, o.Timeout, true, func(ctx context.Context) (bool, error) {
		result.look(looks, s, o)
		if result.Cause == nil {
			return true, nil
		}
		if text := result.Cause.String(); text != noted && ctx.Err() == nil {
			noted = text
			d.opts.Observer.Waiting(c.Name, text)
		}
		return false, nil
	})
	result.Waited = d.now().Sub(start)
	d.opts.Observer.Waiting(c.Name, "")
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return result, fmt.Errorf("verify cluster %s: interrupted while waiting for %s: %w", c.Name, noted, ctx.Err())
	default:
		return result, result.err()
	}
}

func (v *Verification) err() error {
	pending := 0
	for _, c := range v.Checks {
		if !c.Ready {
			pending++
		}
	}
	return &VerificationError{
		Cluster: v.Cluster, Cause: *v.Cause, Pending: pending, Total: len(v.Checks), Waited: v.Waited,
	}
}

// look checks everything once. An API that does not answer is a failed check:
// a control plane may still be starting, or restarting.
func (v *Verification) look(ctx context.Context, s site, o VerifyOptions) {
	infra, err := s.checkInfra(ctx)
	if err != nil {
		v.unreachable(ctx, err)
		return
	}
	p, err := s.engine.look(ctx, s.at)
	if err != nil {
		v.unreachable(ctx, err)
		return
	}
	v.Checks = append([]Check{infra}, p.checks(o)...)
	v.Cause = nil
	if !infra.Ready {
		v.Cause = &infra
	} else if cause, ok := p.firstCause(v.Checks); ok {
		v.Cause = &cause
	}
}

// unreachable keeps what was found before when the look was cut short.
func (v *Verification) unreachable(ctx context.Context, err error) {
	if ctx.Err() != nil && v.Cause != nil {
		return
	}
	check := Check{Kind: kubernetesAPI, Message: err.Error()}
	v.Checks, v.Cause = []Check{check}, &check
}

// checks judges all objects, and what is not there.
func (p *platform) checks(o VerifyOptions) []Check {
	var out []Check
	for _, r := range p.order {
		c := p.engine.check(p, p.objects[r])
		if c.Ready && o.Revision != "" && r == p.engine.repository() && !strings.Contains(c.Revision, o.Revision) {
			c.Ready, c.Message = false, fmt.Sprintf("is at revision %s, and %s is expected", orNone(c.Revision), o.Revision)
		}
		out = append(out, c)
	}
	return append(out, p.engine.missing(p)...)
}

// checkInfra proves that the general ConfigMap is there and is core's.
func (s site) checkInfra(ctx context.Context) (Check, error) {
	c := Check{Kind: "ConfigMap", Namespace: s.infra, Name: infraConfigMap}
	data, err := s.own.configMap(ctx, s.infra, infraConfigMap)
	switch {
	case err != nil:
		return c, err
	case data == nil:
		c.Message = "does not exist"
	case data[infraVPC] != s.values.VPCID:
		c.Message = fmt.Sprintf("%s is %q, and core's VPC is %s", infraVPC, data[infraVPC], s.values.VPCID)
	default:
		c.Ready, c.Message = true, fmt.Sprintf("%s is %s", infraVPC, s.values.VPCID)
	}
	return c, nil
}
