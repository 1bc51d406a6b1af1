// Package kubernetes has the managed control plane.
//
// What AWS can change, and what it refuses, is said by:
//   - the provider: internal/service/eks/cluster.go of hashicorp/terraform-provider-aws, whose
//     ForceNew are replacements: for name, role, service block and when encryption is turned off.
//   - UpdateClusterConfig: the subnets stay in the VPC of the creation
//     (https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateClusterConfig.html).
//   - AssociateEncryptionConfig: encryption can be turned on, never off, and its key
//     stays (https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html).
//   - the update of a cluster: one minor version at a time
//     (https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html), and back by one within
//     seven days (https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html).
//
// What Azure can change, and what it refuses, is said by:
//   - the provider: in azure-native 2.90 a change of a cluster's location, dnsPrefix,
//     nodeResourceGroup or anything of networkProfile replaces it, and so does one of a
//     pool's vmSize.
//   - versions: no minor version is skipped, and there is no way back
//     (https://learn.microsoft.com/azure/aks/upgrade-aks-control-plane).
//   - the endpoint: a private cluster stays private without API Server VNet Integration, and
//     a zone only goes to none (https://learn.microsoft.com/azure/aks/private-clusters).
package kubernetes

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"tombolo/config/access"
	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/network"
	"tombolo/config/nodes"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// FirstSystemPool is the name of the first node group with mode: system, which AKS makes the
// cluster with and which is a part of it; "" without one.
func (k Kubernetes) FirstSystemPool() string {
	for _, g := range k.NodeGroups {
		if g.Mode == nodes.SystemPool {
			return g.Name
		}
	}
	return ""
}

// defaultPodCIDR is the block of pods where the file names none.
const defaultPodCIDR = "10.244.0.0/16"

