package automation

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

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
	infraNamespace = "flux-system"
	infraConfigMap = "infra-config"
	infraVPC       = "vpc_id"
)

// platformName is the name of the Git repository that bootstrap sets up.
const platformName = "platform"

// lookGrace is how long a look may go on after the wait has ended: a look that
// is cut short finds the end of the wait in place of the cause.
const lookGrace = 3 * time.Second

// verifyPoll is how often the platform is looked at while verify waits.
const verifyPoll = time.Second

// Verify asks Flux to look at the repository now, and waits until the hand-over
// has arrived and every Flux source,
// Kustomization and HelmRelease is ready at its latest generation and at its
// source's revision. If that does not happen in time it returns what it found
// with a VerificationError that names the first cause.
func (d *Driver) Verify(ctx context.Context, c *config.Cluster, o VerifyOptions) (Verification, error) {
	values, err := d.Outputs(ctx, c)
	if err != nil {
		return Verification{Cluster: c.Name}, err
	}
	k, err := d.connect(values)
	if err != nil {
		return Verification{Cluster: c.Name}, fmt.Errorf("connect to cluster %s: %w", c.Name, err)
	}
	d.fetchNow(ctx, c, k)
	return d.verify(ctx, c, k, values, o)
}

func (d *Driver) verify(ctx context.Context, c *config.Cluster, k cluster,
	values handoff.Values, o VerifyOptions,
) (Verification, error) {
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Minute
	}
	start := d.now()
	result := Verification{Cluster: c.Name}
	noted := ""
	looks, cancel := context.WithTimeout(ctx, o.Timeout+lookGrace)
	defer cancel()
	err := wait.PollUntilContextTimeout(ctx, verifyPoll, o.Timeout, true, func(ctx context.Context) (bool, error) {
		result.look(looks, k, values, o)
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
func (v *Verification) look(ctx context.Context, k cluster, values handoff.Values, o VerifyOptions) {
	infra, err := checkInfra(ctx, k, values)
	if err != nil {
		v.unreachable(ctx, err)
		return
	}
	p, err := k.platform(ctx)
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
	check := Check{Kind: "Kubernetes API", Message: err.Error()}
	v.Checks, v.Cause = []Check{check}, &check
}

// checks judges all objects, and that there is a platform at all.
func (p *platform) checks(o VerifyOptions) []Check {
	var out []Check
	kustomizations := 0
	for _, r := range p.order {
		c := p.check(p.objects[r])
		if c.Ready && o.Revision != "" && r == (ref{Kind: "GitRepository", Namespace: infraNamespace, Name: platformName}) &&
			!strings.Contains(c.Revision, o.Revision) {
			c.Ready, c.Message = false, fmt.Sprintf("is at revision %s, and %s is expected", orNone(c.Revision), o.Revision)
		}
		if r.Kind == "Kustomization" {
			kustomizations++
		}
		out = append(out, c)
	}
	if kustomizations == 0 {
		out = append(out, Check{
			Kind: "Kustomization", Namespace: infraNamespace, Name: platformName, Message: "there is no Kustomization",
		})
	}
	return out
}

// checkInfra proves that the general ConfigMap is there and is core's.
func checkInfra(ctx context.Context, k cluster, values handoff.Values) (Check, error) {
	c := Check{Kind: "ConfigMap", Namespace: infraNamespace, Name: infraConfigMap}
	data, err := k.configMap(ctx, infraNamespace, infraConfigMap)
	switch {
	case err != nil:
		return c, err
	case data == nil:
		c.Message = "does not exist"
	case data[infraVPC] != values.VPCID:
		c.Message = fmt.Sprintf("%s is %q, and core's VPC is %s", infraVPC, data[infraVPC], values.VPCID)
	default:
		c.Ready, c.Message = true, fmt.Sprintf("%s is %s", infraVPC, values.VPCID)
	}
	return c, nil
}
