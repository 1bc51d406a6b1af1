package lab

import (
	"context"
	"crypto"

	"tombolo/lab/cloudmanager"
	"tombolo/lab/controllers"
	"tombolo/lab/controlplane"
	"tombolo/lab/standin"
)

// clusters is what the AWS stand-in has behind its EKS: a control plane, an
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
}

// Start brings a cluster up, or back.
func (c *clusters) Start(ctx context.Context, spec standin.ClusterSpec) (standin.ClusterInfo, error) {
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
	return info, c.agent.Watch(spec.Name, spec.Region, kubeconfig)
}

// Stop takes a cluster away: its controllers first, then the API they use.
func (c *clusters) Stop(ctx context.Context, name string) error {
	c.agent.Forget(name)
	c.cloud.Forget(name)
	return c.planes.Stop(ctx, name)
}

// SetNodes makes the nodes of a group exactly these.
func (c *clusters) SetNodes(ctx context.Context, cluster, group string, nodes []standin.Node) error {
	return c.planes.SetNodes(ctx, cluster, group, nodes)
}

// TokenKey is the public key for the tokens of a cluster's service accounts.
func (c *clusters) TokenKey(cluster string) (crypto.PublicKey, error) {
	return c.planes.TokenKey(cluster)
}
