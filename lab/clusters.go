package lab

import (
	"context"
	"crypto"
	"fmt"
	"sync"

	"tombolo/lab/cloudmanager"
	"tombolo/lab/controllers"
	"tombolo/lab/controlplane"
	"tombolo/lab/standin"
)

// clusters is what the stand-ins have behind EKS and AKS: a control plane, an
// agent that runs the GitOps controllers its Deployments ask for, and a manager
// that makes in the cloud what its objects ask for.
type clusters struct {
	planes *controlplane.Manager
	agent  *controllers.Agent
	cloud  *cloudmanager.Manager
	// engines says whether the agent is to run any.
	engines bool
	// doors are where the private endpoints are.
	doors doors

	mu    sync.Mutex
	specs map[string]standin.ClusterSpec // what each cluster was started as, by its name
}

// spec is what a cluster was started as; empty for one that does not run.
func (c *clusters) spec(name string) standin.ClusterSpec {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.specs[name]
}

// issuedBy is the name of the cluster whose service accounts' tokens are of an issuer; ""
// for an issuer that is no cluster's.
func (c *clusters) issuedBy(issuer string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, spec := range c.specs {
		if spec.Issuer == issuer {
			return name
		}
	}
	return ""
}

// own gives a name to a cluster. The lab's processes have it, so no other account can have
// a cluster of the name.
func (c *clusters) own(spec standin.ClusterSpec) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if other, taken := c.specs[spec.Name]; taken && other.ID != spec.ID {
		return fmt.Errorf("the lab has one cluster of a name, and %s is there: give this one another name", other.ID)
	}
	if c.specs == nil {
		c.specs = map[string]standin.ClusterSpec{}
	}
	c.specs[spec.Name] = spec
	return nil
}

func (c *clusters) disown(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.specs, name)
}

// Start brings a cluster up, or back.
func (c *clusters) Start(ctx context.Context, spec standin.ClusterSpec) (standin.ClusterInfo, error) {
	if err := c.own(spec); err != nil {
		return standin.ClusterInfo{}, err
	}
	private := spec.Private
	spec.Private = false // it makes no other control plane
	info, err := c.planes.Start(ctx, spec)
	if err != nil {
		return info, err
	}
	info.Endpoint = c.doors.endpoint(spec.Name, info.Endpoint, private)
	kubeconfig := c.planes.AdminKubeconfig(spec.Name)
	if err := c.cloud.Watch(spec, kubeconfig); err != nil {
		return info, err
	}
	if !c.engines {
		return info, nil
	}
	return info, c.agent.Watch(spec.Name, spec.Region, kubeconfig)
}

// Stop takes a cluster away: its controllers first, then the API they use.
func (c *clusters) Stop(ctx context.Context, name string) error {
	c.agent.Forget(name)
	c.cloud.Forget(name)
	if err := c.planes.Stop(ctx, name); err != nil {
		return err
	}
	c.disown(name)
	return nil
}

// SetNodes makes the nodes of a group exactly these.
func (c *clusters) SetNodes(ctx context.Context, cluster, group string, nodes []standin.Node) error {
	return c.planes.SetNodes(ctx, cluster, group, nodes)
}

// TokenKey is the public key for the tokens of a cluster's service accounts.
func (c *clusters) TokenKey(cluster string) (crypto.PublicKey, error) {
	return c.planes.TokenKey(cluster)
}
