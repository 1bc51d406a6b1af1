package config

import "regexp"

var (
	regionZone  = regexp.MustCompile(`^([a-z]{2}(-[a-z]+)+-[0-9])([a-z])$`)
	dnsLabel    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	subdomain   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
	instance    = regexp.MustCompile(`^([a-z]+[0-9]+[a-z0-9-]*|u-[a-z0-9]+)\.(nano|micro|small|medium|large|[0-9]*xlarge|metal(-[0-9]+xl)?)$`)
	principal   = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::([0-9]{12}):(role|user)/[A-Za-z0-9+=,.@_/-]+$`)
	policy      = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::(aws|[0-9]{12}):policy/[A-Za-z0-9+=,.@_/-]+$`)
	kmsKey      = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):kms:([a-z0-9-]+):([0-9]{12}):key/[A-Za-z0-9-]+$`)
	action      = regexp.MustCompile(`^[a-z0-9-]+:[A-Za-z0-9*?]+$|^\*$|^\*:\*$`)
	resource    = regexp.MustCompile(`^arn:[^:\s]+:[^:\s]+:[^:\s]*:[^:\s]*:\S+$|^\*$`)
	semver      = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	valueKey    = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)
	environment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// maxLabel is the length of a DNS label, by RFC 1123.
const maxLabel = 63

func number(n int) *int { return &n }

func label(example string) rule {
	return rule{what: "a DNS label", example: example, pattern: dnsLabel, maxLength: maxLabel, advice: asLabel}
}

// rules of the fields, by type and field name.
var rules = map[string]rule{
	"Cluster.Version":     {what: "a version of the format that this tombolo reads", example: "1", numbers: []int{Version}},
	"Cluster.Name":        label("demo"),
	"Cluster.Environment": label("dev"),
	"Cluster.Wave":        {least: number(0), most: number(99), byDefault: 0},
	"Cluster.Protect":     {byDefault: false},

	"Policy.Version":         {what: "a version of the policy format", example: "1", numbers: []int{1}},
	"Policy.Rules":           {noun: "rule", minItems: 1},
	"PolicyRule.Name":        label("network"),
	"PolicyRule.Decision":    {what: "a decision", allowed: texts(SecondApproval, Deny)},
	"PolicyMatch.Dangers":    {what: "a danger", noun: "danger", allowed: []string{AnyDanger, "cluster", "network", "node-group", "data", "registration", "infra-config"}},
	"PolicyMatch.Operations": {what: "an operation", noun: "operation", allowed: []string{"create", "update", "replace", "delete", "import"}},

	"Cloud.Provider": {what: "a cloud that this tombolo knows", allowed: texts(AWS)},
	"Cloud.Region":   {what: "an AWS region that this tombolo knows", example: "eu-central-1", allowed: Regions()},
	"Cloud.Account": {
		what: "an AWS account", example: `"111122223333"`,
		pattern: regexp.MustCompile(`^[0-9]{12}$`), advice: accountAdvice,
	},
	"Cloud.Profile": {
		what: "an AWS profile", example: "platform-dev",
		pattern: regexp.MustCompile(`^\S(.*\S)?$`),
	},

	"Network.CIDR": {
		what: "an IPv4 block", example: "10.0.0.0/16",
		pattern: regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+$`), advice: blockAdvice,
	},
	"Network.Zones": {
		what: "an availability zone", noun: "zone", example: "eu-central-1a",
		pattern: regionZone, minItems: 2,
	},
	"Network.NAT": {what: "a kind of NAT", allowed: texts(NATNone, NATSingle, NATPerZone), byDefault: NATSingle},
	"Network.Endpoints": {
		what: "the short name of an AWS service", example: "s3 or ecr.api",
		pattern: regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*$`), byDefault: defaultEndpoints(),
	},
	"ExistingNetwork.VPC": {
		what: "a VPC id", example: "vpc-0123456789abcdef0",
		pattern: regexp.MustCompile(`^vpc-[0-9a-f]{8}([0-9a-f]{9})?$`),
	},
	"ExistingNetwork.PrivateSubnets": subnetIDs(2),
	"ExistingNetwork.PublicSubnets":  subnetIDs(0),

	"Kubernetes.Version": {
		what:    "a version of Kubernetes that EKS offers and Tombolo supports",
		example: `"1.35"`, allowed: KubernetesVersions(), advice: kubernetesAdvice,
	},
	"Kubernetes.Logs": {
		what: "a log type of the EKS control plane", noun: "log type",
		allowed: logTypes, byDefault: defaultLogs(),
	},
	"Kubernetes.LogRetentionDays": {
		what:    "a retention that CloudWatch offers",
		numbers: retentionDays, byDefault: defaultLogRetentionDays,
	},
	"Kubernetes.NodeGroups": {noun: "node group", minItems: 1},
	"Kubernetes.Addons":     {byDefault: defaultAddonObjects()},

	"Endpoint.Private":        {byDefault: true},
	"Endpoint.Public":         {byDefault: false},
	"Endpoint.OpenToTheWorld": {byDefault: false},
	"Endpoint.AllowedCIDRs": {
		what: "an IP block", example: "203.0.113.0/24",
		pattern: regexp.MustCompile(`^[0-9a-fA-F.:]+/[0-9]+$`), advice: blockAdvice,
	},
	"SecretsEncryption.Enabled": {byDefault: true},
	"SecretsEncryption.KeyARN": {
		what: "the ARN of a KMS key", pattern: kmsKey, advice: keyAdvice,
		example: "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
	},
	"Admin.Name": label("platform-team"),
	"Admin.PrincipalARN": {
		what: "the ARN of an IAM role or user", pattern: principal, advice: principalAdvice,
		example: "arn:aws:iam::111122223333:role/platform-admin",
	},

	"NodeGroup.Name": label("system"),
	"NodeGroup.InstanceTypes": {
		what: "an EC2 instance type", noun: "instance type", example: "m7i.large",
		pattern: instance, minItems: 1,
	},
	"NodeGroup.Capacity": {what: "a capacity type", allowed: texts(OnDemand, Spot), byDefault: OnDemand},
	"NodeGroup.DiskGiB":  {least: number(20), most: number(16384), byDefault: defaultDiskGiB},
	"Size.Min":           {least: number(0), byDefault: defaultMinSize},
	"Size.Max":           {least: number(1)},
	"Size.Desired":       {least: number(0)},
	"Taint.Key":          {example: "dedicated"},
	"Taint.Effect":       {what: "a taint effect", allowed: texts(NoSchedule, PreferNoSchedule, NoExecute)},

	"ManagedAddon.Name": {
		what: "the name of an EKS addon", example: "vpc-cni",
		pattern: regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]*$`), maxLength: 100,
	},
	"ManagedAddon.Version": {
		what: "the version of an EKS addon", example: "v1.20.1-eksbuild.1",
		pattern: regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+-eksbuild\.[0-9]+$`),
	},
	"Namespace.Name":    label("monitoring"),
	"Service.Name":      label("external-dns"),
	"Service.Namespace": label("external-dns"),

	"Identity.ServiceAccount": {
		what: "the name of a service account", example: "external-dns",
		pattern: subdomain, maxLength: 253, advice: asLabel,
	},
	"Identity.Mode": {what: "an identity mode", allowed: texts(IRSA, PodIdentity), byDefault: IRSA},
	"Identity.PolicyARNs": {
		what: "the ARN of an IAM policy", pattern: policy,
		example: "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess",
	},
	"Statement.Actions": {
		what: "an IAM action", noun: "action", example: "s3:GetObject",
		pattern: action, minItems: 1,
	},
	"Statement.Resources": {
		what: "an ARN", noun: "resource", example: "arn:aws:s3:::my-bucket/*",
		pattern: resource, minItems: 1,
	},

	"GitOps.Engine": {what: "a GitOps engine that this tombolo knows", allowed: texts(Flux, ArgoCD)},
	"GitOps.Hub":    label("mgmt"),
	"GitOps.URL": {
		what: "a Git URL", example: "https://git.example.com/platform.git",
		pattern: regexp.MustCompile(`^(https?|ssh)://\S+$`), advice: urlAdvice, secret: true,
	},
	"GitOps.Branch":                  {byDefault: defaultBranch},
	"GitOps.Path":                    {example: "clusters/dev"},
	"GitOps.Interval":                {byDefault: defaultInterval},
	"ArgoCDOptions.HighAvailability": {byDefault: false},
	"ArgoCDOptions.Accounts": {
		what: "an AWS account", noun: "account", example: `"111122223333"`,
		pattern: regexp.MustCompile(`^[0-9]{12}$`), advice: accountAdvice,
	},
	"ArgoCDOptions.Credentials":  {what: "a kind of credentials", allowed: texts(CredentialsAWS, CredentialsServiceAccount)},
	"ArgoCDOptions.Rotation":     {least: number(1), most: number(999999)},
	"ArgoCDOptions.Applications": {what: "what may become of applications", allowed: texts(LeavingRemove, LeavingKeep)},
	"Distribution.Version": {
		what: "a version", example: "v2.7.5", pattern: semver,
		advice: versionAdvice,
	},
	"Distribution.URL": {
		what: "the URL of a manifest", example: "https://example.com/flux/v2.7.5/install.yaml",
		pattern: regexp.MustCompile(`^https?://\S+$`), secret: true,
	},
	"Distribution.SHA256": {
		what:    "a SHA-256 sum in 64 lower-case hexadecimal digits",
		pattern: regexp.MustCompile(`^[0-9a-f]{64}$`), advice: sumAdvice,
	},
	"Auth.Type":     {what: "a kind of Git credentials", allowed: texts(AuthBasic, AuthSSH)},
	"Auth.Username": {byDefault: defaultUsername},
	"SecretRef.Config": {
		what: "a key of the stack's config", example: "gitToken",
		pattern: regexp.MustCompile(`^([A-Za-z0-9_.-]+:)?[A-Za-z0-9_.-]+$`), secret: true,
	},
	"SecretRef.Env": {what: "the name of an environment variable", example: "GIT_TOKEN", pattern: environment, secret: true},
}

func subnetIDs(minItems int) rule {
	return rule{
		what: "a subnet id", noun: "subnet", example: "subnet-0123456789abcdef0",
		pattern: regexp.MustCompile(`^subnet-[0-9a-f]{8}([0-9a-f]{9})?$`), minItems: minItems,
	}
}
