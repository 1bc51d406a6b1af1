package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file declares, for every key of the cluster file, what a change of it does to a
// cluster that lives. Where that is something else in Azure, effects_azure.go declares it.
// TestEffects fails for a key that is missing, and the test of the lab holds what is
// declared to the engine's plan.
//
// What AWS can change, and what it refuses, is said by:
//   - the provider: internal/service/eks/cluster.go and node_group.go of
//     hashicorp/terraform-provider-aws, whose ForceNew are replacements. A control
//     plane is replaced for name, role, service block and when encryption is turned
//     off; a node group for subnets, instance types, capacity, AMI type and role.
//   - UpdateClusterConfig in the EKS API: the subnets stay in the VPC of the creation
//     (https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateClusterConfig.html),
//     and in its zones
//     (https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html).
//   - AssociateEncryptionConfig: encryption can be turned on, never off, and its key
//     stays (https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html).
//   - the update of a cluster: one minor version at a time
//     (https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html), and back
//     by one within seven days
//     (https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html).
//   - a VPC's block and a subnet's cannot be changed once they are made
//     (https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html).
//   - UpdateNodegroupVersion: a new version of the launch template rolls the nodes
//     (https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html).

// all is the case of a key whose changes all have one effect.
func all(effect Effect, words string) []Case { return []Case{{Effect: effect, Words: words}} }

func inPlace(words string) []Case { return all(InPlace, words) }

// rebuild is the case of a key that a live cluster keeps.
func rebuild(words string) []Case {
	return []Case{{Effect: NeedsRebuild, Words: words, Remedy: rebuildRemedy}}
}

const (
	rebuildRemedy = "take the change back, or make the cluster anew: `tombolo destroy`, then `tombolo up`"
	rollsWords    = "the launch template gets a new version, and EKS rolls the nodes of every group"
	egressWords   = rollsWords + "; the engine is installed anew with it, and once Git has its own files, Git decides"
	templateWords = "the launch template gets a new version, and EKS rolls the nodes of the group"
	outsideWords  = "it is read by tombolo; nothing in the cluster changes"
	assumedWords  = "the role is assumed so from now on; nothing in the cluster changes, and the creator's access entry stays"
	gitWords      = "the engine's source in the cluster changes"
	providerWords = "EKS takes the provider from the control plane and gives it anew, each within half an hour: until then its tokens are refused"
	argocdWords   = "Argo CD's settings change, and its server reads them"
	readWords     = "the value is read from there; the ConfigMap changes with it, and the engine follows it"
	valuesWords   = "the ConfigMap of the values changes, and the engine follows it"
)

