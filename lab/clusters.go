package lab

import (
	"context"
	"crypto"
	"fmt"
	"sync"

	"tombolo/lab/cloudmanager"
	"tombolo/lab/controllers"
	"tombolo/lab/controlplane"
	"tombolo/lab/kubelet"
	"tombolo/lab/standin"
)

// clusters is what the AWS stand-in has behind its EKS: a control plane, an
// agent that runs the GitOps controllers its Deployments ask for, and a manager
// that makes in the cloud what its objects ask for.
type clusters struct {
	planes *controlplane.Manager
	agent  *controllers.Agent
	cloud  *cloudmanager.Manager
	// kubelet has pods start in a proxied network; nil in others, where kwok does it.
	kubelet *kubelet.Manager
	// engines says whether the agent is to run any.
	engines bool
	// doors are where the private endpoints are.
	doors doors

	mu     sync.Mutex
	owners map[string]string // the ARN of a cluster, by its name
}

// owner of a cluster is the account in its ARN.
func (c *clusters) owner(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owners[name]
}

// own gives a name to a cluster. The lab's processes have it, so no other account can have
// a cluster of the name.
func (c *clusters) own(spec standin.ClusterSpec) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if other, taken := c.owners[spec.Name]; taken && other != spec.ID {
		return fmt.Errorf("the lab has one cluster of a name, and %s is there: give this one another name", other)
	}
	if c.owners == nil {
		c.owners = map[string]string{}
	}
	c.owners[spec.Name] = spec.ID
	return nil
}

func (c *clusters) disown(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.owners, name)
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
	if err := c.cloud.Watch(spec.Name, spec.Region, kubeconfig); err != nil || !c.engines {
		return info, err
	}
	if c.kubelet != nil {
		if err := c.kubelet.Watch(spec.Name, kubeconfig); err != nil {
			return info, err
		}
	}
	return info, c.agent.Watch(spec.Name, spec.Region, kubeconfig)
}

// Stop takes a cluster away: its controllers first, then the API they use.
func (c *clusters) Stop(ctx context.Context, name string) error {
	c.agent.Forget(name)
	if c.kubelet != nil {
		c.kubelet.Forget(name)
	}
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
