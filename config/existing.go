package config

import "tombolo/config/identity"

// IsExisting says that the cluster is one that others own: core makes no control plane,
// network or nodes for it.
func (c *Cluster) IsExisting() bool { return c.Kubernetes.Existing != nil }

// NameInCloud is the name of the managed cluster in its cloud: that of the file, but for
// an existing cluster.
func (c *Cluster) NameInCloud() string {
	if e := c.Kubernetes.Existing; e != nil {
		return e.Name
	}
	return c.Name
}

// OwnsNetwork says that core makes the cluster's network.
func (c *Cluster) OwnsNetwork() bool { return c.Network.Existing == nil && !c.IsExisting() }

// NeedsOIDC says that something of the file gets its credentials by the cluster's OIDC
// provider: an addon, a service or the Argo CD of a hub.
func (c *Cluster) NeedsOIDC() bool {
	for a, needs := range c.AddonNeeds() {
		for _, i := range needs.Identities {
			if c.GivenAddonRole(a.Name, i.Name) == "" {
				return true
			}
		}
	}
	for _, s := range c.Services {
		if s.Identity != nil && s.Identity.Mode == identity.IRSA && s.Identity.RoleARN == "" {
			return true
		}
	}
	return c.IsHub()
}
