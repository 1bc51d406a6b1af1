package automation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
	"tombolo/stacks/handoff"
)

// This file is about hubs and their spokes: what must be there before, and what
// became of it.

// requireHub refuses an up of a spoke without a hub that it can register with.
func (d *Driver) requireHub(ctx context.Context, c *config.Cluster) error {
	if c.HasExternalHub() {
		return d.requireExternalHub(ctx, c)
	}
	if !c.HasHubFile() {
		return nil
	}
	for _, k := range stacks.Kinds() {
		stack := stacks.Name(c.Hub(), k)
		st, err := d.backend.State(ctx, stack)
		if err != nil {
			return err
		}
		if st.Resources() == 0 {
			return &fault.Error{
				What:   fmt.Sprintf("up %s: its hub %s is not there: stack %s was not deployed yet", c.Name, c.Hub(), stack),
				Remedy: fmt.Sprintf("nothing was started: run `tombolo up %s %s`, which makes the hub first", c.Hub(), c.Name),
			}
		}
	}
	return nil
}

// hasHub says whether core of the cluster's hub has outputs. A cluster that is
// no spoke needs none.
func (d *Driver) hasHub(ctx context.Context, c *config.Cluster) (bool, error) {
	if !c.HasHubFile() {
		return true, nil
	}
	st, err := d.backend.State(ctx, stacks.Name(c.Hub(), stacks.Core))
	return len(st.Outputs()) > 0, err
}

// probe is what a look at a cluster's Kubernetes API found.
type probe struct {
	cluster kube.Cluster
	values  handoff.Values
	// gone says that core has no outputs: there is no cluster, or no more.
	gone bool
	// silence is why the API does not answer; nil when it does.
	silence error
}

// answers says that the API does.
func (p probe) answers() bool { return !p.gone && p.silence == nil }

func (d *Driver) probe(ctx context.Context, c *config.Cluster) (probe, error) {
	st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil {
		return probe{}, err
	}
	if len(st.Outputs()) == 0 {
		return probe{gone: true}, nil
	}
	var p probe
	if p.cluster, p.values, err = d.reach(ctx, c); err != nil {
		return probe{}, err
	}
	p.silence = p.cluster.Ping(ctx, d.probeTimeout)
	if ctx.Err() != nil {
		return probe{}, fmt.Errorf("ask the Kubernetes API of %s: interrupted: %w", c.Name, ctx.Err())
	}
	if kube.Refused(p.silence) {
		return probe{}, &fault.Error{
			What:   fmt.Sprintf("the Kubernetes API of %s refuses this identity: %v", c.Name, p.silence),
			Remedy: "use an identity that is among kubernetes.admins, and run the command again", Err: p.silence,
		}
	}
	return p, nil
}

// restoreRegistration makes good what a destruction, or an up that turns addons off, has
// begun and not ended: the registration gets its labels back, and what has changed
// on the hub is read into the state, so that the up to come makes it again.
func (d *Driver) restoreRegistration(ctx context.Context, c *config.Cluster, st *backend.State) error {
	at, left, err := d.left(ctx, c, st)
	if err != nil || !left {
		return err
	}
	s, err := d.open(ctx, c, stacks.Bootstrap, catalog.Options{}, true)
	if err != nil {
		return err
	}
	if err := s.Refresh(ctx, onHub(st)); err != nil {
		return err
	}
	if _, err := at.Return(ctx, c.Name); err != nil {
		return err
	}
	d.opts.Observer.Note(s.name, fmt.Sprintf("recovered: the registration of %s with hub %s was restored", c.Name, c.Hub()))
	return nil
}

