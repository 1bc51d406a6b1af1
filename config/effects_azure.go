package config

// This file declares what a change of a key does to a cluster in Azure that lives, for the
// keys that only files for Azure have, and for those whose change does something else than on
// AWS. TestEffects fails for a key that is missing.
//
// What Azure can change, and what it refuses, is said by:
//   - the provider: in azure-native 2.90 a change of a cluster's location, dnsPrefix,
//     nodeResourceGroup or anything of networkProfile replaces it, and so does one of a
//     pool's vmSize.
//   - node pools: neither the size of the virtual machines nor that of their disks, nor
//     maxPods, zones and priority change
//     (https://learn.microsoft.com/azure/aks/create-node-pools,
//     https://learn.microsoft.com/azure/aks/concepts-storage,
//     https://learn.microsoft.com/azure/aks/spot-node-pool). Pools have names that the file
//     gives, so that one cannot be made anew beside itself.
//   - versions: no minor version is skipped, and there is no way back
//     (https://learn.microsoft.com/azure/aks/upgrade-aks-control-plane).
//   - the endpoint: a private cluster stays private without API Server VNet Integration, and
//     a zone only goes to none (https://learn.microsoft.com/azure/aks/private-clusters).
//   - the proxy: AKS makes the nodes of all pools anew (https://learn.microsoft.com/azure/aks/http-proxy).

const (
	aksProxyWords = "AKS makes the nodes of every group anew with it; the engine is installed anew with it, and once Git has its own files, Git decides"
	aksTagWords   = "every resource gets the tags in place; AKS hands them on to what it makes"
	aksRoleWords  = "role assignments are made and deleted; Azure lets pods know within minutes"
	poolRemedy    = "take the change back, or give the group another name too: the group of the new name is made, and the old one drained and deleted"
)

// poolKeeps is the case of a key that AKS keeps for the life of a pool.
func poolKeeps(what string) []Case {
	return []Case{{Effect: Impossible, Words: "AKS changes the " + what + " of no pool, and has one pool of a name", Remedy: poolRemedy}}
}

// firstPool is the case of changes to the pool that AKS makes the cluster with.
func firstPool() Case {
	return Case{
		When: "of the first with mode: system", Effect: NeedsRebuild, applies: change.movesFirstPool,
		Words:  "it is a part of the cluster itself, and core would have to make another pool that part",
		Remedy: "keep it first among the groups with mode: system; or make the cluster anew: `tombolo destroy`, then `tombolo up`",
	}
}

