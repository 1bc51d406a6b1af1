package config

import (
	"maps"

	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/internal/names"
)

// AddonFacts are the facts about the cluster that addons start from.
func (c *Cluster) AddonFacts() addon.Facts {
	facts := addon.Facts{
		Cluster: c.Name, Environment: c.Environment,
		Region: c.Cloud.Region, Account: c.Cloud.Account, Partition: awsfacts.Partition(c.Cloud.Region),
		RolePath: c.Cloud.Roles.Path, OwnNetwork: c.OwnsNetwork(), InCloud: c.NameInCloud(), Enabled: c.Addons.Names(), Tags: c.AllTags(), Egress: c.NodeEgress(),
	}
	if existing := c.Network.Existing; existing != nil {
		facts.NetworkAccount = existing.Account
	}
	return facts
}

// AllTags are those of every resource of the cluster: the file's, and those that Tombolo
// sets itself, without the owner's.
func (c *Cluster) AllTags() map[string]string {
	all := map[string]string{}
	maps.Copy(all, c.Tags)
	all[names.ClusterTag], all[names.EnvironmentTag] = c.Name, c.Environment
	return all
}
