package eks

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/identity"
	"tombolo/internal/userdata"
)

// ClusterArgs are the arguments of a Cluster.
type ClusterArgs struct {
	// Name of the cluster in EKS, at most 100 characters. Roles, the key's
	// alias and the log group are named after it.
	Name string
	// Version of Kubernetes, major.minor.
	Version string
	// NodeVersion is the version of the node groups, not newer than Version. "" is Version.
	NodeVersion string
	// Partition of AWS, such as aws or aws-cn, for AWS's policies and services.
	Partition string
	// Place of the roles in IAM.
	Place identity.Place
	// ClusterRoleARN and NodeRoleARN are roles that others own; "" makes them.
	ClusterRoleARN, NodeRoleARN string
	// Profile is the AWS profile to use, "" for the environment's credentials.
	Profile string
	// PrivateEndpoint makes the API reachable inside the VPC, PublicEndpoint
	// from PublicCIDRs on the internet. At least one is required.
	PrivateEndpoint, PublicEndpoint bool
	PublicCIDRs                     []string
	// PrivateCIDRs and the members of PrivateGroups, ids of security groups, may reach
	// the private endpoint beside the nodes.
	PrivateCIDRs, PrivateGroups []string
	// ServiceCIDR is the block for Kubernetes Services; "" lets EKS choose.
	ServiceCIDR string
	// LogTypes of the control plane that go to CloudWatch, kept for
	// LogRetentionDays.
	LogTypes         []string
	LogRetentionDays int
	// LogKeyARN is the KMS key of the log group; "" for CloudWatch's own.
	LogKeyARN string
	// EncryptSecrets by the KMS key KeyARN; "" makes a key.
	EncryptSecrets bool
	KeyARN         string
	// Creator of the cluster, who has the rights of cluster-admin; nil for a cluster on
	// which EKS has given it an entry by itself: EKS refuses a second one.
	Creator *Creator
	// Admins with the rights of cluster-admin; the creator may be among them.
	Admins []Principal
	// Support is STANDARD or EXTENDED: what happens at the end of the version's standard
	// support. "" is STANDARD for a cluster that is made, and what it has for a live one.
	Support string
	// ZonalShift lets traffic be moved away from an impaired zone. nil leaves it.
	ZonalShift *bool
	// Previewers are members of the group previewers.Group.
	Previewers []Principal
	// Access of others, by EKS's policies and by groups.
	Access []Access
	// IdentityProvider whose tokens the API takes beside IAM's; nil for none.
	IdentityProvider *IdentityProvider
	// AutoMode has EKS Auto Mode make the nodes; there are no node groups then. A live
	// cluster keeps what it has.
	AutoMode bool
	// NodeGroups, at least one without AutoMode.
	NodeGroups []NodeGroup
	// Addons managed by EKS.
	Addons []Addon
	// Tags for instances and volumes, which the provider's default tags do
	// not reach because Auto Scaling makes them.
	Tags map[string]string
	// SecurityGroupTags for the security group that EKS makes for control
	// plane and nodes, by which an addon finds it.
	SecurityGroupTags map[string]string
	// Protect has Pulumi refuse to delete the control plane.
	Protect bool

	// VPCID of the cluster, and SubnetIDs (private) of its nodes.
	VPCID     pulumi.StringInput
	SubnetIDs pulumi.StringArrayInput
	// ControlPlaneSubnetIDs (private) of the control plane, which has to keep the zones
	// that it was made in.
	ControlPlaneSubnetIDs pulumi.StringArrayInput
}

// Principal is an IAM role or user with an access entry.
type Principal struct {
	// Name, unique among those with the same rights.
	Name string
	// PrincipalARN of a role or user.
	PrincipalARN string
}

// Access is an IAM role or user with rights of its own.
type Access struct {
	// Name, unique among them.
	Name string
	// PrincipalARN of a role or user.
	PrincipalARN string
	// Policy of EKS's, such as AmazonEKSViewPolicy; "" for none.
	Policy string
	// Namespaces that the policy is for; none is the whole cluster.
	Namespaces []string
	// Groups of Kubernetes.
	Groups []string
}

