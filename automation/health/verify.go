// Package health looks at what Git declares for a cluster and whether it is
// ready: the hand-over, and all objects of the GitOps engine. It takes clients of
// the clusters concerned, and knows nothing of stacks and their states.
package health

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// Options of a verification.
type Options struct {
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
	// Systems of teams, by name. They are no checks: nothing waits for them.
	Systems []System `json:"systems,omitempty"`
	// Cause is the first cause when not everything is ready.
	Cause *Check `json:"cause,omitempty"`
	// Waited is how long it took.
	Waited time.Duration `json:"waited"`
}

// lookGrace is how long a look may go on after the wait has ended: a look that
// is cut short finds the end of the wait in place of the cause.
const lookGrace = 3 * time.Second

// poll is how often the platform is looked at during a wait, and askAgain how often the
// engine is asked to try again what failed.
const (
	poll     = time.Second
	askAgain = 20 * time.Second
)

// Verify asks the engine to look at the repository now, and waits until the
// hand-over has arrived and everything that the engine has for the cluster is
// ready, as it is declared now and at the repository's revision: with Flux every
// source, Kustomization and HelmRelease, with Argo CD every Application and
// ApplicationSet. If that does not happen in time it returns what it found with
// an *Error that names the first cause.
func (s Site) Verify(ctx context.Context, o Options) (Verification, error) {
	s.Fetch(ctx)
	return s.await(ctx, o)
}

func (s Site) await(ctx context.Context, o Options) (Verification, error) {
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Minute
	}
	start := time.Now()
	result := Verification{Cluster: s.Cluster.Name}
	noted, asked := "", start
	looks, cancel := context.WithTimeout(ctx, o.Timeout+lookGrace)
	defer cancel()
	err := wait.PollUntilContextTimeout(ctx, poll, o.Timeout, true, func(ctx context.Context) (bool, error) {
		result.look(looks, s, o)
		if result.Cause == nil {
			return true, nil
		}
		if time.Since(asked) > askAgain {
			asked = time.Now()
			// Who may not ask was told so by the first try.
			_ = engineOf(s.Cluster).fetch(ctx, s.At, asked, true)
		}
		if text := result.Cause.String(); text != noted && ctx.Err() == nil {
			noted = text
			s.Observer.Waiting(s.Cluster.Name, text)
		}
		return false, nil
	})
	result.Waited = time.Since(start)
	s.Observer.Waiting(s.Cluster.Name, "")
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return result, fmt.Errorf("verify cluster %s: interrupted while waiting for %s: %w", s.Cluster.Name, noted, ctx.Err())
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
	return &Error{
		Cluster: v.Cluster, Cause: *v.Cause, Pending: pending, Total: len(v.Checks), Waited: v.Waited,
	}
}

// Error says that the platform was not ready in time.
type Error struct {
	// Cluster is the cluster's name.
	Cluster string
	// Cause is the first cause: the object that waits for no other.
	Cause Check
	// Pending is how many of the Total checks had not passed.
	Pending, Total int
	// Waited is how long the wait was.
	Waited time.Duration
}

func (e *Error) Error() string {
	return fmt.Sprintf("verify cluster %s: %d of %s not passed after %s; first cause: %s; %s",
		e.Cluster, e.Pending, wording.Plural(e.Total, "check", "checks"), e.Waited.Round(time.Second), e.Cause, e.Cause.remedy())
}

// Look is what a look at a cluster has found.
type Look struct {
	// Verification as Verify has it, of one moment.
	Verification
	// Kubernetes is the version that core has made the cluster with.
	Kubernetes string `json:"kubernetes"`
}

// Look looks once at what Verify waits for, and changes nothing: the engine is
// not asked to fetch. What is not ready is part of what was found. An API that
// does not answer until the context ends is a check that is not ready.
func (s Site) Look(ctx context.Context) Look {
	found := Look{Verification: Verification{Cluster: s.Cluster.Name}, Kubernetes: s.Values.ClusterVersion}
	found.look(ctx, s, Options{})
	return found
}

// look checks everything once. An API that does not answer is a failed check:
// a control plane may still be starting, or restarting.
func (v *Verification) look(ctx context.Context, s Site, o Options) {
	infra, err := s.checkInfra(ctx)
	if err != nil {
		v.unreachable(ctx, err)
		return
	}
	p, err := engineOf(s.Cluster).look(ctx, s.At)
	if err != nil {
		v.unreachable(ctx, err)
		return
	}
	v.Checks, v.Systems = append([]Check{infra}, p.checks(o)...), p.systems()
	v.Cause = nil
	if !infra.Ready {
		v.Cause = &infra
	} else if cause, ok := p.firstCause(v.Checks); ok {
		if s.Cluster.GitOps.ByIdentity() && cause.is(p.engine.repository()) && unread.MatchString(cause.Message) {
			cause.Message += fmt.Sprintf("; the identity %s with the client id %s has to be a user of the Azure DevOps organisation that may read the repository",
				config.GitIdentityName(s.Cluster.Name), s.Values.Azure.GitClientID)
		}
		v.Cause = &cause
	}
}

// unread is how go-git and git say that a host does not let somebody read: Azure DevOps does not tell a
// repository that is not there from one that may not be read.
var unread = regexp.MustCompile(`(?i)authentication (required|failed)|authorization failed|repository not found|could not read Username|returned error: 40[134]|TF\d{6}`)

func (c Check) is(r ref) bool {
	return c.Kind == r.Kind && c.Namespace == r.Namespace && c.Name == r.Name
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
func (p *platform) checks(o Options) []Check {
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
func (s Site) checkInfra(ctx context.Context) (Check, error) {
	c := Check{Kind: "ConfigMap", Namespace: s.Cluster.EngineNamespace(), Name: names.InfraConfig}
	network := s.Values.Network()
	data, err := s.Own.ConfigMap(ctx, c.Namespace, c.Name)
	switch {
	case err != nil:
		return c, err
	case data == nil:
		c.Message = "does not exist"
	case data[network.Key] != network.ID:
		c.Message = fmt.Sprintf("%s is %q, and core's is %s", network.Key, data[network.Key], network.ID)
	default:
		c.Ready, c.Message = true, fmt.Sprintf("%s is %s", network.Key, network.ID)
	}
	return c, nil
}