var effects = map[string][]Case{
	"Cluster.Version":       inPlace("it is the format of the file; nothing in the cluster changes"),
	"Cluster.Name":          {{Effect: Impossible, Words: "another name is another cluster, beside this one", Remedy: "take the name back, or destroy the cluster of the old name with its old file"}},
	"Cluster.Environment":   all(RollsNodes, "it is a tag of every resource: "+rollsWords),
	"Cluster.Wave":          inPlace(outsideWords),
	"Cluster.ChangeWindows": inPlace(outsideWords),
	"ChangeWindow.Days":     inPlace(outsideWords),
	"ChangeWindow.From":     inPlace(outsideWords),
	"ChangeWindow.To":       inPlace(outsideWords),
	"ChangeWindow.TimeZone": inPlace(outsideWords),
	"DriftPolicy.Remediate": inPlace(outsideWords),
	"Cluster.Protect":       inPlace("the state protects network and control plane, or no longer; nothing in the cloud changes"),
	"Cluster.Tags":          all(RollsNodes, "every resource gets the tags: "+rollsWords),
	"Cluster.Namespaces": {
		{When: "removed", Effect: InPlace, Words: "the namespace is deleted with everything in it", applies: change.takesAway},
		{Effect: InPlace, Words: "the namespace is made"},
	},
	"Cluster.Addons": {
		{When: "turned off", Effect: InPlace, Words: "once Git has removed the addon, what it has in the cloud is deleted; a bucket with objects is not", applies: change.takesAway},
		{Effect: InPlace, Words: "what the addon needs in the cloud is made, and the engine installs it"},
	},
	"Cluster.Services": {
		{When: "removed", Effect: InPlace, Words: "the service's role and ConfigMap are deleted", applies: change.takesAway},
		{Effect: InPlace, Words: "the service's role and ConfigMap are made"},
	},
	"Cluster.Labels":      inPlace("the labels of the cluster's registration change, and generators follow them"),
	"Cluster.Annotations": inPlace("the annotations of the cluster's registration change, and generators follow them"),
	"Cluster.Values":      inPlace("the infra ConfigMap changes, and the engine follows it"),
	"Value.FromStack":     inPlace(readWords),
	"Value.Output":        inPlace(readWords),
	"Value.FromSSM":       inPlace(readWords),

	"Cloud.Provider":   rebuild("a cluster stays in its cloud"),
	"Cloud.Region":     rebuild("a cluster stays in its region"),
	"Cloud.Account":    rebuild("a cluster stays in its account"),
	"Cloud.AssumeRole": inPlace("as it says, the role is assumed, or no longer, for what is done in the account; the creator's access entry stays"),
	"Cloud.Profile":    inPlace("it is where tombolo takes credentials from; nothing in the cluster changes"),

	// Who makes a request is no property of what it makes.
	"AssumeRole.RoleARN":     inPlace(assumedWords),
	"AssumeRole.ExternalID":  inPlace(assumedWords),
	"AssumeRole.SessionName": inPlace(assumedWords),

	// ForceNew of internal/service/iam/role.go: path, not permissions_boundary.
	"Roles.PermissionsBoundary": inPlace("IAM puts the boundary on the roles that are there, or takes it off; from then on their rights end there"),
	"GivenRoles.Cluster":        rebuild("EKS keeps the role that the control plane was made with"),
	"GivenRoles.Nodes": {
		{
			When: "with EKS Auto Mode", Effect: NeedsRebuild, applies: change.ofAutoMode,
			Words: "EKS keeps the role that Auto Mode was turned on with", Remedy: rebuildRemedy,
		},
		{Effect: ReplacesNodeGroup, Words: "every node group is replaced: EKS keeps the role of a group"},
	},
	"GivenRoles.Addons": inPlace("the engine follows the values: the addon's pods start anew with the other role; core's own, where there was one, is deleted"),
	"Roles.Path": {{
		Effect: NeedsRebuild, Words: "a role keeps its path, and EKS the role that the control plane was made with", Remedy: rebuildRemedy,
	}},

	"Network.CIDR": {{
		Effect: NeedsRebuild, Words: "AWS changes the block of neither a VPC nor a subnet, and EKS keeps its VPC", Remedy: rebuildRemedy,
	}},
	"Network.Zones": {
		{
			When: "without one of the control plane's", Effect: NeedsRebuild, applies: change.leavesZones,
			Words:  "the control plane keeps the zones of its creation",
			Remedy: "keep its zones, and add others beside them; or make the cluster anew: `tombolo destroy`, then `tombolo up`",
		},
		{
			When: "one too many for the block", Effect: NeedsRebuild, applies: change.lacksRoom,
			Words:  "the block has no room for its subnets beside those that are there, and AWS moves none",
			Remedy: "take the zone out, or make the cluster anew with a larger block: `tombolo destroy`, then `tombolo up`",
		},
		{
			When: "added, or one of the nodes' alone removed", Effect: ReplacesNodeGroup,
			Words: "subnets for nodes come or go, and every node group is replaced; the control plane stays in its zones",
		},
	},
	"Network.NAT": {
		{When: "to none", Effect: InPlace, Words: "the gateways are deleted, and nodes lose the internet", applies: func(c change) bool { return c.file.Network.NAT == NATNone }},
		{Effect: InPlace, Words: "gateways are made or deleted, and routes follow; connections through a gateway that goes are cut"},
	},
	"Network.Endpoints": {
		{
			When: "with a proxy", Effect: RollsNodes, applies: change.goesByProxy,
			Words: "endpoints are made or deleted, and what is reached without the proxy changes with them: " + rollsWords,
		},
		{Effect: InPlace, Words: "endpoints are made or deleted; connections through one that goes are cut"},
	},
	"Network.FlowLogs":       inPlace("a flow log is made, or deleted with its log group and what is in it; a bucket keeps what it has"),
	"FlowLogs.To":            inPlace("another flow log is made; from cloudwatch, the log group is deleted with what is in it"),
	"FlowLogs.BucketARN":     inPlace("another flow log is made for the bucket; the old one keeps what it has"),
	"FlowLogs.Traffic":       inPlace("another flow log is made, and the old one is deleted"),
	"FlowLogs.RetentionDays": inPlace("the retention of the log group changes; a shorter one deletes older logs"),
	"FlowLogs.KMSKeyARN":     inPlace("CloudWatch encrypts what comes from now on by the key; older logs stay under the key that they have"),
	"Network.Existing": {{
		Effect: NeedsRebuild, Words: "EKS keeps the VPC of the cluster's creation", Remedy: rebuildRemedy,
	}},
	"ExistingNetwork.VPC":     rebuild("EKS keeps the VPC of the cluster's creation"),
	"ExistingNetwork.Account": inPlace("the policies of Karpenter and of the load balancer controller change"),
	"ExistingNetwork.PrivateSubnets": all(ReplacesNodeGroup,
		"every node group is replaced; the control plane's own subnets have to stay in the zones of its creation"),
	"ExistingNetwork.PublicSubnets": inPlace("the infra ConfigMap changes; nothing in the network does"),
	"ExistingNetwork.ControlPlaneSubnets": inPlace("EKS moves the control plane's interfaces into the subnets; it refuses another VPC, " +
		"and other zones than those of the creation"),

	"Kubernetes.Existing": {
		{
			When: "of a cluster that core made", Effect: Impossible, applies: func(c change) bool { return c.live.Kubernetes.Existing == nil },
			Words:  "core has made this cluster, and would delete its control plane, nodes and network",
			Remedy: "take the change back: the cluster is Tombolo's until it is destroyed",
		},
		{
			When: "taken out", Effect: Impossible, Words: "core would make a cluster of its own, and others own this one",
			Remedy: "take the change back, and describe a new cluster in a file of its own",
		},
	},
	"ExistingCluster.Name": {{
		Effect: Impossible, Words: "another cluster of the account is meant, and what is in the first one would be lost",
		Remedy: "take the name back, or run `tombolo destroy` with the old name before, which leaves that cluster as it was",
	}},
	"ExistingCluster.CreateOIDCProvider": {
		{
			When: "turned off", Effect: NeedsRebuild, applies: func(c change) bool { return c.live.Kubernetes.Existing.CreateOIDCProvider },
			Words: "core has made the provider and would delete it, and no role of a service account could be assumed any more", Remedy: "keep createOidcProvider: true as long as core is there",
		},
		{When: "turned on", Effect: InPlace, Words: "core makes the provider; it fails when the account has one for the issuer"},
	},

	// internal/service/efs/file_system.go: ForceNew, and computed where it is left out.
	"EFSOptions.KMSKeyARN": {
		{When: "removed", Effect: InPlace, Words: "nothing changes: EFS keeps the key of the file system", applies: func(c change) bool { return c.after == "" }},
		{
			Effect: NeedsRebuild, Words: "EFS keeps the key that the file system was made with, and the file system has your data",
			Remedy: "take the change back; or save the data, turn the addon off with an up, and on again with the key",
		},
	},

	"Kubernetes.Version": {
		{
			When: "to the one before, by a rollback", Effect: InPlace, applies: func(c change) bool { return c.minors() == -1 && c.file.RollBack },
			Words: "EKS takes the control plane back, within seven days of its upgrade",
		},
		{
			When: "to an older one", Effect: Impossible, applies: func(c change) bool { return c.minors() < 0 },
			Words:  "an up never takes Kubernetes back",
			Remedy: "take the version back; within seven days of an upgrade, `tombolo upgrade <cluster> --rollback` takes Kubernetes back by one minor",
		},
		{
			When: "by more than one minor", Effect: Impossible, applies: func(c change) bool { return c.minors() > 1 },
			Words: "EKS upgrades by one minor version at a time", Remedy: "take the version back, and run `tombolo upgrade <cluster> --to <version>`, which goes one minor after another",
		},
		{
			When: "to the next minor, with the nodes held back", Effect: InPlace, applies: func(c change) bool { return c.minors() == 1 && c.holdsNodes() },
			Words: "EKS upgrades the control plane; the node groups stay, and addons without a version",
		},
		{When: "to the next minor", Effect: RollsNodes, Words: "EKS upgrades the control plane, and then rolls the nodes of every group; addons without a version follow"},
	},
	"Kubernetes.NodeVersion": {
		{
			When: "to an older one", Effect: Impossible, applies: func(c change) bool { return c.nodeMinors() < 0 && !c.file.RollBack },
			Words:  "an up never takes nodes back",
			Remedy: "take the version back; within seven days of an upgrade, `tombolo upgrade <cluster> --rollback` takes Kubernetes back by one minor",
		},
		{Effect: RollsNodes, Words: "addons without a version follow, and EKS rolls the nodes of every group"},
	},
	"Kubernetes.ServiceCIDR":      rebuild("EKS keeps the block of Services of the cluster's creation"),
	"Kubernetes.Logs":             inPlace("EKS starts or stops to send log types; the log group stays"),
	"Kubernetes.LogRetentionDays": inPlace("the retention of the log group changes; a shorter one deletes older logs"),
	// internal/service/logs/group.go: AssociateKmsKey, DisassociateKmsKey.
	"Kubernetes.LogKeyARN": inPlace("CloudWatch encrypts what comes from now on by the key; older logs stay under the key that they have"),
	// UpdateClusterConfig has both: upgradePolicy and zonalShiftConfig, each by itself.
	// https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateClusterConfig.html
	"Kubernetes.Support":    inPlace("EKS changes the cluster's upgrade policy; standard is refused once the version is in extended support"),
	"Kubernetes.ZonalShift": inPlace("EKS turns zonal shift on or off"),
	"Kubernetes.Admins": {
		{When: "removed", Effect: InPlace, Words: "the access entry is deleted, and with it the rights", applies: change.takesAway},
		{Effect: InPlace, Words: "the access entry is made"},
	},
	"Kubernetes.Previewers": {
		{When: "removed", Effect: InPlace, Words: "the access entry is deleted, and with it the rights", applies: change.takesAway},
		{Effect: InPlace, Words: "the access entry is made"},
	},
	"Kubernetes.Access": {
		{When: "removed", Effect: InPlace, Words: "the access entry is deleted, and with it the rights", applies: change.takesAway},
		{Effect: InPlace, Words: "the access entry is made; EKS refuses it while the principal has another one, so take that out with an up before"},
	},
	// internal/service/eks/identity_provider_config.go: all but the tags is ForceNew, and EKS
	// has one provider for a cluster. How long it takes:
	// https://github.com/aws/containers-roadmap/issues/1438
	"Kubernetes.IdentityProvider": {
		{When: "removed", Effect: InPlace, Words: "EKS takes the provider from the control plane, and refuses its tokens; IAM's principals keep their rights", applies: change.takesAway},
		{Effect: InPlace, Words: "EKS gives the provider to the control plane, which can take half an hour; IAM's principals keep their rights"},
	},
	// "AWS does not support the following migrations" in
	// https://docs.aws.amazon.com/eks/latest/userguide/migrate-auto.html
	"Kubernetes.Compute": rebuild("EKS moves neither volumes nor load balancers between node groups and EKS Auto Mode, and all nodes would go at once"),
	"Kubernetes.NodeGroups": {
		{When: "removed", Effect: InPlace, Words: "the group's nodes are drained and deleted", applies: change.takesAway},
		{Effect: InPlace, Words: "the group is made; the others stay"},
	},
	"Kubernetes.Addons": {
		{When: "removed", Effect: InPlace, Words: "EKS deletes the addon from the cluster", applies: change.takesAway},
		{Effect: InPlace, Words: "EKS installs the addon"},
	},

	"Endpoint.Private": {
		{
			When: "with a proxy", Effect: RollsNodes, applies: change.goesByProxy,
			Words: "EKS changes the endpoint within minutes, and nodes reach it by the proxy or without it: " + rollsWords,
		},
		{Effect: InPlace, Words: "EKS changes the endpoint within minutes; the API stays reachable by the other one"},
	},
	"Endpoint.PrivateCIDRs":          inPlace("a rule is made for each new block; those of blocks that are gone are deleted"),
	"Endpoint.PublicAddressesInside": inPlace("it confirms blocks of privateCidrs; nothing in the cluster changes"),
	"Endpoint.SecurityGroups":        inPlace("a rule is made for each new group; those of groups that are gone are deleted"),
	"Endpoint.Public":                inPlace("EKS changes the endpoint within minutes; the API stays reachable by the other one"),
	"Endpoint.AllowedCIDRs":          inPlace("EKS changes who reaches the public endpoint"),
	"Endpoint.OpenToTheWorld":        inPlace("it confirms a block of allowedCidrs; nothing in the cluster changes"),

	"SecretsEncryption.Enabled": {
		{
			When: "turned off", Effect: NeedsRebuild, applies: func(c change) bool { return !c.file.encrypts() },
			Words: "EKS never turns encryption off again", Remedy: rebuildRemedy,
		},
		{When: "turned on", Effect: InPlace, Words: "EKS encrypts the Secrets of the cluster; that cannot be undone"},
	},
	"SecretsEncryption.KeyARN": {
		{When: "together with enabled", Effect: InPlace, Words: "EKS takes the key when encryption is turned on", applies: change.encrypts},
		{When: "on a cluster that is encrypted", Effect: NeedsRebuild, Words: "EKS keeps the key that encryption was turned on with", Remedy: rebuildRemedy},
	},

	"Proxy.URL":                   all(RollsNodes, egressWords),
	"Proxy.NoProxy":               all(RollsNodes, egressWords),
	"Egress.CertificateAuthority": all(RollsNodes, egressWords),
	"ImageSources.Mirrors":        all(RollsNodes, egressWords),
	"ImageSources.PullSecret":     inPlace("the Secret for the engine's images is made, or goes, and the engine is installed anew; once Git has its own files, Git decides"),
	"PullSecret.Username":         inPlace("the Secret for the engine's images changes"),
	"PullSecret.Password":         inPlace("the Secret for the engine's images changes"),

	"Principal.Name":         inPlace("the access entry is made under its new name and deleted under the old one: give another principal, too, or EKS refuses the second entry"),
	"Principal.PrincipalARN": inPlace("the access entry is replaced: the new principal gets the rights, the old one loses them"),
	"Access.Name":            inPlace("the access entry is made under its new name and deleted under the old one: give another principal, too, or EKS refuses the second entry"),
	"Access.PrincipalARN":    inPlace("the access entry is replaced: the new principal gets the rights, the old one loses them"),
	"Access.Policy":          inPlace("the policy is taken off the entry, and the other one put on"),
	"Access.Namespaces":      inPlace("the policy is taken off the entry, and put on with the other namespaces"),
	"Access.Groups":          inPlace("EKS changes the groups of the entry"),

	"IdentityProvider.IssuerURL":      inPlace(providerWords),
	"IdentityProvider.ClientID":       inPlace(providerWords),
	"IdentityProvider.UsernameClaim":  inPlace(providerWords),
	"IdentityProvider.UsernamePrefix": inPlace(providerWords + "; bindings of users name them with the new prefix"),
	"IdentityProvider.GroupsClaim":    inPlace(providerWords),
	"IdentityProvider.GroupsPrefix":   inPlace(providerWords + "; bindings of groups name them with the new prefix"),
	"IdentityProvider.RequiredClaims": inPlace(providerWords),

	"NodeGroup.Name":          all(ReplacesNodeGroup, "the group of the new name is made, and the one of the old name drained and deleted"),
	"NodeGroup.InstanceTypes": all(ReplacesNodeGroup, "EKS changes the instance types of no group"),
	"NodeGroup.Capacity":      all(ReplacesNodeGroup, "EKS changes the capacity type of no group"),
	"NodeGroup.DiskGiB":       all(RollsNodes, templateWords),
	"NodeGroup.AMI":           all(ReplacesNodeGroup, "EKS changes the kind of image of no group"),
	"NodeGroup.Release":       all(RollsNodes, "EKS rolls the nodes of the group to that release; without one, to the newest when it next rolls them"),
	"NodeGroup.ImageID": {
		{When: "given or removed", Effect: ReplacesNodeGroup, Words: "EKS changes no group from an image of its own to another", applies: change.givesOrTakes},
		{When: "to another", Effect: RollsNodes, Words: templateWords},
	},
	"NodeGroup.MaxPods":                all(RollsNodes, templateWords),
	"NodeGroup.SecurityGroups":         all(RollsNodes, templateWords),
	"NodeGroup.UserData":               all(RollsNodes, templateWords),
	"NodeGroup.Zones":                  all(ReplacesNodeGroup, "EKS changes the subnets of no group"),
	"NodeGroup.Subnets":                all(ReplacesNodeGroup, "EKS changes the subnets of no group"),
	"NodeVolume.Type":                  all(RollsNodes, templateWords),
	"NodeVolume.IOPS":                  all(RollsNodes, templateWords),
	"NodeVolume.Throughput":            all(RollsNodes, templateWords),
	"NodeVolume.KMSKeyARN":             all(RollsNodes, templateWords),
	"NodeUpdate.MaxUnavailable":        inPlace("it counts when EKS next rolls the nodes"),
	"NodeUpdate.MaxUnavailablePercent": inPlace("it counts when EKS next rolls the nodes"),
	"NodeUpdate.Force":                 inPlace("it counts when EKS next rolls the nodes"),
	"NodeGroup.Labels":                 inPlace("EKS changes the labels of the nodes that run, too"),
	"NodeGroup.Taints":                 inPlace("EKS changes the taints of the nodes that run, too; NoExecute evicts pods"),
	"Size.Min":                         inPlace("EKS starts nodes when there are too few"),
	"Size.Max":                         inPlace("EKS drains and stops nodes when there are too many"),
	"Size.Desired":                     inPlace("it is the size at the start; an autoscaler owns it afterwards"),
	"Taint.Key":                        inPlace("EKS changes the taints of the nodes that run, too"),
	"Taint.Value":                      inPlace("EKS changes the taints of the nodes that run, too"),
	"Taint.Effect":                     inPlace("EKS changes the taints of the nodes that run, too; NoExecute evicts pods"),

	"ManagedAddon.Name":          inPlace("EKS installs the addon of the new name, and deletes that of the old one"),
	"ManagedAddon.Version":       inPlace("EKS updates the addon in the cluster; one without a version follows AWS's default for the Kubernetes version"),
	"ManagedAddon.Configuration": inPlace("EKS updates the addon in the cluster"),
	"ManagedAddon.Identity":      inPlace("the role is made, changed or deleted, and EKS updates the addon, whose pods start anew"),

	"AddonIdentity.RoleARN":        inPlace("EKS updates the addon, whose pods start anew with the other role"),
	"AddonIdentity.Namespace":      inPlace("the role trusts the service account there"),
	"AddonIdentity.ServiceAccount": inPlace("the role trusts the other service account"),
	"AddonIdentity.PolicyARNs":     inPlace("the role gets and loses policies"),
	"AddonIdentity.Statements":     inPlace("the policy of the role changes"),

	"Namespace.Name":        inPlace("the namespace of the new name is made, and that of the old one is deleted with everything in it"),
	"Namespace.Labels":      inPlace("the labels of the namespace change"),
	"Namespace.Annotations": inPlace("the annotations of the namespace change"),

	"Service.Name":      inPlace("the role and the ConfigMap of the new name are made, and those of the old one deleted"),
	"Service.Namespace": inPlace("the ConfigMap is made in the new namespace, and the role trusts the service account there"),
	"Service.Identity": {
		{When: "removed", Effect: InPlace, Words: "the role is deleted, and pods lose its rights", applies: change.takesAway},
		{Effect: InPlace, Words: "the role is made; pods get it when they start anew"},
	},
	"Service.Values":          inPlace(valuesWords),
	"Identity.ServiceAccount": inPlace("the role trusts another service account; pods of the old one lose its rights"),
	"Identity.Mode":           inPlace("the role trusts another issuer of credentials; pods get them when they start anew"),
	"Identity.RoleARN":        inPlace("the service account gets the other role; core's own, where there was one, is deleted; pods get the rights when they start anew"),
	"Identity.PolicyARNs":     inPlace("policies are attached to the role or detached"),
	"Identity.Statements":     inPlace("the role's own policy changes"),
	"Statement.Actions":       inPlace("the role's own policy changes"),
	"Statement.Resources":     inPlace("the role's own policy changes"),
	"Statement.Reason":        inPlace("it explains the statement; nothing in the cluster changes"),

	"GitOps.Engine": {{
		Effect: NeedsRebuild, Words: "one engine does not take over the objects of another",
		Remedy: "take the engine back, or make bootstrap anew: `tombolo destroy <cluster> --only bootstrap` with the old file, then `tombolo up` with the new one; core stays",
	}},
	"GitOps.Hub":                inPlace("the registration moves to the other hub; refused while the old hub has applications of the cluster"),
	"GitOps.URL":                inPlace(gitWords),
	"GitOps.Branch":             inPlace(gitWords),
	"GitOps.Path":               inPlace("the engine follows another directory, and deletes what is not in it"),
	"GitOps.Interval":           inPlace(gitWords),
	"GitOps.Auth":               inPlace("the engine's Secret for the repository changes"),
	"GitOps.SealedSecrets":      inPlace("the Secret with the key is made, or goes: what was sealed for a key opens as long as the key is there"),
	"SealedSecrets.Key":         inPlace("the Secret with the key changes, and the controller takes the new one up: what was sealed for the old key has to be sealed anew"),
	"SealedSecrets.Certificate": inPlace("the Secret with the key changes"),
	"GitOps.Channel":            inPlace("the Secrets with the address are made, or go; Flux and Alertmanager write to it"),
	"Channel.Type":              inPlace("Flux and Alertmanager write in the new form"),
	"Channel.Notices":           inPlace(outsideWords),
	"Channel.Address":           inPlace("the Secrets with the address change, and the next message goes to the new one"),
	"GitOps.TakeOver":           inPlace("it counts when bootstrap meets the engine for the first time; without it, verify looks at the owner's objects of Flux, too"),

	"GitOps.ExternalHub": {{
		Effect: NeedsRebuild, When: "removed", Words: "the hub that others run has to forget the cluster first, with the credentials of the file",
		Remedy: externalHubRemedy, applies: change.takesAway,
	}, {
		Effect: InPlace, Words: "the registration moves to that hub; refused while the old hub has applications of the cluster",
	}},
	"ExternalHub.Name": {{
		Effect: NeedsRebuild, Words: "the name is the hub's identity: the old hub has to forget the cluster first, with its own credentials",
		Remedy: externalHubRemedy,
	}},
	"ExternalHub.Endpoint":             inPlace("the same hub is reached at the new address; another hub needs another name"),
	"ExternalHub.CertificateAuthority": inPlace("the hub's certificate is checked with it; the registration stays"),
	"ExternalHub.Token":                inPlace("the hub is reached with it; the registration stays"),
	"ExternalHub.RoleARN":              inPlace("the cluster's role trusts the new role of the hub's Argo CD instead of the old one"),

	"ArgoCDOptions.HighAvailability": inPlace("the engine is installed by another manifest; once Git has its own files, Git decides"),
	"ArgoCDOptions.Accounts":         inPlace("the policy of the hub's role changes"),
	"ArgoCDOptions.OIDC": {
		{When: "removed", Effect: InPlace, Words: "Argo CD takes no more tokens of the provider; its account admin stays", applies: change.takesAway},
		{Effect: InPlace, Words: "Argo CD's settings change, and its server reads them"},
	},
	"ArgoCDOIDC.URL":             inPlace(argocdWords),
	"ArgoCDOIDC.IssuerURL":       inPlace(argocdWords),
	"ArgoCDOIDC.ClientID":        inPlace(argocdWords),
	"ArgoCDOIDC.Secret":          inPlace(argocdWords),
	"ArgoCDOIDC.Scopes":          inPlace(argocdWords),
	"ArgoCDOIDC.AdminGroups":     inPlace("Argo CD's policy changes: who is in a group that is gone has lost the rights"),
	"ArgoCDOIDC.ReaderGroups":    inPlace("Argo CD's policy changes: who is in a group that is gone has lost the rights"),
	"ArgoCDOptions.Credentials":  inPlace("the registration gets other credentials"),
	"ArgoCDOptions.Rotation":     inPlace("the token is made anew, and the old one deleted"),
	"ArgoCDOptions.Applications": inPlace("it counts when the cluster is destroyed"),

	"Distribution.Version": inPlace("the engine is installed in the new release; once Git has its own files, Git decides"),
	"Distribution.URL":     inPlace("the engine is installed from there; once Git has its own files, Git decides"),
	"Distribution.SHA256":  inPlace("it is checked before the install; nothing in the cluster changes by itself"),
	"Distribution.Path":    inPlace("the engine is installed from there; once Git has its own files, Git decides"),
	"Distribution.Values":  inPlace("the engine is installed with the values; once Git has its own files, Git decides"),

	"Auth.Type":        inPlace("the engine's Secret for the repository changes"),
	"Auth.Username":    inPlace("the engine's Secret for the repository changes"),
	"Auth.Password":    inPlace("the engine's Secret for the repository changes"),
	"Auth.PrivateKey":  inPlace("the engine's Secret for the repository changes"),
	"Auth.KnownHosts":  inPlace("the engine's Secret for the repository changes"),
	"SecretRef.Config": inPlace("the secret is read from there"),
	"SecretRef.Env":    inPlace("the secret is read from there"),
	"SecretRef.File":   inPlace("the secret is read from there"),
}

