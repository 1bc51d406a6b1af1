package config

import (
	"iter"
	"maps"
	"slices"

	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/config/identity"
	"tombolo/internal/names"
)

// AddonFacts are the facts about the cluster that addons start from.
func (c *Cluster) AddonFacts() addon.Facts {
	facts := addon.Facts{
		Cluster: c.Name, Environment: c.Environment,
		Provider: string(c.Cloud.Provider), Region: c.Cloud.Region, Account: c.Cloud.Account, Tenant: c.Cloud.Tenant,
		RolePath: c.Cloud.Roles.Path, OwnNetwork: c.OwnsNetwork(), InCloud: c.NameInCloud(), Enabled: c.Addons.Names(), Tags: c.AllTags(), Egress: c.NodeEgress(),
	}
	if c.onAzure() {
		facts.Tenant, facts.ResourceGroup = c.Cloud.Tenant, c.Cloud.ResourceGroup
	} else {
		facts.Partition = awsfacts.Partition(c.Cloud.Region)
	}
	facts.Channel = c.ChannelType()
	if p := c.Kubernetes.IdentityProvider; p != nil {
		facts.IssuerURL, facts.ClientID = p.IssuerURL, p.ClientID
	}
	facts.GivenRoles = c.Cloud.Roles.Given.Addons
	if existing := c.Network.Existing; existing != nil {
		facts.NetworkAccount = existing.Account
	}
	return facts
}

// AddonNeeds are the addons of the file with what each needs, in the order of Enabled.
func (c *Cluster) AddonNeeds() iter.Seq2[addon.Enabled, addon.Needs] {
	return func(yield func(addon.Enabled, addon.Needs) bool) {
		facts := c.AddonFacts()
		for _, a := range c.Addons.Enabled() {
			if !yield(a, a.Needs(facts, a.Options)) {
				return
			}
		}
	}
}

// AddonRole is what the name of an addon's role has after the cluster's.
func AddonRole(name, identity string) string {
	if identity == "" {
		return name
	}
	return name + "-" + identity
}

// AddonIdentityName is the name of the identity in Azure of an addon; of is "" for an
// addon's only one.
func AddonIdentityName(cluster, name, of string) string {
	return cluster + "-" + identity.AddonPrefix + AddonRole(name, of)
}

// NodeIdentity is the identity of nodes that an addon makes, among the names of its roles.
const NodeIdentity = "node"

// AddonRoles are the names of the roles, or identities on Azure, that core makes for the addons
// of the file, sorted, as cloud.roles.given.addons has them.
func (c *Cluster) AddonRoles() []string {
	var out []string
	for a, needs := range c.AddonNeeds() {
		for _, i := range needs.Identities {
			out = append(out, AddonRole(a.Name, i.Name))
		}
		if needs.NodeRole != nil {
			out = append(out, AddonRole(a.Name, NodeIdentity))
		}
	}
	slices.Sort(out)
	return out
}

// GivenAddonRole is the role that others made for an identity of an addon, "" is its only one;
// "" for one that core makes.
func (c *Cluster) GivenAddonRole(name, identity string) string {
	return c.Cloud.Roles.Given.Addons[AddonRole(name, identity)]
}

// GivenNodeRole is the role that others made for the nodes of an addon, "" for core's.
func (c *Cluster) GivenNodeRole(name string) string { return c.GivenAddonRole(name, NodeIdentity) }

// RoleScopes are the ids of what core assigns roles on in Azure, for services and for addons, in
// the order of the file. What core makes itself is among them, resource groups left out.
func (c *Cluster) RoleScopes() []string {
	var out []string
	for _, s := range c.Services {
		if s.Identity == nil {
			continue
		}
		for _, r := range s.Identity.Roles {
			out = append(out, r.Scope)
		}
	}
	for _, needs := range c.AddonNeeds() {
		for _, i := range needs.Identities {
			for _, r := range i.Roles {
				if r.MakeGroup == "" {
					out = append(out, r.Scope)
				}
			}
		}
	}
	return out
}

// AllTags are those of every resource of the cluster: the file's, and those that Tombolo
// sets itself, without the owner's.
func (c *Cluster) AllTags() map[string]string {
	all := map[string]string{}
	maps.Copy(all, c.Tags)
	all[names.ClusterTag], all[names.EnvironmentTag] = c.Name, c.Environment
	return all
}
