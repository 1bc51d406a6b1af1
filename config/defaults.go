package config

import (
	"cmp"

	"tombolo/config/windows"
)

// setDefaults fills in what the file leaves out. A list that is there and empty
// stays empty.
func (c *Cluster) setDefaults() {
	windows.Fields.SetDefaults(c.Cloud.Provider, &c.Drift)
	c.Cloud.SetDefaults(c.Name)
	existing := c.Kubernetes.Existing
	switch {
	case existing != nil:
		existing.Name = cmp.Or(existing.Name, c.Name)
	default:
		c.Network.SetDefaults(c.Cloud.Provider)
		c.Kubernetes.SetDefaults(c.Cloud.Provider, c.Name, c.Network.CIDR)
	}
	c.Addons.SetDefaults()
	for i := range c.Services {
		c.Services[i].SetDefaults(c.Cloud.Provider)
	}
	c.GitOps.SetDefaults(c.Name, c.Cloud.Provider)
}