// left says whether the registration that the state knows is not whole, and
// where it is.
func (d *Driver) left(ctx context.Context, c *config.Cluster, st *backend.State) (argocd.Hub, bool, error) {
	registration, ok := registrationOf(st, c.Name)
	if !ok || hubIn(st, registration) != c.Hub() || c.HasExternalHub() {
		return argocd.Hub{}, false, nil
	}
	hub, err := d.hub(c)
	if err != nil {
		return argocd.Hub{}, false, err
	}
	reached, _, err := d.reach(ctx, hub)
	if err != nil {
		return argocd.Hub{}, false, err
	}
	at, err := d.argocd(ctx, c, reached)
	if err != nil {
		return argocd.Hub{}, false, err
	}
	there, err := at.Registration(ctx, c.Name)
	if err != nil || there != nil && !there.IsOf(at.Owner) { // bootstrap's program refuses it
		return argocd.Hub{}, false, err
	}
	return at, there == nil || there.Leaving() || lacks(there.Labels(), registration, c), nil
}

// hasLeft is left without the error: the up itself reports why the hub cannot be
// asked.
func (d *Driver) hasLeft(ctx context.Context, c *config.Cluster, st *backend.State) bool {
	_, left, err := d.left(ctx, c, st)
	return left || err != nil
}

// lacks says that labels are gone which the state knows and the file still has:
// nothing else would make them again.
func lacks(labels map[string]string, registration apitype.ResourceV3, c *config.Cluster) bool {
	applied, _, _ := unstructured.NestedMap(registration.Inputs, "metadata", "labels")
	for name := range c.RegistrationLabels() {
		_, was := applied[name]
		if _, is := labels[name]; was && !is {
			return true
		}
	}
	return false
}

// refuseWithSpokes keeps a hub alive as long as clusters are registered with it.
func (d *Driver) refuseWithSpokes(ctx context.Context, c *config.Cluster, at kube.Cluster) error {
	registered, err := (argocd.Hub{Client: at.Client}).Registrations(ctx)
	if err != nil {
		return err
	}
	spokes, err := d.deployedSpokes(ctx, c)
	if err != nil {
		return err
	}
	for _, r := range registered {
		if name := r.Cluster(); r.Name() != argocd.SecretName(c.Name) && !slices.Contains(spokes, name) {
			spokes = append(spokes, name)
		}
	}
	if len(spokes) == 0 {
		return nil
	}
	slices.Sort(spokes)
	return &fault.Error{
		What: fmt.Sprintf("destroy %s: it is the hub of %s", c.Name, strings.Join(spokes, ", ")),
		Remedy: fmt.Sprintf("nothing was changed: run `tombolo destroy %s %s`, which takes spokes down before their hub; "+
			"of a cluster that is not Tombolo's, delete the Secret in namespace %s by which it is registered", c.Name, strings.Join(spokes, " "), argocd.Namespace),
	}
}

// deployedSpokes are the clusters with files beside the hub's that name it, and
// have resources in bootstrap. A file that is wrong counts for none: clusters that
// are registered are known by that too.
func (d *Driver) deployedSpokes(ctx context.Context, hub *config.Cluster) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(filepath.Dir(hub.File), "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("look for the spokes of %s: %w", hub.Name, err)
	}
	var out []string
	for _, file := range files {
		spoke, err := config.Load(file)
		if err != nil || !spoke.HasHubFile() || spoke.Hub() != hub.Name {
			continue
		}
		st, err := d.backend.State(ctx, stacks.Name(spoke.Name, stacks.Bootstrap))
		if err != nil {
			return nil, err
		}
		if st.Resources() > 0 {
			out = append(out, spoke.Name)
		}
	}
	return out, nil
}

// notDeregistered puts the error of a deregistration into its class.
func notDeregistered(ctx context.Context, c *config.Cluster, err error) error {
	why := new(fault.Error)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("destroy %s: interrupted while its hub forgets it; run the same command again to go on from there: %w", c.Name, ctx.Err())
	case !errors.As(err, &why):
		return fmt.Errorf("destroy %s: deregister it at its hub: %w", c.Name, err)
	case why.Class == fault.Precondition:
		return &fault.Error{What: fmt.Sprintf("destroy %s: %s", c.Name, why.What), Remedy: why.Remedy, Err: why}
	}
	return bothKept(c, why.What, why.Remedy, why)
}
