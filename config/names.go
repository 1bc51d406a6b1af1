package config

import (
	"tombolo/config/access"
	"tombolo/config/cloud"
	"tombolo/config/egress"
	"tombolo/config/field"
	"tombolo/config/gitops"
	"tombolo/config/identity"
	"tombolo/config/kubernetes"
	"tombolo/config/network"
	"tombolo/config/nodes"
	"tombolo/config/policy"
	"tombolo/config/secret"
	"tombolo/config/services"
	"tombolo/config/stackfile"
	"tombolo/config/values"
	"tombolo/config/windows"
)

// This file has the names of the subjects' packages that other packages know as config's: aliases
// have the comments of what they name.

// Provider and the types below are those of the subjects: see their own comments.
type (
	Provider = field.Provider
	Effect   = field.Effect
	Case     = field.Case

	AssumeRole = cloud.AssumeRole
	Cloud      = cloud.Cloud
	GivenRoles = cloud.GivenRoles
	Roles      = cloud.Roles

	ExistingNetwork = network.ExistingNetwork
	FlowLogs        = network.FlowLogs
	FlowTraffic     = network.FlowTraffic
	NAT             = network.NAT
	Network         = network.Network
	Outbound        = network.Outbound
	SubnetPlan      = network.SubnetPlan

	Egress       = egress.Egress
	ImageSources = egress.ImageSources
	Proxy        = egress.Proxy
	PullSecret   = egress.PullSecret

	SecretRef = secret.SecretRef

	AddonIdentity     = kubernetes.AddonIdentity
	Compute           = kubernetes.Compute
	Endpoint          = kubernetes.Endpoint
	ExistingCluster   = kubernetes.ExistingCluster
	ImageChannel      = kubernetes.ImageChannel
	Kubernetes        = kubernetes.Kubernetes
	ManagedAddon      = kubernetes.ManagedAddon
	SecretsEncryption = kubernetes.SecretsEncryption
	Support           = kubernetes.Support
	Tier              = kubernetes.Tier
	UpgradeChannel    = kubernetes.UpgradeChannel
	Upgrades          = kubernetes.Upgrades

	AMI         = nodes.AMI
	NodeGroup   = nodes.NodeGroup
	NodeUpdate  = nodes.NodeUpdate
	NodeVolume  = nodes.NodeVolume
	OS          = nodes.OS
	Size        = nodes.Size
	Taint       = nodes.Taint
	TaintEffect = nodes.TaintEffect
	VolumeType  = nodes.VolumeType

	Access           = access.Access
	AccessPolicy     = access.AccessPolicy
	IdentityProvider = access.IdentityProvider
	Principal        = access.Principal

	Identity     = identity.Identity
	IdentityMode = identity.IdentityMode
	RoleGrant    = identity.RoleGrant
	Statement    = identity.Statement

	Namespace = services.Namespace
	Service   = services.Service

	Reference = values.Reference
	Source    = values.Source
	Value     = values.Value

	ArgoCDOIDC    = gitops.ArgoCDOIDC
	ArgoCDOptions = gitops.ArgoCDOptions
	Auth          = gitops.Auth
	AuthType      = gitops.AuthType
	Channel       = gitops.Channel
	ChannelType   = gitops.ChannelType
	Credentials   = gitops.Credentials
	Distribution  = gitops.Distribution
	Engine        = gitops.Engine
	ExternalHub   = gitops.ExternalHub
	GitOps        = gitops.GitOps
	Notices       = gitops.Notices
	SealedSecrets = gitops.SealedSecrets
	Webhook       = gitops.Webhook
	WebhookType   = gitops.WebhookType

	ChangeWindow = windows.ChangeWindow
	Day          = windows.Day
	DriftPolicy  = windows.DriftPolicy
	Remediation  = windows.Remediation

	Decision    = policy.Decision
	Policy      = policy.Policy
	PolicyMatch = policy.PolicyMatch
	PolicyRule  = policy.PolicyRule

	OwnStack   = stackfile.OwnStack
	StackOrder = stackfile.Order
)

