package config

import (
	"fmt"
	"slices"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/identity"
	"tombolo/config/kubernetes"
	"tombolo/config/services"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// The limits of the names of addons' needs.
const (
	// maxQueueName is the limit of a queue's name (SQS CreateQueue).
	maxQueueName = 80
	// maxBucketName is the limit of a bucket's name (S3 naming rules).
	maxBucketName = 63
)

// AddonRoleName is the name of the IAM role of an addon's identity; identity is
// "" for an addon's only one.
func AddonRoleName(cluster, name, identity string) string {
	return cluster + "-" + AddonRole(name, identity)
}

// checkAddons checks the addons that are turned on, and how they fit together.
func checkAddons(v *check.File, c *Cluster) {
	for _, a := range c.Addons.Enabled() {
		at := strict.Path("addons").Field(a.Name)
		for _, other := range a.Required(string(c.Cloud.Provider)) {
			if _, ok := c.Addons[other]; !ok {
				v.Problem(at, fmt.Sprintf("add %s to addons, or turn %s off", other, a.Name), "needs the addon %s", other)
			}
		}
		if !v.Doc.Sound(at) {
			continue
		}
		for _, p := range a.Check(a.Options, c.Addons) {
			checkAddonProblem(v, at, p)
		}
		checkAddonNames(v, c, at, a)
		checkOperator(v, c, at, a)
		checkUnreached(v, c, at, a)
		checkAddonService(v, c, at, a)
		checkAddonTwice(v, c, at, a)
		checkAddonEnded(v, c, at, a)
	}
}

func checkAddonProblem(v *check.File, at strict.Path, p addon.Problem) {
	if p.Path != "" {
		at += "." + strict.Path(p.Path)
	}
	if p.Warning {
		v.Warn(at, p.Remedy, "%s", p.Message)
		return
	}
	v.Problem(at, p.Remedy, "%s", p.Message)
}

// checkAddonNames checks the names of the addon's needs.
func checkAddonNames(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	if !v.Doc.Sound("name", "cloud") {
		return
	}
	needs := a.Needs(c.AddonFacts(), a.Options)
	if v.OnAzure() {
		if _, ofSystems := a.Options.(*addon.OperatorOptions); ofSystems {
			return // operator reports each where the system is named
		}
		for _, i := range needs.Identities {
			v.Fits(at, "the addon's identity", AddonIdentityName(v.Name, a.Name, i.Name), azurefacts.MaxIdentityName)
		}
		return
	}
	for _, i := range needs.Identities {
		if c.GivenAddonRole(a.Name, i.Name) == "" {
			v.Fits(at, "the addon's IAM role", AddonRoleName(v.Name, a.Name, i.Name), form.MaxRoleName)
		}
	}
	if needs.NodeRole != nil && c.GivenNodeRole(a.Name) == "" {
		v.Fits(at, "the nodes' IAM role", needs.NodeRole.RoleName, form.MaxRoleName)
	}
	if needs.Queue != nil {
		v.Fits(at, "the addon's queue", needs.Queue.Name, maxQueueName)
	}
	if needs.Bucket != nil {
		v.Fits(at, "the addon's bucket", needs.Bucket.Name, maxBucketName)
	}
}

// checkUnreached finds a vault or a storage account that nothing reaches. Core makes a way to it in a
// network of its own alone: a subnet of others may have no service endpoint for it. A storage
// account lets no public address of its own region in:
// https://learn.microsoft.com/azure/storage/common/storage-network-security
func checkUnreached(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	if !v.OnAzure() || c.OwnsNetwork() {
		return
	}
	needs := a.Needs(c.AddonFacts(), a.Options)
	if needs.Container.IsMade() {
		v.Problem(at, "name a container of yours in container, in a storage account that the cluster reaches",
			"makes a storage account that nothing reaches, as the network is of others")
	}
	if needs.Vault.IsMade() && len(needs.Vault.AllowedCIDRs) == 0 {
		v.Problem(at, "name the public addresses by which the cluster leaves the network in allowedCidrs, or a vault of yours in vault",
			"makes a vault that nothing reaches, as the network is of others")
	}
}

// checkAddonService finds a service with the addon's name: they would share a ConfigMap.
func checkAddonService(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	i := slices.IndexFunc(c.Services, func(s services.Service) bool { return s.Name == a.Name })
	if i < 0 {
		return
	}
	service := strict.Path("services").Index(i).Field("name")
	v.Problem(service, "remove the service, or turn the addon off",
		"%s is also an addon, which line %d turns on", wording.Quote(a.Name), v.Line(at))
}

// checkAddonTwice finds an addon that EKS would also install.
func checkAddonTwice(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	i := slices.IndexFunc(c.Kubernetes.Addons, func(m kubernetes.ManagedAddon) bool { return m.Name == a.Name })
	if i >= 0 {
		v.Problem(at, "keep one of the two", "is also installed by EKS, by kubernetes.addons at line %d",
			v.Line(strict.Path("kubernetes.addons").Index(i).Field("name")))
	}
}

// checkAddonEnded warns of an addon that gets no releases any more.
func checkAddonEnded(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	if a.Ended == nil {
		return
	}
	remedy := fmt.Sprintf("turn %s on in its place", a.Ended.Successor)
	if _, on := c.Addons[a.Ended.Successor]; on {
		remedy = fmt.Sprintf("turn it off: %s is on and does the same", a.Ended.Successor)
	}
	v.Warn(at, remedy, "gets no releases since %s", a.Ended.Date)
}

// addonKeys are the keys of the infra ConfigMap that the cluster's addons publish, each with
// the first addon that does.
func addonKeys(c *Cluster) map[string]string {
	out := map[string]string{}
	for _, a := range c.Addons.Enabled() {
		for _, k := range a.Keys() {
			if _, known := out[k.Name]; !known {
				out[k.Name] = a.Name
			}
		}
	}
	return out
}

// checkOperator checks the identities that systems get for Azure Service Operator: their roles, and
// that none reaches what the cluster itself consists of.
func checkOperator(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	options, is := a.Options.(*addon.OperatorOptions)
	if !is || !v.Doc.Sound("name", "cloud") {
		return
	}
	for i, s := range options.Systems {
		at := at.Field("systems").Index(i)
		v.Fits(at.Field("name"), "the system's identity", AddonIdentityName(v.Name, a.Name, s.Name), azurefacts.MaxIdentityName)
		identity.CheckGrant(v, at, identity.RoleGrant{Role: s.RoleName(), Scope: s.Scope, Reason: s.Reason})
		checkOperatorGroup(v, c, at.Field("resourceGroup"), v.Account, s.ResourceGroup)
		if m := form.OperatorScope.FindStringSubmatch(s.Scope); m != nil {
			checkOperatorGroup(v, c, at.Field("scope"), m[2], m[3])
		}
	}
}

// checkOperatorGroup refuses a resource group with something of the cluster's, or of its network.
func checkOperatorGroup(v *check.File, c *Cluster, at strict.Path, subscription, group string) {
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