// Kubernetes is the managed control plane and its nodes.
type Kubernetes struct {
	// Existing is a cluster that others own. Core makes none then, and no network and
	// nodes; it makes the identities and what addons need, and changes nothing that is
	// there. Of the other keys only admins, previewers and access go with it.
	Existing *ExistingCluster `yaml:"existing,omitempty"`
	// Version of Kubernetes, major.minor, such as "1.35". Required, but with existing.
	Version string `yaml:"version,omitempty"`
	// NodeVersion is the version of the node groups while they are behind the control
	// plane, major.minor; addons without a version are held with them. On Azure it needs
	// upgrades.kubernetes: none. Default: version. Karpenter's nodes follow the control plane.
	NodeVersion string `yaml:"nodeVersion,omitempty"`
	// ServiceCIDR is the block of the addresses of Services, a private IPv4 block from /12
	// to /24 that overlaps neither the VPC nor a network that pods reach. Default:
	// 172.20.0.0/16, or 10.100.0.0/16 in a VPC of 172.16.0.0/12; in an existing network
	// AWS chooses one of the two; on Azure 172.20.0.0/16, or 10.100.0.0/16 in a network of
	// 172.16.0.0/12.
	ServiceCIDR string `yaml:"serviceCidr,omitempty"`
	// PodCIDR is the block of the addresses of pods, a private IPv4 block that overlaps
	// neither the network nor the Services; each node gets a /24 of it. Default:
	// 10.244.0.0/16.
	PodCIDR string `yaml:"podCidr,omitempty" cloud:"azure"`
	// Endpoint of the Kubernetes API.
	Endpoint Endpoint `yaml:"endpoint,omitempty"`
	// Tier of the control plane: free, without an agreement about its availability, standard,
	// or premium, which support: extended needs. Default standard.
	Tier Tier `yaml:"tier,omitempty" cloud:"azure"`
	// Upgrades are those that AKS does by itself.
	Upgrades Upgrades `yaml:"upgrades,omitempty" cloud:"azure"`
	// NodeResourceGroup that AKS makes for what it makes itself: nodes, disks, load
	// balancers, at most 80 characters. It goes with the cluster, and what is in it. Default:
	// <name>-nodes.
	NodeResourceGroup string `yaml:"nodeResourceGroup,omitempty" cloud:"azure"`
	// Logs are the control plane's log types sent to CloudWatch: api, audit,
	// authenticator, controllerManager, scheduler. Default: api, audit,
	// authenticator.
	Logs []string `yaml:"logs,omitempty" cloud:"aws"`
	// LogRetentionDays is how long those logs are kept, in days. Default 90.
	LogRetentionDays int `yaml:"logRetentionDays,omitempty" cloud:"aws"`
	// LogKeyARN is the KMS key that CloudWatch encrypts those logs by, of the cluster's
	// region. Its policy has to let CloudWatch use it. Default: a key of CloudWatch's own.
	LogKeyARN string `yaml:"logKeyArn,omitempty" cloud:"aws"`
	// SecretsEncryption of Secrets in etcd by a KMS key, on Azure by a key of a key vault. Without
	// it core makes a KMS key, and AKS encrypts by keys of Microsoft's.
	SecretsEncryption SecretsEncryption `yaml:"secretsEncryption,omitempty"`
	// Support is standard or extended: at the end of the standard support of its version
	// AWS upgrades the cluster, or lets it run on and takes more money. On Azure extended is
	// AKS's long-term support, which needs tier: premium. Default: standard for a cluster
	// that is made, and what it has for a live one; on Azure standard.
	Support Support `yaml:"support,omitempty"`
	// ZonalShift lets AWS, or people, move traffic away from an impaired zone. Default:
	// false for a cluster that is made, and what it has for a live one.
	ZonalShift *bool `yaml:"zonalShift,omitempty" cloud:"aws"`
	// Admins have the rights of cluster-admin: on AWS IAM principals, as access entries,
	// beside the one that makes the cluster; on Azure groups of Entra, at least one, and
	// whoever runs tombolo has to be in one of them.
	Admins []access.Principal `yaml:"admins,omitempty"`
	// Previewers may preview the cluster's stacks: they read what bootstrap makes, but no
	// Secrets, and write by dry run only. On AWS they are IAM principals, as access entries,
	// on Azure groups of Entra.
	Previewers []access.Principal `yaml:"previewers,omitempty"`
	// Access is what other IAM principals may do on the cluster, as access entries: by a
	// policy of EKS's, by groups of Kubernetes, or both.
	Access []access.Access `yaml:"access,omitempty" cloud:"aws"`
	// IdentityProvider signs people in to the Kubernetes API, beside IAM. Default: none.
	IdentityProvider *access.IdentityProvider `yaml:"identityProvider,omitempty" cloud:"aws"`
	// Compute says who makes the nodes: node-groups, to which the addon karpenter can add,
	// or auto, EKS Auto Mode, which also does the work of the addons for network, DNS, Pod
	// Identity and EBS volumes. Default node-groups.
	Compute Compute `yaml:"compute,omitempty" cloud:"aws"`
	// NodeGroups are managed node groups, on Azure node pools; at least one, but with
	// existing or compute: auto. On Azure one has mode: system at least.
	NodeGroups []nodes.NodeGroup `yaml:"nodeGroups,omitempty"`
	// Addons are managed EKS addons. Default: vpc-cni, kube-proxy, coredns and
	// eks-pod-identity-agent, in the cloud's default versions; with compute: auto none.
	Addons []ManagedAddon `yaml:"addons,omitempty" cloud:"aws"`
}