// The words of the subjects: see their own comments.
const (
	AWS, Azure, InPlace, RollsNodes                                          = field.AWS, field.Azure, field.InPlace, field.RollsNodes
	ReplacesNodeGroup, NeedsRebuild, Impossible                              = field.ReplacesNodeGroup, field.NeedsRebuild, field.Impossible
	NATNone, NATSingle, NATPerZone, OutboundNATGateway                       = network.NATNone, network.NATSingle, network.NATPerZone, network.OutboundNATGateway
	OutboundLoadBalancer, OutboundRoutes, FlowLogsToCloudWatch, FlowLogsToS3 = network.OutboundLoadBalancer, network.OutboundRoutes, network.FlowLogsToCloudWatch, network.FlowLogsToS3
	RejectedTraffic                                                          = network.RejectedTraffic
	SecretDirs                                                               = secret.SecretDirs
	NodeGroupCompute, AutoCompute, StandardSupport, ExtendedSupport          = kubernetes.NodeGroupCompute, kubernetes.AutoCompute, kubernetes.StandardSupport, kubernetes.ExtendedSupport
	FreeTier, StandardTier, PremiumTier, NoUpgrades                          = kubernetes.FreeTier, kubernetes.StandardTier, kubernetes.PremiumTier, kubernetes.NoUpgrades
	PatchUpgrades, StableUpgrades, RapidUpgrades, NoImages                   = kubernetes.PatchUpgrades, kubernetes.StableUpgrades, kubernetes.RapidUpgrades, kubernetes.NoImages
	UnmanagedImages, SecurityPatches, NodeImageChannel                       = kubernetes.UnmanagedImages, kubernetes.SecurityPatches, kubernetes.NodeImageChannel
	AL2023, AL2023NVIDIA, Bottlerocket, BottlerocketNVIDIA                   = nodes.AL2023, nodes.AL2023NVIDIA, nodes.Bottlerocket, nodes.BottlerocketNVIDIA
	AzureLinux, Ubuntu, GP3, IO2                                             = nodes.AzureLinux, nodes.Ubuntu, nodes.GP3, nodes.IO2
	OnDemand, Spot, SystemPool, UserPool                                     = nodes.OnDemand, nodes.Spot, nodes.SystemPool, nodes.UserPool
	NoSchedule, PreferNoSchedule, NoExecute                                  = nodes.NoSchedule, nodes.PreferNoSchedule, nodes.NoExecute
	AccessView, AccessEdit, AccessAdmin, AccessClusterAdmin                  = access.AccessView, access.AccessEdit, access.AccessAdmin, access.AccessClusterAdmin
	IRSA, PodIdentity, WorkloadIdentity                                      = identity.IRSA, identity.PodIdentity, identity.WorkloadIdentity
	Flux, ArgoCD, AuthBasic, AuthSSH, AuthGitHubApp, AuthWorkloadIdentity    = gitops.Flux, gitops.ArgoCD, gitops.AuthBasic, gitops.AuthSSH, gitops.AuthGitHubApp, gitops.AuthWorkloadIdentity
	CredentialsAWS, CredentialsServiceAccount, LeavingKeep, SlackChannel     = gitops.CredentialsAWS, gitops.CredentialsServiceAccount, gitops.LeavingKeep, gitops.SlackChannel
	TeamsChannel, GenericChannel, NoNotices, FailureNotices                  = gitops.TeamsChannel, gitops.GenericChannel, gitops.NoNotices, gitops.FailureNotices
	RunNotices, PrometheusAddon, SealedSecretsAddon, SpokeRoleEnd            = gitops.RunNotices, gitops.PrometheusAddon, gitops.SealedSecretsAddon, gitops.SpokeRoleEnd
	GitHubWebhook, GitLabWebhook, AzureDevOpsWebhook                         = gitops.GitHubWebhook, gitops.GitLabWebhook, gitops.AzureDevOpsWebhook
	Monday, Tuesday, Wednesday, Thursday                                     = windows.Monday, windows.Tuesday, windows.Wednesday, windows.Thursday
	Friday, Saturday, Sunday, RemediateNever                                 = windows.Friday, windows.Saturday, windows.Sunday, windows.RemediateNever
	RemediateInWindow, RemediateAlways                                       = windows.RemediateInWindow, windows.RemediateAlways
	AnyDanger, SecondApproval, Deny, PolicyFile                              = policy.AnyDanger, policy.SecondApproval, policy.Deny, policy.File
	BeforeCore, AfterCore, AfterBootstrap, StacksFile                        = stackfile.BeforeCore, stackfile.AfterCore, stackfile.AfterBootstrap, stackfile.File
)

