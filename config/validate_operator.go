package config

import (
	"strings"

	"tombolo/config/addon"
	"tombolo/config/azurefacts"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// checkOperator checks the identities that systems get for Azure Service Operator: their roles, and
// that none reaches what the cluster itself consists of.
func checkOperator(v *File, c *Cluster, at strict.Path, a addon.Enabled) {
	options, is := a.Options.(*addon.OperatorOptions)
	if !is || !v.Doc.Sound("name", "cloud") {
		return
	}
	for i, s := range options.Systems {
		at := at.Field("systems").Index(i)
		v.Fits(at.Field("name"), "the system's identity", AddonIdentityName(v.Name, a.Name, s.Name), azurefacts.MaxIdentityName)
		checkRoleGrant(v, at, RoleGrant{Role: s.RoleName(), Scope: s.Scope, Reason: s.Reason})
		checkOperatorGroup(v, c, at.Field("resourceGroup"), v.Account, s.ResourceGroup)
		if m := form.OperatorScope.FindStringSubmatch(s.Scope); m != nil {
			checkOperatorGroup(v, c, at.Field("scope"), m[2], m[3])
		}
	}
}

// checkOperatorGroup refuses a resource group with something of the cluster's, or of its network.
func checkOperatorGroup(v *File, c *Cluster, at strict.Path, subscription, group string) {
	network, shared := c.Network.Group()
	var existing string
	if e := c.Kubernetes.Existing; e != nil {
		existing = e.ResourceGroup
	}
	for _, other := range []struct{ subscription, group, what string }{
		{v.Account, c.Cloud.ResourceGroup, "core makes the cluster in"},
		{v.Account, c.Kubernetes.NodeResourceGroup, "AKS makes for the nodes"},
		{v.Account, existing, "the cluster is in"},
		{network, shared, "the network is in"},
	} {
		if group != "" && subscription == other.subscription && strings.EqualFold(group, other.group) {
			v.Problem(at, "name a resource group of the system's own", "%s is the resource group that %s: the system could change or delete it", wording.Quote(group), other.what)
			return
		}
	}
}
