package config

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/egress"
	"tombolo/config/form"
	"tombolo/config/identity"
	"tombolo/config/kubernetes"
	"tombolo/config/services"
	"tombolo/config/strict"
	"tombolo/internal/wording"
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
		if o, ok := a.Options.(*addon.SecretsOptions); ok && o.VaultServer != nil {
			egress.CheckCertificates(v, at.Field("vaultServer").Field("certificateAuthority"), o.VaultServer.CertificateAuthority)
		}
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
		"%s is also an addon, which %s turns on", wording.Quote(a.Name), v.Line(at))
}

// checkAddonTwice finds an addon that EKS would also install.
func checkAddonTwice(v *check.File, c *Cluster, at strict.Path, a addon.Enabled) {
	i := slices.IndexFunc(c.Kubernetes.Addons, func(m kubernetes.ManagedAddon) bool { return m.Name == a.Name })
	if i >= 0 {
		v.Problem(at, "keep one of the two", "is also installed by EKS, by kubernetes.addons at %s",
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
