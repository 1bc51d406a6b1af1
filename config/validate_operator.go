package config

import (
	"strings"

	"tombolo/config/addon"
	"tombolo/config/azurefacts"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// operator checks the identities that systems get for Azure Service Operator: their roles, and
// that none reaches what the cluster itself consists of.
func (v *validator) operator(at strict.Path, a addon.Enabled) {
	options, is := a.Options.(*addon.OperatorOptions)
	if !is || !v.doc.Sound("name", "cloud") {
		return
	}
	for i, s := range options.Systems {
		at := at.Field("systems").Index(i)
		v.fits(at.Field("name"), growth{"the system's identity", AddonIdentityName(v.c.Name, a.Name, s.Name), azurefacts.MaxIdentityName})
		v.roleGrant(at, RoleGrant{Role: s.RoleName(), Scope: s.Scope, Reason: s.Reason})
		v.operatorGroup(at.Field("resourceGroup"), v.c.Cloud.Account, s.ResourceGroup)
		if m := form.OperatorScope.FindStringSubmatch(s.Scope); m != nil {
			v.operatorGroup(at.Field("scope"), m[2], m[3])
		}
	}
}

// operatorGroup refuses a resource group with something of the cluster's, or of its network.
func (v *validator) operatorGroup(at strict.Path, subscription, group string) {
	network, shared := v.c.networkGroup()
	var existing string
	if e := v.c.Kubernetes.Existing; e != nil {
		existing = e.ResourceGroup
	}
	for _, other := range []struct{ subscription, group, what string }{
		{v.c.Cloud.Account, v.c.Cloud.ResourceGroup, "core makes the cluster in"},
		{v.c.Cloud.Account, v.c.Kubernetes.NodeResourceGroup, "AKS makes for the nodes"},
		{v.c.Cloud.Account, existing, "the cluster is in"},
		{network, shared, "the network is in"},
	} {
		if group != "" && subscription == other.subscription && strings.EqualFold(group, other.group) {
			v.problem(at, "name a resource group of the system's own", "%s is the resource group that %s: the system could change or delete it", wording.Quote(group), other.what)
			return
		}
	}
}