// Creator is the IAM principal that makes a cluster.
type Creator struct {
	// ARN of a role, with its path, or user; "" in a preview that does not know it yet.
	ARN string
}

// arn of the creator, which is unknown in a preview that does not know it.
func (c Creator) arn() pulumi.StringInput {
	if c.ARN == "" {
		return pulumi.UnsafeUnknownOutput(nil).ApplyT(func(any) string { return "" }).(pulumi.StringOutput)
	}
	return pulumi.String(c.ARN)
}

// NodeGroup is a managed node group.
type NodeGroup struct {
	// Name, unique among the groups. The group's name in EKS is Name and a
	// suffix that changes whenever EKS has to replace the group.
	Name          string
	InstanceTypes []string
	// Min, Max and Desired numbers of nodes. Desired only counts at creation: after
	// that, the number of nodes stays as it is, within Min and Max.
	Min, Max, Desired int
	// Spot instead of on-demand capacity.
	Spot bool
	// ARM64 says that the instance types are of that architecture, and not
	// x86-64: EKS does not find out by itself which image they need.
	ARM64 bool
	// Image is what nodes run.
	Image Image
	// MaxPods is the largest number of pods on a node; 0 leaves it to EKS.
	MaxPods int
	// DiskGiB of the encrypted volume, in GiB: the root volume, and that of the data with
	// Bottlerocket.
	DiskGiB int
	Volume  Volume
	Labels  map[string]string
	Taints  []Taint
	// SecurityGroupIDs beside the group that EKS makes.
	SecurityGroupIDs []string
	// SubnetIDs (private) of the nodes; nil for those of the cluster.
	SubnetIDs pulumi.StringArrayInput
	Update    Update
	// Egress of the nodes.
	Egress userdata.Egress
	// UserData that nodes start with, beside what the component and EKS say.
	UserData string
	// Made is the group as earlier runs made it; nil for a new one.
	Made *MadeGroup
}

// Image is what nodes run. The zero Image is the newest of Amazon Linux 2023.
type Image struct {
	// Bottlerocket, or else Amazon Linux 2023.
	Bottlerocket bool
	// NVIDIA says that the image has the driver for NVIDIA's GPUs.
	NVIDIA bool
	// Release of EKS's image; "" for the newest.
	Release string
	// ID of an image that is not EKS's, of the family that Bottlerocket says; "" for EKS's.
	ID string
}

// Volume of nodes. The zero Volume is a gp3 with what that has by itself, encrypted by the
// account's key.
type Volume struct {
	// Type is gp3, io1 or io2; "" is gp3.
	Type string
	// IOPS, and Throughput in MiB/s; 0 for what a volume has by itself.
	IOPS, Throughput int
	// KeyARN of the encryption; "" for the account's key.
	KeyARN string
}

// Update says how EKS rolls nodes.
type Update struct {
	// MaxUnavailable is how many nodes go at the same time; 0 for MaxUnavailablePercent.
	MaxUnavailable int
	// MaxUnavailablePercent of the nodes; 0 is 33, when MaxUnavailable is 0.
	MaxUnavailablePercent int
	// Force replaces nodes whose pods a disruption budget keeps.
	Force bool
}

// MadeGroup is a node group that exists.
type MadeGroup struct {
	// Name in EKS.
	Name string
	// InstanceTypes, AMIType, CapacityType, NodeRoleARN and SubnetIDs, which EKS
	// cannot change in place.
	InstanceTypes                      []string
	AMIType, CapacityType, NodeRoleARN string
	SubnetIDs                          []string
	// MovesSubnets says that it gets other subnets than SubnetIDs.
	MovesSubnets bool
	// Min and Max in the state, and Live, what EKS says; nil when it has no such group.
	Min, Max int
	Live     *Scaling
}

// Scaling is the size of a node group in EKS. An autoscaler may have changed Desired.
type Scaling struct {
	Min, Max, Desired int
}

// Taint of a group's nodes. Effect is spelled as Kubernetes does: NoSchedule,
// PreferNoSchedule or NoExecute.
type Taint struct {
	Key, Value, Effect string
}

