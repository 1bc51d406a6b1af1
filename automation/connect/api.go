package connect

import (
	"context"
	"fmt"

	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/handoff"
)

// Connect makes clients for a cluster, by its core's outputs.
func (r Connector) Connect(ctx context.Context, c *config.Cluster) (kube.Cluster, handoff.Values, error) {
	values, err := r.Outputs(ctx, c)
	if err != nil {
		return kube.Cluster{}, values, err
	}
	k, err := r.Dial(values)
	if err != nil {
		return kube.Cluster{}, values, fmt.Errorf("connect to cluster %s: %w", c.Name, err)
	}
	return k, values, nil
}

// Probe is what a look at a cluster's Kubernetes API found.
type Probe struct {
	Cluster kube.Cluster
	Values  handoff.Values
	// Gone says that core has no outputs: there is no cluster, or no more.
	Gone bool
	// Silence is why the API does not answer; nil when it does.
	Silence error
}

// Answers says that the API does.
func (p Probe) Answers() bool { return !p.Gone && p.Silence == nil }

func (p Probe) String() string {
	if p.Gone {
		return "core has no outputs, so there is no cluster"
	}
	return fmt.Sprintf("the Kubernetes API does not answer (%v)", p.Silence)
}

// Probe asks a cluster's Kubernetes API whether it answers. One that refuses this identity is an error.
func (r Connector) Probe(ctx context.Context, c *config.Cluster) (Probe, error) {
	st, err := r.Backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil {
		return Probe{}, err
	}
	if len(st.Outputs()) == 0 {
		return Probe{Gone: true}, nil
	}
	var p Probe
	if p.Cluster, p.Values, err = r.Connect(ctx, c); err != nil {
		return Probe{}, err
	}
	p.Silence = p.Cluster.Ping(ctx, r.ProbeTimeout)
	if ctx.Err() != nil {
		return Probe{}, fmt.Errorf("ask the Kubernetes API of %s: interrupted: %w", c.Name, ctx.Err())
	}
	if kube.Refused(p.Silence) {
		return Probe{}, &fault.Error{
			What:   fmt.Sprintf("the Kubernetes API of %s refuses this identity: %v", c.Name, p.Silence),
			Remedy: "use an identity that is among kubernetes.admins, and run the command again", Err: p.Silence,
		}
	}
	return p, nil
}