// change is what a case is chosen by: both clusters, and what an item of a list becomes.
type change struct {
	live, file    *Cluster
	made          *Live
	before, after any
}

// takesAway says that what was there is gone.
func (c change) takesAway() bool { return c.after == nil }

// goesByProxy says that nodes have a proxy, before or after.
func (c change) goesByProxy() bool {
	return c.file.Egress.Proxy.URL != "" || c.live.Egress.Proxy.URL != ""
}

// ofAutoMode says that EKS makes the nodes.
func (c change) ofAutoMode() bool { return c.live.Kubernetes.Auto() }

// givesOrTakes says that a text is there on one side only.
func (c change) givesOrTakes() bool { return (c.before == "") != (c.after == "") }

// leavesZones says that a zone of the control plane is gone.
func (c change) leavesZones() bool {
	return slices.ContainsFunc(c.made.ControlPlaneZones, func(zone string) bool { return !slices.Contains(c.file.Network.Zones, zone) })
}

// lacksRoom says that the block has no room for the subnets of another zone.
func (c change) lacksRoom() bool {
	_, err := SubnetsBeside(c.live.Network.CIDR, c.file.Network.Zones, c.made.Subnets)
	return err != nil
}

// encrypts says that the change turns encryption on.
func (c change) encrypts() bool {
	return !c.live.encrypts() && c.file.encrypts()
}