// Addon is an EKS addon.
type Addon struct {
	// Name, such as coredns.
	Name string
	// Version of the addon; "" takes EKS's default at its creation, and stays there.
	Version string
	// Configuration by the addon's own schema; nil for none.
	Configuration map[string]any
	// Role of the addon's service account; nil for none, and for the CNI one that is
	// made.
	Role *AddonRole
}

// AddonRole is the IAM role of an addon's service account: an existing one by ARN, or
// one that is made of all the rest.
type AddonRole struct {
	ARN string
	// Name in IAM, at most 64 characters.
	Name string
	// Namespace and ServiceAccount that may assume the role.
	Namespace, ServiceAccount string
	// PolicyARNs of managed policies, and Statements of its own.
	PolicyARNs []string
	Statements []identity.Statement
}

// The kinds of support. Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_UpgradePolicyRequest.html
const (
	standardSupport = "STANDARD"
	extendedSupport = "EXTENDED"
)

func (a *ClusterArgs) validate() error {
	var problems []error
	add := func(format string, v ...any) { problems = append(problems, fmt.Errorf(format, v...)) }
	if a.Name == "" || a.Version == "" || a.Partition == "" {
		add("name, version and partition are required")
	}
	if a.VPCID == nil || a.SubnetIDs == nil || a.ControlPlaneSubnetIDs == nil {
		add("VPC and subnets are required")
	}
	if !a.PrivateEndpoint && !a.PublicEndpoint {
		add("the API has neither a private nor a public endpoint; nodes could not join")
	}
	if a.PublicEndpoint && len(a.PublicCIDRs) == 0 {
		add("a public endpoint needs CIDR blocks that may reach it; EKS would open it to the world")
	}
	if !a.PrivateEndpoint && len(a.PrivateCIDRs)+len(a.PrivateGroups) > 0 {
		add("there is no private endpoint for those that are let in to it")
	}
	if !slices.Contains([]string{"", standardSupport, extendedSupport}, a.Support) {
		add("support %q is neither %s nor %s", a.Support, standardSupport, extendedSupport)
	}
	switch {
	case a.AutoMode && len(a.NodeGroups) > 0:
		add("EKS Auto Mode makes the nodes, and there are node groups")
	case !a.AutoMode && len(a.NodeGroups) == 0:
		add("at least one node group is required")
	}
	var groups, admins, previewers, access, addons []string
	for _, g := range a.NodeGroups {
		groups = append(groups, g.Name)
		if err := g.validate(); err != nil {
			problems = append(problems, err)
		}
	}
	for _, x := range a.Admins {
		admins = append(admins, x.Name)
	}
	for _, x := range a.Previewers {
		previewers = append(previewers, x.Name)
	}
	for _, x := range a.Access {
		access = append(access, x.Name)
		if x.Policy == "" && len(x.Groups) == 0 {
			add("access %q has neither a policy nor groups", x.Name)
		}
	}
	for _, x := range a.Addons {
		addons = append(addons, x.Name)
	}
	if err := a.IdentityProvider.validate(); err != nil {
		problems = append(problems, err)
	}
	for what, names := range map[string][]string{"node group": groups, "admin": admins, "previewer": previewers, "access": access, "addon": addons} {
		if name, twice := repeated(names); twice {
			add("%s %q is given twice", what, name)
		}
	}
	return errors.Join(problems...)
}

func (g NodeGroup) validate() error {
	if g.Name == "" || len(g.InstanceTypes) == 0 || g.DiskGiB <= 0 {
		return fmt.Errorf("node group %q needs a name, instance types and a disk size", g.Name)
	}
	if g.Min < 0 || g.Max < 1 || g.Desired < g.Min || g.Desired > g.Max {
		return fmt.Errorf("node group %q: 0 <= min <= desired <= max and max >= 1 do not hold for %d, %d, %d", g.Name, g.Min, g.Desired, g.Max)
	}
	return nil
}

func repeated(names []string) (string, bool) {
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return names[i], true
		}
	}
	return "", false
}
