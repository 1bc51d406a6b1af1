package config

import (
	"regexp"
	"slices"

	"tombolo/config/awsfacts"
	"tombolo/config/strict"
)

var (
	regionZone = regexp.MustCompile(`^([a-z]{2}(-[a-z]+)+-[0-9])([a-z])$`)
	dnsLabel   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	subdomain  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
	instance   = regexp.MustCompile(`^([a-z]+[0-9]+[a-z0-9-]*|u-[a-z0-9]+)\.(nano|micro|small|medium|large|[0-9]*xlarge|metal(-[0-9]+xl)?)$`)
	principal  = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::([0-9]{12}):(role|user)/[A-Za-z0-9+=,.@_/-]+$`)
	policy     = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::(aws|[0-9]{12}):policy/[A-Za-z0-9+=,.@_/-]+$`)
	accountID  = regexp.MustCompile(`^[0-9]{12}$`)
	kmsKey     = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):kms:([a-z0-9-]+):([0-9]{12}):key/[A-Za-z0-9-]+$`)
	action     = regexp.MustCompile(`^[a-z0-9-]+:[A-Za-z0-9*?]+$|^\*$|^\*:\*$`)
	resource   = regexp.MustCompile(`^arn:[^:\s]+:[^:\s]+:[^:\s]*:[^:\s]*:\S+$|^\*$`)
	semver     = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	timeOfDay  = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)
	endOfDay   = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$`)
	timeZone   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+_-]*(/[A-Za-z0-9+_-]+)*$`)
	valueKey   = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)
)

// maxLabel is the length of a DNS label, by RFC 1123.
const maxLabel = 63

// givenRole is a role that others own.
func givenRole(example string) strict.Rule {
	return strict.Rule{
		What: "the ARN of an IAM role", Pattern: roleOnly, Advice: principalAdvice, Example: "arn:aws:iam::111122223333:role/" + example,
	}
}

func label(example string) strict.Rule {
	return strict.Rule{What: "a DNS label", Example: example, Pattern: dnsLabel, MaxLength: maxLabel, Advice: asLabel}
}

// rules of the fields, by type and field name.
var rules = map[string]strict.Rule{
	"Cluster.Version":     {What: "a supported version of the format", Example: "1", Numbers: []int{Version}},
	"Cluster.Name":        label("demo"),
	"Cluster.Environment": label("dev"),
	"Cluster.Wave":        {Least: new(0), Most: new(99), Default: 0},
	"Cluster.Protect":     {Default: false},

	"Cluster.ChangeWindows": {Noun: "window"},
	"ChangeWindow.Days":     {What: "a day", Noun: "day", MinItems: 1, Allowed: texts(Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday)},
	"ChangeWindow.From":     {What: "a time of the day", Example: `"22:00"`, Pattern: timeOfDay},
	"ChangeWindow.To":       {What: "a time of the day", Example: `"04:00"`, Pattern: endOfDay},
	"ChangeWindow.TimeZone": {What: "a time zone", Example: "Europe/Berlin", Pattern: timeZone},
	"DriftPolicy.Remediate": {
		What: "a policy", Allowed: texts(RemediateNever, RemediateInWindow, RemediateAlways), Default: RemediateNever,
	},

	"Policy.Version":         {What: "a supported version of the policy format", Example: "1", Numbers: []int{1}},
	"Policy.Rules":           {Noun: "rule", MinItems: 1},
	"PolicyRule.Name":        label("network"),
	"PolicyRule.Decision":    {What: "a decision", Allowed: texts(SecondApproval, Deny)},
	"PolicyMatch.Dangers":    {What: "a danger", Noun: "danger", Allowed: []string{AnyDanger, "cluster", "network", "node-group", "data", "registration", "infra-config"}},
	"PolicyMatch.Operations": {What: "an operation", Noun: "operation", Allowed: []string{"create", "update", "replace", "delete", "import"}},

	"Cloud.Provider": {What: "a supported cloud", Allowed: texts(providers()...)},
	"Cloud.Region":   {What: "a supported AWS region", Example: "eu-central-1", Allowed: awsfacts.Regions()},
	"Cloud.Account": {
		What: "an AWS account", Example: `"111122223333"`,
		Pattern: accountID, Advice: accountAdvice,
	},
	"Cloud.Profile": {
		What: "an AWS profile", Example: "platform-dev",
		Pattern: regexp.MustCompile(`^\S(.*\S)?$`),
	},

	"Value.FromStack": {
		What: "the name of a stack", Example: "data/prod",
		Pattern: regexp.MustCompile(`^([A-Za-z0-9_.-]+/){0,2}[A-Za-z0-9_.-]+$`),
	},
	"Value.Output": {
		What: "an output of a stack, or the path of a value in one", Example: "db.host",
		Pattern: regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+|\[[0-9]+\]|\["[^"\\]+"\])*$`),
	},
	"Value.FromSSM": {
		// Letters, digits and ._- in at most 15 levels, the whole of at most 1011
		// characters with the ARN before it:
		// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
		What: "the name of a parameter", Example: "/shop/zone",
		Pattern: regexp.MustCompile(`^(/[A-Za-z0-9_.-]+){1,15}$|^[A-Za-z0-9_.-]+$`), MaxLength: 1011,
	},
	"AssumeRole.RoleARN": {
		What: "the ARN of an IAM role", Pattern: roleOnly, Advice: principalAdvice, Example: "arn:aws:iam::111122223333:role/tombolo",
	},
	"AssumeRole.ExternalID": {
		What: "an external id", Example: "acme-platform", Pattern: regexp.MustCompile(`^[\w+=,.@:/-]{2,}$`), MaxLength: 1224,
	},
	"AssumeRole.SessionName": {
		What: "the name of a session", Example: "tombolo-demo", Pattern: regexp.MustCompile(`^[\w+=,.@-]{2,}$`), MaxLength: maxSessionName,
	},
	"Roles.PermissionsBoundary": boundary(),
	"GivenRoles.Cluster":        givenRole("eks/control-plane"),
	"GivenRoles.Nodes":          givenRole("eks/nodes"),
	"Roles.Path": {
		What: "an IAM path", Example: "/tombolo/", Pattern: rolePath, MaxLength: maxRolePath, Advice: pathAdvice, Default: defaultRolePath,
	},

	"Network.CIDR": {
		What: "an IPv4 block", Example: "10.0.0.0/16",
		Pattern: regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+$`), Advice: blockAdvice,
	},
	"Network.Zones": {
		What: "an availability zone", Noun: "zone", Example: "eu-central-1a",
		Pattern: regionZone, MinItems: 2,
	},
	"Network.NAT": {What: "a kind of NAT", Allowed: texts(NATNone, NATSingle, NATPerZone), Default: NATSingle},
	"Network.Endpoints": {
		What: "the short name of an AWS service", Example: "s3 or ecr.api",
		Pattern: regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*$`), Default: defaultEndpoints(),
	},
	"FlowLogs.To": {What: "a target of flow logs", Allowed: texts(FlowLogsToCloudWatch, FlowLogsToS3)},
	"FlowLogs.BucketARN": {
		What: "the ARN of a bucket", Example: "arn:aws:s3:::acme-logs/vpc", Pattern: flowLogBucket,
	},
	"FlowLogs.Traffic":       {What: "a kind of traffic", Allowed: texts(AllTraffic, AcceptedTraffic, RejectedTraffic), Default: AllTraffic},
	"FlowLogs.RetentionDays": {What: "a retention that CloudWatch offers", Numbers: awsfacts.RetentionDays, Default: defaultLogRetentionDays},
	"FlowLogs.KMSKeyARN": {
		What: "the ARN of a KMS key", Pattern: kmsKey, Advice: keyAdvice,
		Example: "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
	},
	"ExistingNetwork.VPC": {
		What: "a VPC id", Example: "vpc-0123456789abcdef0",
		Pattern: regexp.MustCompile(`^vpc-[0-9a-f]{8}([0-9a-f]{9})?$`),
	},
	"ExistingNetwork.Account": {
		What: "an AWS account", Example: `"111122223333"`,
		Pattern: accountID, Advice: accountAdvice,
	},
	"ExistingNetwork.PrivateSubnets": subnetIDs(2),
	"ExistingNetwork.PublicSubnets":  subnetIDs(0),
	// An empty list would leave the control plane without a network.
	"ExistingNetwork.ControlPlaneSubnets": subnetIDs(2),

	"Proxy.URL": {
		What: "the URL of an HTTP proxy", Example: "http://proxy.corp.example:3128",
		Pattern: regexp.MustCompile(`^https?://\S+$`), Secret: true,
	},
	"Proxy.NoProxy": {
		What: "a host, a domain, an address or a block", Noun: "host", Example: ".corp.example",
		Pattern: regexp.MustCompile(`^\.?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?$|^[0-9a-fA-F.:]+(/[0-9]+)?$`), Advice: noProxyAdvice,
	},
	"Egress.CertificateAuthority": {Secret: true},
	"PullSecret.Username":         {What: "a user name", Example: "robot", Pattern: regexp.MustCompile(`^[^\s:]+$`), Secret: true},
	"ExistingCluster.Name": {
		What: "the name of an EKS cluster", Example: "platform",
		Pattern: regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]*$`), MaxLength: 100,
	},
	"ExistingCluster.CreateOIDCProvider": {Default: false},

	"Kubernetes.Version": {
		What:    "a supported version of Kubernetes on EKS",
		Example: `"1.35"`, Allowed: awsfacts.Calendar.Minors(), Advice: versionsAdvice("EKS", awsfacts.Calendar.Minors()),
	},
	"Kubernetes.NodeVersion": {
		What:    "a supported version of Kubernetes on EKS",
		Example: `"1.34"`, Allowed: awsfacts.Calendar.Minors(), Advice: versionsAdvice("EKS", awsfacts.Calendar.Minors()),
	},
	"Kubernetes.ServiceCIDR": {
		What: "an IPv4 block", Example: "172.20.0.0/16",
		Pattern: regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+$`), Advice: blockAdvice,
	},
	"Kubernetes.Logs": {
		What: "a log type of the EKS control plane", Noun: "log type",
		Allowed: awsfacts.LogTypes, Default: defaultLogs(),
	},
	"Kubernetes.LogRetentionDays": {
		What:    "a retention that CloudWatch offers",
		Numbers: awsfacts.RetentionDays, Default: defaultLogRetentionDays,
	},
	"Kubernetes.LogKeyARN": {
		What: "the ARN of a KMS key", Pattern: kmsKey, Advice: keyAdvice,
		Example: "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
	},
	"Kubernetes.Support":    {What: "a kind of support", Allowed: texts(StandardSupport, ExtendedSupport)},
	"Kubernetes.Compute":    {What: "a way to nodes", Allowed: texts(NodeGroupCompute, AutoCompute), Default: NodeGroupCompute},
	"Kubernetes.NodeGroups": {Noun: "node group", MinItems: 1},
	"Kubernetes.Addons":     {Default: defaultAddonObjects()},

	"Endpoint.Private": {Default: true},
	"Endpoint.PrivateCIDRs": {
		What: "an IPv4 block", Example: "10.8.0.0/16",
		Pattern: regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+$`), Advice: blockAdvice,
	},
	"Endpoint.PublicAddressesInside": {Default: false},
	"Endpoint.SecurityGroups": {
		What: "the id of a security group", Example: "sg-0123456789abcdef0",
		Pattern: regexp.MustCompile(`^sg-[0-9a-f]{8}([0-9a-f]{9})?$`),
	},
	"Endpoint.Public":         {Default: false},
	"Endpoint.OpenToTheWorld": {Default: false},
	"Endpoint.AllowedCIDRs": {
		What: "an IP block", Example: "203.0.113.0/24",
		Pattern: regexp.MustCompile(`^[0-9a-fA-F.:]+/[0-9]+$`), Advice: blockAdvice,
	},
	"SecretsEncryption.Enabled": {Default: true},
	"SecretsEncryption.KeyARN": {
		What: "the ARN of a KMS key", Pattern: kmsKey, Advice: keyAdvice,
		Example: "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
	},
	"Principal.Name": label("platform-team"),
	"Principal.PrincipalARN": {
		What: "the ARN of an IAM role or user", Pattern: principal, Advice: principalAdvice,
		Example: "arn:aws:iam::111122223333:role/platform-admin",
	},
	"Access.Name": label("developers"),
	"Access.PrincipalARN": {
		What: "the ARN of an IAM role or user", Pattern: principal, Advice: principalAdvice,
		Example: "arn:aws:iam::111122223333:role/developer",
	},
	"Access.Policy": {What: "an access policy", Allowed: texts(accessPolicies()...)},
	"Access.Namespaces": {
		What: "the name of a namespace", Noun: "namespace", Example: "team-a", Pattern: namespacePattern, MaxLength: maxLabel,
	},
	"Access.Groups": {
		What: "the name of a Kubernetes group", Noun: "group", Example: "team-a", Pattern: regexp.MustCompile(`^\S+$`), Advice: groupAdvice,
	},

	"IdentityProvider.IssuerURL": {
		What: "the https URL of an issuer", Example: "https://auth.example.com/application/o/kubernetes/",
		Pattern: regexp.MustCompile(`^https://\S+$`), Secret: true,
	},
	"IdentityProvider.ClientID": {
		What: "the id of a client", Example: "kubernetes", Pattern: regexp.MustCompile(`^\S+$`),
	},
	"IdentityProvider.UsernameClaim": {
		What: "the name of a claim", Example: "preferred_username", Pattern: regexp.MustCompile(`^\S+$`), Default: defaultUsernameClaim,
	},
	"IdentityProvider.UsernamePrefix": {
		What: "a prefix that ends with a colon", Example: "oidc:", Pattern: claimPrefix, Advice: claimPrefixAdvice, Default: defaultClaimPrefix,
	},
	"IdentityProvider.GroupsClaim": {
		What: "the name of a claim", Example: "groups", Pattern: regexp.MustCompile(`^\S+$`), Default: defaultGroupsClaim,
	},
	"IdentityProvider.GroupsPrefix": {
		What: "a prefix that ends with a colon", Example: "oidc:", Pattern: claimPrefix, Advice: claimPrefixAdvice, Default: defaultClaimPrefix,
	},

	"NodeGroup.Name": label("system"),
	"NodeGroup.InstanceTypes": {
		What: "an EC2 instance type", Noun: "instance type", Example: "m7i.large",
		Pattern: instance, MinItems: 1,
	},
	"NodeGroup.Capacity": {What: "a capacity type", Allowed: texts(OnDemand, Spot), Default: OnDemand},
	"NodeGroup.AMI":      {What: "a kind of image", Allowed: texts(AL2023, Bottlerocket, AL2023NVIDIA, BottlerocketNVIDIA), Default: AL2023},
	"NodeGroup.Release": {
		What: "the release of an image of EKS", Example: "1.35.3-20260715", Pattern: regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+-[0-9a-f]{8}$`),
	},
	"NodeGroup.ImageID": {
		What: "the id of an image", Example: "ami-0123456789abcdef0", Pattern: regexp.MustCompile(`^ami-[0-9a-f]{8}([0-9a-f]{9})?$`),
	},
	"NodeGroup.MaxPods":     {Least: new(1), Most: new(maxPods)},
	"NodeGroup.DiskGiB":     {Least: new(20), Most: new(16384), Default: defaultDiskGiB},
	"NodeVolume.Type":       {What: "a kind of volume", Allowed: texts(GP3, IO1, IO2), Default: GP3},
	"NodeVolume.IOPS":       {Least: new(100), Most: new(256000)},
	"NodeVolume.Throughput": {Least: new(125), Most: new(1000)},
	"NodeVolume.KMSKeyARN": {
		What: "the ARN of a KMS key", Pattern: kmsKey, Advice: keyAdvice,
		Example: "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
	},
	"NodeGroup.SecurityGroups": {
		What: "the id of a security group", Noun: "security group", Example: "sg-0123456789abcdef0",
		Pattern: regexp.MustCompile(`^sg-[0-9a-f]{8}([0-9a-f]{9})?$`),
	},
	"NodeGroup.Zones":                  {What: "an availability zone", Noun: "zone", Example: "eu-central-1a", Pattern: regionZone},
	"NodeGroup.Subnets":                subnetIDs(0),
	"NodeUpdate.MaxUnavailable":        {Least: new(1), Most: new(100)},
	"NodeUpdate.MaxUnavailablePercent": {Least: new(1), Most: new(100)},
	"NodeUpdate.Force":                 {Default: false},
	"Size.Min":                         {Least: new(0), Default: defaultMinSize},
	"Size.Max":                         {Least: new(1)},
	"Size.Desired":                     {Least: new(0)},
	"Taint.Key":                        {Example: "dedicated"},
	"Taint.Effect":                     {What: "a taint effect", Allowed: texts(NoSchedule, PreferNoSchedule, NoExecute)},

	"ManagedAddon.Name": {
		What: "the name of an EKS addon", Example: "vpc-cni",
		Pattern: regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]*$`), MaxLength: 100,
	},
	"ManagedAddon.Version": {
		What: "the version of an EKS addon", Example: "v1.20.1-eksbuild.1",
		Pattern: regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+-eksbuild\.[0-9]+$`),
	},
	"AddonIdentity.RoleARN": {
		What: "the ARN of an IAM role", Pattern: roleOnly,
		Example: "arn:aws:iam::111122223333:role/ebs-csi",
	},
	"AddonIdentity.Namespace":      label("kube-system"),
	"AddonIdentity.ServiceAccount": {What: "the name of a service account", Example: "ebs-csi-controller-sa", Pattern: subdomain, MaxLength: 253},
	"AddonIdentity.PolicyARNs": {
		What: "the ARN of an IAM policy", Noun: "policy", Pattern: policy,
		Example: "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy",
	},
	"Namespace.Name":    label("monitoring"),
	"Service.Name":      label("external-dns"),
	"Service.Namespace": label("external-dns"),

	"Identity.ServiceAccount": {
		What: "the name of a service account", Example: "external-dns",
		Pattern: subdomain, MaxLength: 253, Advice: asLabel,
	},
	"Identity.Mode": {What: "an identity mode", Allowed: texts(IRSA, PodIdentity), Default: IRSA},
	"Identity.RoleARN": {
		What: "the ARN of an IAM role", Pattern: roleOnly,
		Example: "arn:aws:iam::111122223333:role/orders",
	},
	"Identity.PolicyARNs": {
		What: "the ARN of an IAM policy", Pattern: policy,
		Example: "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess",
	},
	"Statement.Actions": {
		What: "an IAM action", Noun: "action", Example: "s3:GetObject",
		Pattern: action, MinItems: 1,
	},
	"Statement.Resources": {
		What: "an ARN", Noun: "resource", Example: "arn:aws:s3:::my-bucket/*",
		Pattern: resource, MinItems: 1,
	},

	"GitOps.Engine": {What: "a supported GitOps engine", Allowed: texts(Flux, ArgoCD)},
	"GitOps.Hub":    label("mgmt"),
	"GitOps.URL": {
		What: "a Git URL", Example: "https://git.example.com/platform.git",
		Pattern: regexp.MustCompile(`^(https?|ssh)://\S+$`), Advice: urlAdvice, Secret: true,
	},
	"GitOps.Branch":                  {Default: defaultBranch},
	"GitOps.Path":                    {Example: "clusters/dev"},
	"GitOps.Interval":                {Default: defaultInterval},
	"GitOps.TakeOver":                {Default: false},
	"ArgoCDOptions.HighAvailability": {Default: false},
	"ArgoCDOptions.Accounts": {
		What: "an AWS account", Noun: "account", Example: `"111122223333"`,
		Pattern: regexp.MustCompile(`^[0-9]{12}$`), Advice: accountAdvice,
	},
	"ArgoCDOIDC.URL": {
		What: "the https URL of a page", Example: "https://argocd.example.com", Pattern: regexp.MustCompile(`^https://\S+$`), Secret: true,
	},
	"ArgoCDOIDC.IssuerURL": {
		What: "the https URL of an issuer", Example: "https://auth.example.com/application/o/argocd/",
		Pattern: regexp.MustCompile(`^https://\S+$`), Secret: true,
	},
	"ArgoCDOIDC.ClientID":        {What: "the id of a client", Example: "argocd", Pattern: notAReference},
	"ArgoCDOIDC.Secret":          {What: "the name of a Secret", Example: "argocd-oidc", Pattern: subdomain, MaxLength: 253},
	"ArgoCDOIDC.Scopes":          {What: "a scope", Noun: "scope", Example: "groups", Pattern: regexp.MustCompile(`^[!#%-\[\]-~][!#-\[\]-~]*$`)},
	"ArgoCDOIDC.AdminGroups":     argocdGroups("platform"),
	"ArgoCDOIDC.ReaderGroups":    argocdGroups("auditors"),
	"ArgoCDOptions.Credentials":  {What: "a kind of credentials", Allowed: texts(CredentialsAWS, CredentialsServiceAccount)},
	"ArgoCDOptions.Rotation":     {Least: new(1), Most: new(999999)},
	"ArgoCDOptions.Applications": {What: "an option for applications", Allowed: texts(LeavingRemove, LeavingKeep)},
	"ExternalHub.Name":           label("company-hub"),
	"ExternalHub.Endpoint": {
		What: "the address of a Kubernetes API", Example: "https://hub.example.com:6443",
		Pattern: regexp.MustCompile(`^https://\S+$`), Secret: true,
	},
	"ExternalHub.CertificateAuthority": {Secret: true},
	"ExternalHub.RoleARN": {
		What: "the ARN of an IAM role", Example: "arn:aws:iam::111122223333:role/company-hub-argocd",
		Pattern: regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+$`),
	},
	"Distribution.Version": {
		What: "a version", Example: "v2.9.3", Pattern: semver,
		Advice: versionAdvice,
	},
	"Distribution.URL": {
		What: "the URL of a manifest", Example: "https://example.com/flux/v2.9.3/install.yaml",
		Pattern: regexp.MustCompile(`^https?://\S+$`), Secret: true,
	},
	"Distribution.SHA256": {
		What:    "a SHA-256 sum in 64 lower-case hexadecimal digits",
		Pattern: regexp.MustCompile(`^[0-9a-f]{64}$`), Advice: sumAdvice,
	},
	"Auth.Type":     {What: "a kind of Git credentials", Allowed: texts(AuthBasic, AuthSSH)},
	"Auth.Username": {Default: defaultUsername},
	"Channel.Type":  {What: "a type of channels", Allowed: texts(SlackChannel, TeamsChannel, GenericChannel)},
	"Channel.Notices": {
		What: "a choice of runs that a channel is told of", Allowed: texts(NoNotices, FailureNotices, RunNotices), Default: NoNotices,
	},
	"SecretRef": {Secret: true},
	"SecretRef.Config": {
		What: "a key of the stack's config", Example: "gitToken",
		Pattern: regexp.MustCompile(`^([A-Za-z0-9_.-]+:)?[A-Za-z0-9_.-]+$`), Secret: true,
	},
	// Any other variable may be a credential of who runs the program, and a cluster file
	// says to which host the value is sent.
	"SecretRef.Env": {
		What: "the name of an environment variable that begins with TOMBOLO_", Example: "TOMBOLO_GIT_TOKEN",
		Pattern: regexp.MustCompile(`^TOMBOLO_[A-Za-z0-9_]+$`), Secret: true,
	},
}

// notAReference is a text of Argo CD's settings. One that begins with $ would be read from a
// Secret: https://argo-cd.readthedocs.io/en/stable/operator-manual/user-management/
var notAReference = regexp.MustCompile(`^[^\s$]\S*$`)

// argocdGroups are groups of a provider in a policy of Argo CD, which is CSV:
// https://argo-cd.readthedocs.io/en/stable/operator-manual/rbac/
func argocdGroups(example string) strict.Rule {
	return strict.Rule{
		What: "the name of a group of the provider", Noun: "group", Example: example,
		Pattern: regexp.MustCompile(`^[^\s,"#]([^,"\n]*[^\s,"])?$`), Advice: func(string) string {
			return "write it as the provider does, such as " + example + ", without commas and quotes"
		},
	}
}

func subnetIDs(minItems int) strict.Rule {
	return strict.Rule{
		What: "a subnet id", Noun: "subnet", Example: "subnet-0123456789abcdef0",
		Pattern: regexp.MustCompile(`^subnet-[0-9a-f]{8}([0-9a-f]{9})?$`), MinItems: minItems,
	}
}

func texts[T ~string](values ...T) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return slices.Clip(out)
}
