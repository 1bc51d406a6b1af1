package config

import (
	"cmp"

	"tombolo/config/windows"
)

// SetDefaults fills in what the file leaves out. A list that is there and empty
// stays empty.
func (c *Cluster) setDefaults() {
	c.Drift.Remediate = cmp.Or(c.Drift.Remediate, windows.RemediateNever)
	c.Cloud.SetDefaults(c.Name)
	existing := c.Kubernetes.Existing
	switch {
	case existing != nil:
		existing.Name = cmp.Or(existing.Name, c.Name)
	case c.onAzure():
		c.Network.SetAzureDefaults()
		c.Kubernetes.SetAzureDefaults(c.Name, c.Network.CIDR)
	default:
		c.Network.SetDefaults()
		c.Kubernetes.SetDefaults()
	}
	c.Addons.SetDefaults()
	for i := range c.Services {
		c.Services[i].SetDefaults(c.Cloud.Provider)
	}
	c.GitOps.SetDefaults(c.Name, c.Cloud.Provider)
}