// LoadPolicy reads a policy file as strictly as cluster files are read: see policy.Load.
func LoadPolicy(file string) (*Policy, error) { return policy.Load(file) }

// ParsePolicy is LoadPolicy for content that was read from elsewhere; problems name it by file.
func ParsePolicy(file string, content []byte) (*Policy, error) { return policy.Parse(file, content) }

// NamedFile is the path of a file that a cluster file names: see secret.NamedFile.
func NamedFile(clusterFile, name string) (string, error) { return secret.NamedFile(clusterFile, name) }

// SupportNotice is the warning of a version of Kubernetes, major.minor, whose standard
// support is over or ends soon; "" for any other. Support is that of the live cluster.
func SupportNotice(minor string, support Support) string {
	return kubernetes.NoticeOn(minor, support, today())
}

// CompareMinors compares two versions of Kubernetes such as 1.35: it is negative when the
// first is older, 0 when they are the same, and positive when it is newer.
func CompareMinors(a, b string) int { return kubernetes.Minor(a) - kubernetes.Minor(b) }

// MovedMinors is the version of Kubernetes some minors after another, such as 1.35 one after
// 1.34; before it when minors is negative.
func MovedMinors(version string, minors int) string { return kubernetes.MovedMinors(version, minors) }

// ManagedAddonRoleName is the name of the IAM role that core makes for a managed addon.
func ManagedAddonRoleName(cluster, addon string) string {
	return kubernetes.ManagedAddonRoleName(cluster, addon)
}

// GitIdentityName is the name in Azure of the identity by which a cluster's engine reads the repository.
func GitIdentityName(cluster string) string { return cluster + "-" + identity.GitReader }

// ArgoCDRoleName is the name of the IAM role of a hub's Argo CD.
func ArgoCDRoleName(hub string) string { return gitops.ArgoCDRoleName(hub) }

// SpokeRoleName is the name of the IAM role by which the hub reaches a spoke.
func SpokeRoleName(spoke string) string { return gitops.SpokeRoleName(spoke) }

// ServiceRoleName is the name of the IAM role of a service with an identity.
func ServiceRoleName(cluster, service string) string { return services.RoleName(cluster, service) }

// ServiceCIDR is the block for Kubernetes Services where the network has a block: see
// network.ServiceCIDR.
func ServiceCIDR(vpc string) string { return network.ServiceCIDR(vpc) }

// NodeSubnetCIDR is the block of the subnet for nodes in a network that core makes in Azure.
func NodeSubnetCIDR(block string) (string, error) { return network.NodeSubnetCIDR(block) }

// SubnetsBeside lays out the subnets of zones in a block where some are already: see
// network.SubnetsBeside.
func SubnetsBeside(cidr string, zones []string, made []SubnetPlan) ([]SubnetPlan, error) {
	return network.SubnetsBeside(cidr, zones, made)
}

// LoadStacks reads the own stacks of the project in a directory: see stackfile.Load.
func LoadStacks(dir string) ([]OwnStack, error) { return stackfile.Load(dir) }