var kubernetesFields = field.Of[Kubernetes](map[string]field.Descriptor{
	"Existing": {Change: []field.Case{
		{
			When: "of a cluster that core made", Effect: field.Impossible, Applies: func(c field.Change) bool { return !c.Live.Existing },
			Words: "core has made this cluster, and would delete its control plane, nodes and network", Remedy: "take the change back: the cluster is Tombolo's until it is destroyed",
		},
		{When: "taken out", Effect: field.Impossible, Words: "core would make a cluster of its own, and others own this one", Remedy: "take the change back, and describe a new cluster in a file of its own"},
	}},
	"Version": {
		Rule:      strict.Rule{What: "a supported version of Kubernetes on EKS", Example: `"1.35"`, Allowed: awsfacts.Calendar.Minors(), Advice: versionsAdvice("EKS", awsfacts.Calendar.Minors())},
		AzureRule: new(aksVersionRule(`"1.35"`)),
		Change: []field.Case{
			{
				When: "to the one before, by a rollback", Effect: field.InPlace, Applies: func(c field.Change) bool { return c.Minors() == -1 && c.File.RollBack },
				Words: "EKS takes the control plane back, within seven days of its upgrade",
			},
			{
				When: "to an older one", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.Minors() < 0 }, Words: "an up never takes Kubernetes back",
				Remedy: "take the version back; within seven days of an upgrade, `tombolo upgrade <cluster> --rollback` takes Kubernetes back by one minor",
			},
			{
				When: "by more than one minor", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.Minors() > 1 }, Words: "EKS upgrades by one minor version at a time",
				Remedy: "take the version back, and run `tombolo upgrade <cluster> --to <version>`, which goes one minor after another",
			},
			{
				When: "to the next minor, with the nodes held back", Effect: field.InPlace, Applies: func(c field.Change) bool { return c.Minors() == 1 && c.HoldsNodes() },
				Words: "EKS upgrades the control plane; the node groups stay, and addons without a version",
			},
			{When: "to the next minor", Effect: field.RollsNodes, Words: "EKS upgrades the control plane, and then rolls the nodes of every group; addons without a version follow"},
		},
		AzureChange: []field.Case{
			{When: "to an older one", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.Minors() < 0 }, Words: "AKS never takes Kubernetes back", Remedy: "take the version back"},
			{
				When: "by more than one minor, with long-term support before and after", Effect: field.RollsNodes, Applies: func(c field.Change) bool { return c.SkipsMinors(oldestNodes) },
				Words: "AKS upgrades the control plane without the versions between, and then rolls the nodes of every group",
			},
			{
				When: "by more than one minor", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.Minors() > 1 }, Words: "AKS upgrades by one minor version at a time",
				Remedy: "take the version back, and run `tombolo upgrade <cluster> --to <version>`, which goes one minor after another",
			},
			{
				When: "to the next minor, with the nodes held back", Effect: field.InPlace, Applies: func(c field.Change) bool { return c.Minors() == 1 && c.HoldsNodes() },
				Words: "AKS upgrades the control plane; the node groups stay",
			},
			{When: "to the next minor", Effect: field.RollsNodes, Words: "AKS upgrades the control plane, and then rolls the nodes of every group"},
		},
	},
	"NodeVersion": {
		Rule:      strict.Rule{What: "a supported version of Kubernetes on EKS", Example: `"1.34"`, Allowed: awsfacts.Calendar.Minors(), Advice: versionsAdvice("EKS", awsfacts.Calendar.Minors())},
		AzureRule: new(aksVersionRule(`"1.34"`)),
		Change: []field.Case{
			{
				When: "to an older one", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.NodeMinors() < 0 && !c.File.RollBack }, Words: "an up never takes nodes back",
				Remedy: "take the version back; within seven days of an upgrade, `tombolo upgrade <cluster> --rollback` takes Kubernetes back by one minor",
			},
			{Effect: field.RollsNodes, Words: "addons without a version follow, and EKS rolls the nodes of every group"},
		},
		AzureChange: []field.Case{
			{When: "to an older one", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.NodeMinors() < 0 }, Words: "AKS never takes nodes back", Remedy: "take the version back"},
			{Effect: field.RollsNodes, Words: "AKS rolls the nodes of every group"},
		},
	},
	"ServiceCIDR": {
		Rule: form.IPv4Block("172.20.0.0/16"), Change: field.Keeps("EKS keeps the block of Services of the cluster's creation"),
		AzureChange: field.Keeps("AKS keeps the block of Services of the cluster's creation"),
	},
	"PodCIDR": {
		Rule:   strict.Rule{What: "an IPv4 block", Example: defaultPodCIDR, Default: defaultPodCIDR, Pattern: regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+$`), Advice: form.BlockAdvice},
		Change: field.Keeps("AKS keeps the block of pods of the cluster's creation"), Remedy: "remove it: pods have addresses of the VPC",
	},
	"Endpoint": {},
	"Tier": {
		Rule: strict.Rule{What: "a tier of AKS", Allowed: form.Texts(FreeTier, StandardTier, PremiumTier), Default: StandardTier}, Change: field.Changes("AKS changes the tier, and what it costs"),
		Remedy: "remove it: EKS has one tier; support says what happens to old versions",
	},
	"Upgrades": {Remedy: "remove it: EKS upgrades nothing by itself while the version is supported"},
	"NodeResourceGroup": {
		Own: true, Rule: form.NodeResourceGroupRule("demo-nodes"), Change: field.Keeps("AKS keeps the group that it made for nodes"), Remedy: "remove it: AWS has no resource groups that resources are in",
	},
	"Logs": {
		Rule:   strict.Rule{What: "a log type of the EKS control plane", Noun: "log type", Allowed: awsfacts.LogTypes, Default: defaultLogs()},
		Change: field.Changes("EKS starts or stops to send log types; the log group stays"), Remedy: "remove it: send the control plane's logs by a diagnostic setting of Azure Monitor",
		Unordered: true,
	},
	"LogRetentionDays": {
		Rule:   strict.Rule{What: "a retention that CloudWatch offers", Numbers: awsfacts.RetentionDays, Default: form.LogRetentionDays},
		Change: field.Changes("the retention of the log group changes; a shorter one deletes older logs"), Remedy: "remove it: a Log Analytics workspace says how long it keeps logs",
	},
	"LogKeyARN": {
		KeyRemedy: "use a key of the cluster's region, or leave it out for a key of CloudWatch's", Rule: form.KMSKeyARN(),
		// internal/service/logs/group.go: AssociateKmsKey, DisassociateKmsKey.
		Change: field.Changes("CloudWatch encrypts what comes from now on by the key; older logs stay under the key that they have"),
		Remedy: "remove it: a Log Analytics workspace says how it encrypts logs",
	},
	"SecretsEncryption": {},
	"Support": {
		Rule:      strict.Rule{What: "a kind of support", Allowed: form.Texts(StandardSupport, ExtendedSupport)},
		AzureRule: &strict.Rule{What: "a kind of support", Allowed: form.Texts(StandardSupport, ExtendedSupport), Default: StandardSupport},
		// UpdateClusterConfig has both: upgradePolicy and zonalShiftConfig, each by itself.
		// https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateClusterConfig.html
		Change:      field.Changes("EKS changes the cluster's upgrade policy; standard is refused once the version is in extended support"),
		AzureChange: field.Changes("AKS changes the support plan; standard is refused once the version is out of the community's support"),
	},
	"ZonalShift": {Change: field.Changes("EKS turns zonal shift on or off"), Remedy: "remove it: AKS has no such switch"},
	"Admins": {
		Change:      field.ComesAndGoes("the access entry is made", "the access entry is deleted, and with it the rights"),
		AzureChange: field.ComesAndGoes("the group gets the rights of cluster-admin", "the group loses its rights"),
	},
	"Previewers": {
		Change:      field.ComesAndGoes("the access entry is made", "the access entry is deleted, and with it the rights"),
		AzureChange: field.ComesAndGoes("the group gets the rights of a previewer", "the group loses its rights"),
	},
	"Access": {
		Change: field.ComesAndGoes("the access entry is made; EKS refuses it while the principal has another one, so take that out with an up before", "the access entry is deleted, and with it the rights"),
		Remedy: "remove it: bind groups of Entra, by their object ids, to roles in the platform tree",
	},
	"IdentityProvider": {
		// internal/service/eks/identity_provider_config.go: all but the tags is ForceNew, and EKS
		// has one provider for a cluster. How long it takes:
		// https://github.com/aws/containers-roadmap/issues/1438
		Change: field.ComesAndGoes("EKS gives the provider to the control plane, which can take half an hour; IAM's principals keep their rights", "EKS takes the provider from the control plane, and refuses its tokens; IAM's principals keep their rights"),
		Remedy: "remove it: Entra signs people in, and admins and bindings name its groups",
	},
	"Compute": {
		Rule: strict.Rule{What: "a way to nodes", Allowed: form.Texts(NodeGroupCompute, AutoCompute), Default: NodeGroupCompute},
		// "AWS does not support the following migrations" in
		// https://docs.aws.amazon.com/eks/latest/userguide/migrate-auto.html
		Change: field.Keeps("EKS moves neither volumes nor load balancers between node groups and EKS Auto Mode, and all nodes would go at once"), Remedy: "remove it: nodes are in nodeGroups",
	},
	"NodeGroups": {
		Rule: strict.Rule{Noun: "node group", MinItems: 1}, Change: field.ComesAndGoes("the group is made; the others stay", "the group's nodes are drained and deleted"),
		AzureChange: []field.Case{
			nodes.FirstPool(),
			{When: "removed", Effect: field.InPlace, Words: "the group's nodes are drained and deleted", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the group is made; the others stay"},
		},
	},
	"Addons": {
		Rule: strict.Rule{Default: defaultAddonObjects()}, Change: field.ComesAndGoes("EKS installs the addon", "EKS deletes the addon from the cluster"),
		Remedy: "remove it: AKS brings network, DNS and disks with the cluster",
	},
})

// Auto says that EKS Auto Mode makes the nodes.
func (k Kubernetes) Auto() bool { return k.Compute == AutoCompute }

// Nodes is the version of the node groups, major.minor.
func (k Kubernetes) Nodes() string { return cmp.Or(k.NodeVersion, k.Version) }

// OwnProvider is the addon of this cluster that is its identity provider, by its host; "" when the
// provider is elsewhere. Git brings an addon after the cluster is made, and EKS would ask a name
// that nobody answers: such a provider is given to a cluster that lives.
func (k Kubernetes) OwnProvider(addons addon.Selection) string {
	if k.IdentityProvider == nil {
		return ""
	}
	issuer, err := url.Parse(k.IdentityProvider.IssuerURL)
	if err != nil {
		return ""
	}
	for _, a := range addons.Enabled() {
		if host := addon.HostOf(a.Options); host != "" && host == form.HostIn(issuer) {
			return a.Name
		}
	}
	return ""
}

// SetDefaults fills in what the file of a cluster leaves out, in a network of a block.
func (k *Kubernetes) SetDefaults(p field.Provider, cluster, netBlock string) {
	if p == field.Azure {
		if k.SecretsEncryption.KeyID != "" && k.SecretsEncryption.Enabled == nil {
			k.SecretsEncryption.Enabled = new(true)
		}
		k.ServiceCIDR = cmp.Or(k.ServiceCIDR, network.ServiceCIDR(netBlock))
		k.Endpoint.Private = cmp.Or(k.Endpoint.Private, new(!k.Endpoint.Public))
		if *k.Endpoint.Private {
			k.Endpoint.PrivateDNSZone = cmp.Or(k.Endpoint.PrivateDNSZone, SystemZone)
		}
		k.NodeResourceGroup = cmp.Or(k.NodeResourceGroup, cluster+"-nodes")
	} else if k.Addons == nil && !k.Auto() {
		k.Addons = defaultAddons()
	}
	Fields.SetDefaults(p, k)
	for i := range k.NodeGroups {
		k.NodeGroups[i].SetDefaults(p)
	}
	if k.IdentityProvider != nil {
		access.Fields.SetDefaults(p, k.IdentityProvider)
	}
}

// Tier of AKS's control plane.
type Tier string

// The tiers.
const (
	FreeTier     Tier = "free"
	StandardTier Tier = "standard"
	PremiumTier  Tier = "premium"
)

// UpgradeChannel says to which versions of Kubernetes AKS upgrades by itself.
type UpgradeChannel string

// The channels of upgrades.
const (
	NoUpgrades     UpgradeChannel = "none"
	PatchUpgrades  UpgradeChannel = "patch"
	StableUpgrades UpgradeChannel = "stable"
	RapidUpgrades  UpgradeChannel = "rapid"
)

// ImageChannel says which images AKS gives to nodes by itself.
type ImageChannel string

// The channels of node images.
const (
	NoImages         ImageChannel = "none"
	UnmanagedImages  ImageChannel = "unmanaged"
	SecurityPatches  ImageChannel = "security-patch"
	NodeImageChannel ImageChannel = "node-image"
)

// Upgrades are those that AKS does by itself.
type Upgrades struct {
	// Kubernetes is none, patch, stable or rapid. With stable and rapid AKS changes the
	// minor version, and the file's no longer says what runs. Default patch.
	Kubernetes UpgradeChannel `yaml:"kubernetes,omitempty"`
	// NodeImages is none, unmanaged, security-patch or node-image. Default node-image.
	NodeImages ImageChannel `yaml:"nodeImages,omitempty"`
}

var upgradesFields = field.Of[Upgrades](map[string]field.Descriptor{
	"Kubernetes": {
		AzureRule:   &strict.Rule{What: "a channel of upgrades", Allowed: form.Texts(NoUpgrades, PatchUpgrades, StableUpgrades, RapidUpgrades), Default: PatchUpgrades},
		AzureChange: field.Changes("AKS upgrades by the other channel from now on"),
	},
	"NodeImages": {
		AzureRule: &strict.Rule{What: "a channel of node images", Allowed: form.Texts(NoImages, UnmanagedImages, SecurityPatches, NodeImageChannel), Default: NodeImageChannel},
		AzureChange: []field.Case{
			{When: "to unmanaged, and from there to none", Effect: field.RollsNodes, Applies: reimages, Words: "AKS makes the nodes of every group anew, and gives them images by the other channel from then on"},
			{Effect: field.InPlace, Words: "AKS gives nodes images by the other channel from now on"},
		},
	},
})

// reimages says that AKS makes nodes anew for another channel of their images. Source: "Node OS
// channel changes that cause a reimage" in
// https://learn.microsoft.com/azure/aks/auto-upgrade-node-os-image
func reimages(c field.Change) bool {
	return c.After == string(UnmanagedImages) || c.Before == string(UnmanagedImages) && c.After == string(NoImages)
}

// Compute is a way to nodes.
type Compute string

// The ways to nodes.
const (
	NodeGroupCompute Compute = "node-groups"
	AutoCompute      Compute = "auto"
)

// Support is what AWS does with a cluster whose version is old.
type Support string

// The kinds of support.
const (
	StandardSupport Support = "standard"
	ExtendedSupport Support = "extended"
)

// SecretsEncryption is the encryption of Kubernetes Secrets by a KMS key, or by a key of a key vault.
type SecretsEncryption struct {
	// Enabled turns encryption on. Default true; on Azure true with keyId. AWS cannot turn it off
	// again. AKS can: Secrets need the key until they are written again, so keep keyId and vault.
	Enabled *bool `yaml:"enabled,omitempty"`
	// KeyARN is an existing key. Default: core makes one.
	KeyARN string `yaml:"keyArn,omitempty" cloud:"aws"`
	// KeyID is an existing RSA key of a key vault, by its id with a version: AKS takes another version
	// when the file names it.
	KeyID string `yaml:"keyId,omitempty" cloud:"azure"`
	// Vault of the key, by its id: with Azure's roles, and open to all networks. Core gives the
	// identity of the control plane the role there by which it encrypts and decrypts.
	Vault string `yaml:"vault,omitempty" cloud:"azure"`
}

// The words of changes of a key that AKS encrypts by. Source:
// https://learn.microsoft.com/azure/aks/use-kms-etcd-encryption
const (
	writeAgain  = "write all Secrets again"
	keepsTheKey = "Secrets that were not written again are read by the key before"
)

var secretsEncryptionFields = field.Of[SecretsEncryption](map[string]field.Descriptor{
	"Enabled": {
		Rule: strict.Rule{Default: true},
		Change: []field.Case{
			{When: "turned off", Effect: field.NeedsRebuild, Applies: func(c field.Change) bool { return !c.File.Encrypts }, Words: "EKS never turns encryption off again", Remedy: field.RebuildRemedy},
			{When: "turned on", Effect: field.InPlace, Words: "EKS encrypts the Secrets of the cluster; that cannot be undone"},
		},
		AzureRule: &strict.Rule{},
		AzureChange: []field.Case{
			{When: "turned off", Effect: field.InPlace, Applies: func(c field.Change) bool { return !c.File.Encrypts }, Words: "AKS encrypts no Secret by the key that is written from now on; " + keepsTheKey},
			{When: "turned on", Effect: field.InPlace, Words: "AKS encrypts by the key what is written from now on; " + writeAgain + " to have the others encrypted, too"},
		},
	},
	"KeyID": {
		Rule: strict.Rule{
			What: "the id of a key in a key vault, with its version", Pattern: form.VaultKey, Advice: form.VaultKeyAdvice,
			Example: "https://etcd-keys.vault.azure.net/keys/demo/0123456789abcdef0123456789abcdef",
		},
		Change: []field.Case{
			{
				When: "taken away while AKS encrypts by it", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.After == "" && c.Live.Encrypts },
				Words: keepsTheKey + ", and core would take the role on it away", Remedy: "set enabled: false and keep keyId and vault; " + writeAgain + ", and take them away after that",
			},
			{Effect: field.InPlace, Words: "AKS encrypts by it what is written from now on; " + keepsTheKey + ", so keep that one, and " + writeAgain},
		},
		Instead: "keyArn",
	},
	"Vault": {
		Rule: strict.Rule{
			What: "the id of a key vault", Pattern: form.VaultID, Advice: form.IDAdvice(form.VaultID),
			Example: "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/secrets/providers/Microsoft.KeyVault/vaults/etcd-keys",
		},
		Change: []field.Case{
			{
				When: "while AKS encrypts by a key in it", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.Live.Encrypts },
				Words: keepsTheKey + ", and core would take the role on its vault away", Remedy: "use a key of the same vault; or set enabled: false, " + writeAgain + ", and name the other vault after that",
			},
			{Effect: field.InPlace, Words: "the identity of the control plane gets its role on the vault, and loses the one before"},
		},
		Remedy: "remove it: keyArn names the key",
	},
	"KeyARN": {
		Instead:   "keyId",
		KeyRemedy: "use a key of the cluster's region, or leave it out for a key that core makes", Rule: form.KMSKeyARN(),
		Change: []field.Case{
			{When: "together with enabled", Effect: field.InPlace, Words: "EKS takes the key when encryption is turned on", Applies: func(c field.Change) bool { return !c.Live.Encrypts && c.File.Encrypts }},
			{When: "on a cluster that is encrypted", Effect: field.NeedsRebuild, Words: "EKS keeps the key that encryption was turned on with", Remedy: field.RebuildRemedy},
		},
	},
})

// ExistingCluster names a managed cluster that others own.
type ExistingCluster struct {
	// Name of the cluster in its cloud, in the account and region of the file. Default: the
	// name of the file.
	Name string `yaml:"name,omitempty"`
	// CreateOIDCProvider has core make the IAM OIDC provider for the cluster's issuer, of
	// which an account has one for each cluster; roles of service accounts (irsa) need it.
	// Default false: it is there, and core looks it up.
	CreateOIDCProvider bool `yaml:"createOidcProvider,omitempty" cloud:"aws"`
	// ResourceGroup of the cluster.
	ResourceGroup string `yaml:"resourceGroup" cloud:"azure"`
}

var existingClusterFields = field.Of[ExistingCluster](map[string]field.Descriptor{
	"Name": {
		Own: true, Rule: strict.Rule{What: "the name of an EKS cluster", Example: "platform", Pattern: regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]*$`), MaxLength: 100},
		AzureRule: &strict.Rule{
			What: "the name of an AKS cluster", Example: "platform",
			Pattern: regexp.MustCompile(`^[0-9A-Za-z]([0-9A-Za-z_-]*[0-9A-Za-z])?$`), MaxLength: azurefacts.MaxClusterName,
		},
		Change: []field.Case{
			{
				Effect: field.Impossible, Words: "another cluster of the account is meant, and what is in the first one would be lost",
				Remedy: "take the name back, or run `tombolo destroy` with the old name before, which leaves that cluster as it was",
			},
		},
	},
	"CreateOIDCProvider": {
		Rule: strict.Rule{Default: false},
		Change: []field.Case{
			{
				When: "turned off", Effect: field.NeedsRebuild, Applies: func(c field.Change) bool { return c.Before == true },
				Words: "core has made the provider and would delete it, and no role of a service account could be assumed any more", Remedy: "keep createOidcProvider: true as long as core is there",
			},
			{When: "turned on", Effect: field.InPlace, Words: "core makes the provider; it fails when the account has one for the issuer"},
		},
		Remedy: "remove it: identities of Azure trust the cluster's issuer by themselves",
	},
	"ResourceGroup": {
		Rule: form.ResourceGroupRule("platform"),
		Change: []field.Case{
			{
				Effect: field.Impossible, Words: "another cluster of the subscription is meant, and what is in the first one would be lost",
				Remedy: "take the name back, or run `tombolo destroy` with the old name before, which leaves that cluster as it was",
			},
		},
		Remedy: "remove it: account and region lead to the cluster",
	},
})

func defaultLogs() []string { return []string{"api", "audit", "authenticator"} }

// versionsAdvice does not suggest the nearest of a service's versions: 1.27 is not a typing
// error for 1.32.
func versionsAdvice(service string, versions []string) func(string) string {
	return func(s string) string {
		for _, version := range versions {
			if strings.TrimPrefix(s, "v") == version || strings.HasPrefix(strings.TrimPrefix(s, "v"), version+".") {
				return fmt.Sprintf("use %s: %s chooses the patch", wording.Quote(version), service)
			}
		}
		return "use " + wording.Or(versions)
	}
}

func aksVersionRule(example string) strict.Rule {
	return strict.Rule{
		What: "a supported version of Kubernetes on AKS", Example: example, Allowed: azurefacts.Calendar.Minors(),
		Advice: versionsAdvice("AKS", azurefacts.Calendar.Minors()),
	}
}

// Fields are the descriptors of the package.
var Fields = field.Join(kubernetesFields, endpointFields, secretsEncryptionFields, upgradesFields, existingClusterFields, managedAddonFields, addonIdentityFields)