var azureEffects = map[string][]Case{
	"Cluster.Environment": inPlace("it is a tag of every resource: " + aksTagWords),
	"Cluster.Tags":        inPlace(aksTagWords),
	"Cluster.Services": {
		{When: "removed", Effect: InPlace, Words: "the service's identity and ConfigMap are deleted", applies: change.takesAway},
		{Effect: InPlace, Words: "the service's identity and ConfigMap are made"},
	},

	"Cloud.Tenant":        rebuild("a cluster stays in its tenant"),
	"Cloud.ResourceGroup": rebuild("Azure moves none of the cluster's resources to another group"),

	"Network.CIDR":                rebuild("Azure changes the block of no subnet that nodes are in"),
	"Network.Outbound":            rebuild("the provider replaces a cluster whose way out changes"),
	"Network.Existing":            rebuild("AKS keeps the network of the cluster's creation"),
	"ExistingNetwork.NodeSubnet":  rebuild("AKS keeps the subnet of the cluster's creation"),
	"ExistingNetwork.GrantAccess": inPlace("core gives the control plane's identity its rights in the subnet, or takes away those that it gave"),

	"ExistingCluster.ResourceGroup": {{
		Effect: Impossible, Words: "another cluster of the subscription is meant, and what is in the first one would be lost",
		Remedy: "take the name back, or run `tombolo destroy` with the old name before, which leaves that cluster as it was",
	}},

	"Kubernetes.Version": {
		{
			When: "to an older one", Effect: Impossible, applies: func(c change) bool { return c.minors() < 0 },
			Words: "AKS never takes Kubernetes back", Remedy: "take the version back",
		},
		{
			When: "by more than one minor", Effect: Impossible, applies: func(c change) bool { return c.minors() > 1 },
			Words: "AKS upgrades by one minor version at a time", Remedy: "take the version back, and run `tombolo upgrade <cluster> --to <version>`, which goes one minor after another",
		},
		{
			When: "to the next minor, with the nodes held back", Effect: InPlace, applies: func(c change) bool { return c.minors() == 1 && c.holdsNodes() },
			Words: "AKS upgrades the control plane; the node groups stay",
		},
		{When: "to the next minor", Effect: RollsNodes, Words: "AKS upgrades the control plane, and then rolls the nodes of every group"},
	},
	"Kubernetes.NodeVersion": {
		{
			When: "to an older one", Effect: Impossible, applies: func(c change) bool { return c.nodeMinors() < 0 },
			Words: "AKS never takes nodes back", Remedy: "take the version back",
		},
		{Effect: RollsNodes, Words: "AKS rolls the nodes of every group"},
	},
	"Kubernetes.ServiceCIDR":       rebuild("AKS keeps the block of Services of the cluster's creation"),
	"Kubernetes.PodCIDR":           rebuild("AKS keeps the block of pods of the cluster's creation"),
	"Kubernetes.Tier":              inPlace("AKS changes the tier, and what it costs"),
	"Kubernetes.Support":           inPlace("AKS changes the support plan; standard is refused once the version is out of the community's support"),
	"Kubernetes.NodeResourceGroup": rebuild("AKS keeps the group that it made for nodes"),
	"Upgrades.Kubernetes":          inPlace("AKS upgrades by the other channel from now on"),
	"Upgrades.NodeImages":          inPlace("AKS gives nodes images by the other channel from now on"),
	"Kubernetes.Admins": {
		{When: "removed", Effect: InPlace, Words: "the group loses its rights", applies: change.takesAway},
		{Effect: InPlace, Words: "the group gets the rights of cluster-admin"},
	},
	"Kubernetes.Previewers": {
		{When: "removed", Effect: InPlace, Words: "the group loses its rights", applies: change.takesAway},
		{Effect: InPlace, Words: "the group gets the rights of a previewer"},
	},
	"Kubernetes.NodeGroups": {
		firstPool(),
		{When: "removed", Effect: InPlace, Words: "the group's nodes are drained and deleted", applies: change.takesAway},
		{Effect: InPlace, Words: "the group is made; the others stay"},
	},

	"Endpoint.Private":        rebuild("AKS keeps the kind of endpoint of the cluster's creation"),
	"Endpoint.Public":         rebuild("AKS keeps the kind of endpoint of the cluster's creation"),
	"Endpoint.PrivateDNSZone": rebuild("AKS keeps the zone of the cluster's creation, or gives it up for a public name and then makes every node anew"),
	"Endpoint.AllowedCIDRs":   inPlace("AKS changes who reaches the public endpoint, within minutes"),

	"Proxy.URL":                   all(RollsNodes, aksProxyWords),
	"Proxy.NoProxy":               all(RollsNodes, aksProxyWords),
	"Egress.CertificateAuthority": all(RollsNodes, aksProxyWords),

	"Principal.Name":  inPlace("it names the group in the file; nothing in the cluster changes"),
	"Principal.Group": inPlace("the new group gets the rights, and the old one loses them"),

	"NodeGroup.Name": {
		firstPool(),
		{Effect: ReplacesNodeGroup, Words: "the group of the new name is made, and the one of the old name drained and deleted"},
	},
	"NodeGroup.Mode": {
		firstPool(),
		{Effect: InPlace, Words: "AKS changes the mode; nodes and their pods stay"},
	},
	"NodeGroup.VMSize":    poolKeeps("size of the virtual machines"),
	"NodeGroup.OS":        all(RollsNodes, "AKS gives the nodes of the group the other image, one after another"),
	"NodeGroup.Capacity":  poolKeeps("priority"),
	"NodeGroup.MaxPods":   poolKeeps("largest number of pods"),
	"NodeGroup.DiskGiB":   poolKeeps("size of the disks"),
	"NodeGroup.Zones":     poolKeeps("zones"),
	"NodeGroup.Labels":    inPlace("AKS changes the labels of the nodes that run, too"),
	"NodeGroup.Taints":    inPlace("AKS changes the taints of the nodes that run, too; NoExecute evicts pods"),
	"NodeUpdate.MaxSurge": inPlace("it counts when AKS next rolls the nodes"),
	"Size.Min":            inPlace("AKS starts nodes when there are too few"),
	"Size.Max":            inPlace("AKS's autoscaler makes no more nodes; it drains and stops those that there are too many"),
	"Taint.Key":           inPlace("AKS changes the taints of the nodes that run, too"),
	"Taint.Value":         inPlace("AKS changes the taints of the nodes that run, too"),
	"Taint.Effect":        inPlace("AKS changes the taints of the nodes that run, too; NoExecute evicts pods"),

	"SecretsOptions.Vault":        inPlace("the identity reads the other vault, and no longer the one before; a vault of core's is deleted, and can be brought back for 90 days"),
	"SecretsOptions.AllowedCIDRs": inPlace("the network rules of the vault change"),
	"SecretsOptions.RecoverVault": inPlace("it counts when the vault is made"),

	"LokiOptions.Container":     inPlace("Loki keeps logs in the other container, and finds those in the one before no longer; a container of core's is deleted with its account and the logs in it"),
	"LokiOptions.RetentionDays": inPlace("the lifecycle of core's container changes, and the engine follows the values; a shorter one deletes older logs"),

	"DNSOptions.Zones": inPlace("the roles of the identity change, and the engine follows the values"),

	"Service.Name":      inPlace("the identity and the ConfigMap of the new name are made, and those of the old one deleted"),
	"Service.Namespace": inPlace("the ConfigMap is made in the new namespace, and the identity trusts the service account there"),
	"Service.Identity": {
		{When: "removed", Effect: InPlace, Words: "the identity is deleted, and pods lose its rights", applies: change.takesAway},
		{Effect: InPlace, Words: "the identity is made; pods get it when they start anew"},
	},
	"Identity.ServiceAccount":      inPlace("the identity trusts another service account; pods of the old one lose its rights"),
	"Identity.Mode":                inPlace("there is one mode on Azure"),
	"Identity.Roles":               inPlace(aksRoleWords),
	"OperatorOptions.CRDPatterns":  inPlace("the engine follows the values: the operator installs definitions that are new, and leaves those that are there"),
	"OperatorOptions.Systems":      inPlace("identities are made or deleted, with their roles; what a system has in Azure stays"),
	"OperatorSystem.Name":          inPlace("the identity is made anew under the other name, and the old one deleted"),
	"OperatorSystem.ResourceGroup": inPlace("another resource group is made, and the old one deleted with all that is in it"),
	"OperatorSystem.Scope":         inPlace("the role is taken and given on the other scope; what the system has in the old one stays, and it cannot change it any more"),
	"OperatorSystem.Role":          inPlace("the old role is taken, and the other one given"),
	"OperatorSystem.Reason":        inPlace("it explains the scope; nothing in the cluster changes"),
	"RoleGrant.Role":               inPlace(aksRoleWords),
	"RoleGrant.Scope":              inPlace(aksRoleWords),
	"RoleGrant.Reason":             inPlace("it explains the scope; nothing in the cluster changes"),
}

// movesFirstPool says that the pool that AKS made the cluster with would be another one.
func (c change) movesFirstPool() bool {
	return c.live.Kubernetes.FirstSystemPool() != c.file.Kubernetes.FirstSystemPool()
}

// FirstSystemPool is the name of the first node group with mode: system, which AKS makes the
// cluster with and which is a part of it; "" without one.
func (k Kubernetes) FirstSystemPool() string {
	for _, g := range k.NodeGroups {
		if g.Mode == SystemPool {
			return g.Name
		}
	}
	return ""
}
