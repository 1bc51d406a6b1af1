// Package awsfacts has what AWS offers and how it names things, as data with its
// sources.
package awsfacts

import (
	"regexp"
	"slices"
	"strings"
)

// regions of AWS that offer EKS, by the list of regional endpoints of Amazon
// EKS in the AWS General Reference (December 2025).
var regions = []string{
	"af-south-1",
	"ap-east-1", "ap-east-2",
	"ap-northeast-1", "ap-northeast-2", "ap-northeast-3",
	"ap-south-1", "ap-south-2",
	"ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4",
	"ap-southeast-5", "ap-southeast-6", "ap-southeast-7",
	"ca-central-1", "ca-west-1",
	"cn-north-1", "cn-northwest-1",
	"eu-central-1", "eu-central-2",
	"eu-north-1",
	"eu-south-1", "eu-south-2",
	"eu-west-1", "eu-west-2", "eu-west-3",
	"il-central-1",
	"me-central-1", "me-south-1",
	"mx-central-1",
	"sa-east-1",
	"us-east-1", "us-east-2",
	"us-gov-east-1", "us-gov-west-1",
	"us-west-1", "us-west-2",
}

// Regions are the AWS regions that a cluster may be in.
func Regions() []string { return slices.Clone(regions) }

// withoutControlPlane are the ids of zones in which EKS takes no subnet for a control plane. The ids
// are the same in all accounts; their names differ. Nodes may be there. Source: "Subnet
// requirements and considerations" in https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
var withoutControlPlane = []string{"use1-az3", "usw1-az2", "cac1-az3"}

// WithoutControlPlane says that EKS takes no control plane in the zone of an id, such as use1-az3.
func WithoutControlPlane(zoneID string) bool { return slices.Contains(withoutControlPlane, zoneID) }

// Partition is the AWS partition of a region, which starts every ARN in it:
// aws, aws-cn or aws-us-gov.
func Partition(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}

// DNSSuffix of the host names of AWS's services in a region. Source:
// https://docs.aws.amazon.com/general/latest/gr/rande.html
func DNSSuffix(region string) string {
	if Partition(region) == "aws-cn" {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

// LogTypes of the EKS control plane, by the EKS API's LogType.
var LogTypes = []string{"api", "audit", "authenticator", "controllerManager", "scheduler"}

// RetentionDays are the values of PutRetentionPolicy in the CloudWatch Logs API.
var RetentionDays = []int{
	1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731,
	1096, 1827, 2192, 2557, 2922, 3288, 3653,
}

// PodIdentityAgent is the addon that EKS Pod Identity needs on the nodes.
const PodIdentityAgent = "eks-pod-identity-agent"

// Addons are AWS's own EKS addons and the community addons it builds. An
// addon of another vendor may be named as well.
var Addons = []string{
	"adot", "amazon-cloudwatch-observability", "amazon-sagemaker-hyperpod-taskgovernance",
	"aws-ebs-csi-driver", "aws-efs-csi-driver", "aws-fsx-csi-driver", "aws-guardduty-agent",
	"aws-mountpoint-s3-csi-driver", "aws-network-flow-monitoring-agent",
	"aws-privateca-connector-for-kubernetes", "aws-secrets-store-csi-driver-provider",
	"cert-manager", "coredns", "eks-node-monitoring-agent", PodIdentityAgent,
	"external-dns", "fluent-bit", "kube-proxy", "kube-state-metrics", "metrics-server",
	"prometheus-node-exporter", "snapshot-controller", "vpc-cni",
}

// AddonIdentity is the service account by which an EKS addon calls AWS.
type AddonIdentity struct {
	// Namespace and ServiceAccount of the addon's pods.
	Namespace, ServiceAccount string
	// Policies of AWS's own that it recommends, as they follow policy/ in their
	// ARNs. None where the policy depends on what the cluster is for.
	Policies []string
}

// AddonIdentities are the EKS addons that need rights in AWS, by name. The table is
// not complete: of other addons, the service account has to be named.
// Source: https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html
// and the pages that it names for each addon.
var AddonIdentities = map[string]AddonIdentity{
	"amazon-cloudwatch-observability": {"amazon-cloudwatch", "cloudwatch-agent", []string{"CloudWatchAgentServerPolicy", "AWSXrayWriteOnlyAccess"}},
	"aws-ebs-csi-driver":              {"kube-system", "ebs-csi-controller-sa", []string{"service-role/AmazonEBSCSIDriverPolicy"}},
	"aws-efs-csi-driver":              {"kube-system", "efs-csi-controller-sa", []string{"service-role/AmazonEFSCSIDriverPolicy"}},
	"aws-fsx-csi-driver":              {"kube-system", "fsx-csi-controller-sa", []string{"AmazonFSxFullAccess"}},
	"aws-mountpoint-s3-csi-driver":    {"kube-system", "s3-csi-driver-sa", nil},
}

// Endpoints are the services most clusters reach through VPC endpoints.
// Others may be named: the list is there to recognise misspelt ones.
var Endpoints = []string{
	"acm-pca", "aps", "aps-workspaces", "athena", "autoscaling", "cloudformation", "cloudtrail",
	"codecommit", "dynamodb", "ebs", "ec2", "ec2messages", "ecr.api", "ecr.dkr", "ecs", "ecs-agent",
	"ecs-telemetry", "eks", "eks-auth", "elasticache", "elasticfilesystem", "elasticloadbalancing",
	"email-smtp", "events", "execute-api", "fsx", "glue", "grafana", "guardduty-data", "iam",
	"kafka", "kinesis-firehose", "kinesis-streams", "kms", "lambda", "logs", "monitoring",
	"rds", "rds-data", "redshift", "s3", "s3express", "sagemaker.api", "sagemaker.runtime",
	"secretsmanager", "servicequotas", "sns", "sqs", "ssm", "ssmmessages", "states", "sts",
	"sms", "synthetics", "transfer", "xray", "bedrock", "bedrock-runtime",
}

// Architecture is the CPU architecture of an instance type, as Kubernetes names
// it in the label kubernetes.io/arch.
type Architecture string

// The architectures.
const (
	AMD64 Architecture = "amd64"
	ARM64 Architecture = "arm64"
)

// graviton families have a g among the letters after the generation (m7g,
// c7gn, x2gd); in g4dn or g5, the g before it says GPU. a1 came first.
var graviton = regexp.MustCompile(`^(a1|[a-z]+[0-9]+[a-z]*g[a-z]*)\.`)

// ArchitectureOf is the architecture of an EC2 instance type, by AWS's naming
// convention of instance types.
func ArchitectureOf(instanceType string) Architecture {
	if graviton.MatchString(instanceType) {
		return ARM64
	}
	return AMD64
}

// nvidiaFamilies are the families of instance types with GPUs of NVIDIA. AWS's names have a
// g or p for them; g4ad has GPUs of AMD. Source: "Accelerated computing" in
// https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html
var nvidiaFamilies = regexp.MustCompile(`^(g4dn|g5|g5g|g6|g6e|g6f|gr6|gr6f|g7|g7e|p[2-6][a-z]*(-[a-z0-9]+)?)\.`)

// HasNVIDIA says that an EC2 instance type has GPUs of NVIDIA.
func HasNVIDIA(instanceType string) bool { return nvidiaFamilies.MatchString(instanceType) }
