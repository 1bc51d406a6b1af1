package config

import (
	"tombolo/config/addon"
	"tombolo/config/awsfacts"
)

// AddonFacts are the facts about the cluster that addons start from.
func (c *Cluster) AddonFacts() addon.Facts {
	return addon.Facts{
		Cluster: c.Name, Environment: c.Environment,
		Region: c.Cloud.Region, Account: c.Cloud.Account, Partition: awsfacts.Partition(c.Cloud.Region),
		RolePath: c.Cloud.Roles.Path, OwnNetwork: c.OwnsNetwork(), InCloud: c.NameInCloud(), Enabled: c.Addons.Names(),
	}
}