// encrypts says that the file turns the encryption of Secrets on, as it does by default.
func (c *Cluster) encrypts() bool {
	enabled := c.Kubernetes.SecretsEncryption.Enabled
	return enabled == nil || *enabled
}

// minors is how many minor versions of Kubernetes the change goes on, negative for back.
func (c change) minors() int {
	return minorOf(c.file.Kubernetes.Version) - minorOf(c.live.Kubernetes.Version)
}

// nodeMinors is how many minor versions the node groups go on, negative for back.
func (c change) nodeMinors() int {
	return minorOf(c.file.Kubernetes.Nodes()) - minorOf(c.live.Kubernetes.Nodes())
}

// holdsNodes says that the file keeps the node groups at the version that they have.
func (c change) holdsNodes() bool { return c.nodeMinors() == 0 }

// CompareMinors compares two versions of Kubernetes such as 1.35: it is negative when the
// first is older, 0 when they are the same, and positive when it is newer.
func CompareMinors(a, b string) int { return minorOf(a) - minorOf(b) }

// MovedMinors is the version of Kubernetes some minors after another, such as 1.35 one after
// 1.34; before it when minors is negative.
func MovedMinors(version string, minors int) string {
	major, _, _ := strings.Cut(version, ".")
	return fmt.Sprintf("%s.%d", major, minorOf(version)+minors)
}

// minorOf a version that EKS has, such as 35 of 1.35.
func minorOf(version string) int {
	_, minor, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(minor)
	if err != nil {
		return 0
	}
	return n
}

// externalHubRemedy is the way from a hub that others run to another one.
const externalHubRemedy = "take the old hub back, and move in two steps: `tombolo destroy <cluster> --only bootstrap` with the old file, then `tombolo up` with the new one; core stays"
