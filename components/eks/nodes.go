package eks

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/internal/userdata"
)

func (b *builder) makeNodeGroups() error {
	for _, g := range b.args.NodeGroups {
		template, err := b.launchTemplate(g)
		if err != nil {
			return err
		}
		group, err := b.nodeGroup(g, template)
		if err != nil {
			return err
		}
		b.complete = append(b.complete, group)
	}
	return nil
}

// nodeGroup leaves the desired size of a group that exists alone, as an autoscaler owns
// it, unless something of the size changes: the provider sends all three numbers then.
func (b *builder) nodeGroup(g NodeGroup, template *ec2.LaunchTemplate) (*awseks.NodeGroup, error) {
	desired, given := g.size()
	options := []pulumi.ResourceOption{b.parent, pulumi.DependsOn(append(slices.Clone(b.nodePolicies), b.earlyAddons...))}
	if !given {
		options = append(options, pulumi.IgnoreChanges([]string{"scalingConfig.desiredSize"}))
	}
	var taints awseks.NodeGroupTaintArray
	for _, t := range g.Taints {
		taint := awseks.NodeGroupTaintArgs{Key: pulumi.String(t.Key), Effect: pulumi.String(taintEffect(t.Effect))}
		if t.Value != "" {
			taint.Value = pulumi.String(t.Value)
		}
		taints = append(taints, taint)
	}
	subnets := g.subnets(b.args.SubnetIDs)
	args := &awseks.NodeGroupArgs{
		ClusterName:   b.cluster.Name(),
		NodeGroupName: g.nameInEKS(subnets, b.nodeRoleARN),
		NodeRoleArn:   b.nodeRoleARN,
		SubnetIds:     subnets,
		InstanceTypes: pulumi.ToStringArray(g.InstanceTypes),
		CapacityType:  pulumi.String(g.capacityType()),
		ScalingConfig: awseks.NodeGroupScalingConfigArgs{
			MinSize: pulumi.Int(g.Min), MaxSize: pulumi.Int(g.Max), DesiredSize: pulumi.Int(desired),
		},
		UpdateConfig: g.Update.config(),
		Labels:       pulumi.ToStringMap(g.Labels),
		Taints:       taints,
		LaunchTemplate: awseks.NodeGroupLaunchTemplateArgs{
			Id:      template.ID().ToStringOutput(),
			Version: pulumi.Sprintf("%d", template.LatestVersion),
		},
	}
	if g.Update.Force {
		args.ForceUpdateVersion = pulumi.Bool(true)
	}
	b.setImage(g, args)
	return awseks.NewNodeGroup(b.ctx, b.name+"-nodes-"+g.Name, args, options...)
}

// setImage says which of EKS's images a group has. With one that is not EKS's, EKS takes
// neither its type nor a version or release: "Limits and conditions when specifying an AMI
// ID" in https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html.
func (b *builder) setImage(g NodeGroup, args *awseks.NodeGroupArgs) {
	if g.Image.ID != "" {
		return
	}
	args.AmiType = pulumi.String(g.amiType())
	args.Version = pulumi.String(cmp.Or(b.args.NodeVersion, b.args.Version))
	if g.Image.Release != "" {
		args.ReleaseVersion = pulumi.String(g.Image.Release)
	}
}

// subnets of the group, which are the cluster's unless it has its own.
func (g NodeGroup) subnets(cluster pulumi.StringArrayInput) pulumi.StringArrayInput {
	if g.SubnetIDs != nil {
		return g.SubnetIDs
	}
	return cluster
}

// thirdOfNodes is how many percent of the nodes go at the same time unless the group says it.
const thirdOfNodes = 33

func (u Update) config() awseks.NodeGroupUpdateConfigArgs {
	if u.MaxUnavailable > 0 {
		return awseks.NodeGroupUpdateConfigArgs{MaxUnavailable: pulumi.Int(u.MaxUnavailable)}
	}
	return awseks.NodeGroupUpdateConfigArgs{MaxUnavailablePercentage: pulumi.Int(cmp.Or(u.MaxUnavailablePercent, thirdOfNodes))}
}

// CustomAMI is EKS's name for the type of an image that is not its own.
const CustomAMI = "CUSTOM"

// amiType is EKS's name for the group's image. Amazon Linux 2 has none for Kubernetes 1.33
// and later. Source of the names:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html
func (g NodeGroup) amiType() string {
	if g.Image.ID != "" {
		return CustomAMI
	}
	architecture := map[bool]string{true: "ARM_64", false: "x86_64"}[g.ARM64]
	switch {
	case g.Image.Bottlerocket && g.Image.NVIDIA:
		return "BOTTLEROCKET_" + architecture + "_NVIDIA"
	case g.Image.Bottlerocket:
		return "BOTTLEROCKET_" + architecture
	case g.Image.NVIDIA:
		return "AL2023_" + architecture + "_NVIDIA"
	}
	return "AL2023_" + architecture + "_STANDARD"
}

func (g NodeGroup) capacityType() string {
	if g.Spot {
		return "SPOT"
	}
	return "ON_DEMAND"
}

// size is the number of nodes to ask for, and whether it is to be sent to a group that
// exists. UpdateNodegroupConfig gets minimum, maximum and desired size together when one
// of them changes (internal/service/eks/node_group.go of terraform-provider-aws), and EKS
// refuses a desired size outside of the other two. So the size that an autoscaler has
// chosen is sent along, as near as the new bounds allow. A replacement starts with
// as many nodes as the group that it replaces has.
func (g NodeGroup) size() (desired int, given bool) {
	if g.Made == nil || g.Made.Live == nil {
		return g.Desired, false
	}
	live := *g.Made.Live
	resized := g.Made.Min != g.Min || g.Made.Max != g.Max || live.Min != g.Min || live.Max != g.Max
	replaced := g.Made.MovesSubnets || !g.made(g.Made.SubnetIDs, g.Made.NodeRoleARN)
	if !resized && !replaced {
		return g.Desired, false
	}
	return min(max(live.Desired, g.Min), g.Max), true
}

// made says that the group exists with all that EKS cannot change in place: what has
// ForceNew in internal/service/eks/node_group.go of terraform-provider-aws v5.100.0. The
// launch template is not among it: its name has those of cluster and group, and a group
// of another name is another resource.
func (g NodeGroup) made(subnets []string, role string) bool {
	m := g.Made
	return m != nil && slices.Equal(m.InstanceTypes, g.InstanceTypes) && m.AMIType == g.amiType() &&
		m.CapacityType == g.capacityType() && m.NodeRoleARN == role &&
		slices.Equal(slices.Sorted(slices.Values(m.SubnetIDs)), slices.Sorted(slices.Values(subnets)))
}

// nameInEKS stays with a group that EKS does not have to replace. A replacement has
// another one, so that it can exist together with the group that it replaces.
func (g NodeGroup) nameInEKS(subnets pulumi.StringArrayInput, role pulumi.StringOutput) pulumi.StringOutput {
	return pulumi.All(subnets, role).ApplyT(func(v []any) string {
		subnets, role := v[0].([]string), v[1].(string)
		if g.made(subnets, role) {
			return g.Made.Name
		}
		return g.newName(subnets, role)
	}).(pulumi.StringOutput)
}

// newName differs between groups that differ in what EKS cannot change in place.
func (g NodeGroup) newName(subnets []string, role string) string {
	parts := []string{
		strings.Join(g.InstanceTypes, ","), g.amiType(), g.capacityType(), role,
		strings.Join(slices.Sorted(slices.Values(subnets)), ","),
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "|")))
	return g.Name + "-" + hex.EncodeToString(sum[:4])
}

// taintEffect is EKS's spelling of Kubernetes' effects.
func taintEffect(effect string) string {
	switch effect {
	case "NoSchedule":
		return "NO_SCHEDULE"
	case "PreferNoSchedule":
		return "PREFER_NO_SCHEDULE"
	case "NoExecute":
		return "NO_EXECUTE"
	default:
		return effect
	}
}

// launchTemplate asks for what a node group cannot: session tokens for the
// instance metadata, out of reach of pods (one hop), an encrypted disk, further security
// groups, an image of one's own and user data.
func (b *builder) launchTemplate(g NodeGroup) (*ec2.LaunchTemplate, error) {
	tags := pulumi.StringMap{"Name": pulumi.String(b.args.Name + "-" + g.Name)}
	for k, v := range b.args.Tags {
		tags[k] = pulumi.String(v)
	}
	var specifications ec2.LaunchTemplateTagSpecificationArray
	for _, kind := range []string{"instance", "volume"} {
		specifications = append(specifications, ec2.LaunchTemplateTagSpecificationArgs{
			ResourceType: pulumi.String(kind),
			Tags:         tags,
		})
	}
	args := &ec2.LaunchTemplateArgs{
		Name:                 pulumi.String(b.args.Name + "-" + g.Name),
		UpdateDefaultVersion: pulumi.Bool(true),
		MetadataOptions: ec2.LaunchTemplateMetadataOptionsArgs{
			HttpEndpoint:            pulumi.String("enabled"),
			HttpTokens:              pulumi.String("required"),
			HttpPutResponseHopLimit: pulumi.Int(1),
		},
		BlockDeviceMappings: g.disks(),
		TagSpecifications:   specifications,
	}
	if g.Image.ID != "" {
		args.ImageId = pulumi.String(g.Image.ID)
	}
	if len(g.SecurityGroupIDs) > 0 {
		// EKS adds its own only to a template without any: "Using custom security groups" in
		// https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html.
		args.VpcSecurityGroupIds = append(pulumi.StringArray{b.securityGroup()}, pulumi.ToStringArray(g.SecurityGroupIDs)...)
	}
	var err error
	if args.UserData, err = b.userData(g); err != nil {
		return nil, fmt.Errorf("user data of node group %s: %w", g.Name, err)
	}
	return ec2.NewLaunchTemplate(b.ctx, b.name+"-nodes-"+g.Name, args, b.parent)
}

// The names of volumes. Bottlerocket has its system on the first, which does not change, and
// images, logs and what pods write on the second. Source: "Default Volumes" in
// https://github.com/bottlerocket-os/bottlerocket/blob/develop/README.md
const (
	rootDevice = "/dev/xvda"
	dataDevice = "/dev/xvdb"
)

// disks are the group's volumes. The size is that of the volume on which a node writes.
func (g NodeGroup) disks() ec2.LaunchTemplateBlockDeviceMappingArray {
	sized := ec2.LaunchTemplateBlockDeviceMappingEbsArgs{
		VolumeSize: pulumi.Int(g.DiskGiB),
		VolumeType: pulumi.String(cmp.Or(g.Volume.Type, "gp3")),
	}
	if g.Volume.IOPS > 0 {
		sized.Iops = pulumi.Int(g.Volume.IOPS)
	}
	if g.Volume.Throughput > 0 {
		sized.Throughput = pulumi.Int(g.Volume.Throughput)
	}
	if !g.Image.Bottlerocket {
		return ec2.LaunchTemplateBlockDeviceMappingArray{g.disk(rootDevice, sized)}
	}
	system := ec2.LaunchTemplateBlockDeviceMappingEbsArgs{VolumeType: pulumi.String("gp3")}
	return ec2.LaunchTemplateBlockDeviceMappingArray{g.disk(rootDevice, system), g.disk(dataDevice, sized)}
}

func (g NodeGroup) disk(device string, ebs ec2.LaunchTemplateBlockDeviceMappingEbsArgs) ec2.LaunchTemplateBlockDeviceMappingArgs {
	ebs.Encrypted, ebs.DeleteOnTermination = pulumi.String("true"), pulumi.String("true")
	if g.Volume.KeyARN != "" {
		ebs.KmsKeyId = pulumi.String(g.Volume.KeyARN)
	}
	return ec2.LaunchTemplateBlockDeviceMappingArgs{DeviceName: pulumi.String(device), Ebs: ebs}
}

// UserData is the user data of a group in base64, "" for none. With an image that is not
// EKS's, a node joins the cluster by it alone; nil for one of EKS's.
func UserData(g NodeGroup, cluster *userdata.Cluster) (string, error) {
	family := userdata.AL2023
	if g.Image.Bottlerocket {
		family = userdata.Bottlerocket
	}
	text, err := userdata.Compose(family, userdata.Own{MaxPods: g.MaxPods, Cluster: cluster, Egress: g.Egress}, g.UserData)
	return base64.StdEncoding.EncodeToString([]byte(text)), err
}

// userData is nil for none. With an image of EKS's it is known before the cluster is.
func (b *builder) userData(g NodeGroup) (pulumi.StringPtrInput, error) {
	if g.Image.ID == "" {
		text, err := UserData(g, nil)
		if err != nil || text == "" {
			return nil, err
		}
		return pulumi.String(text), nil
	}
	block := b.cluster.KubernetesNetworkConfig().ServiceIpv4Cidr().Elem()
	return pulumi.All(b.cluster.Endpoint(), b.cluster.CertificateAuthority().Data().Elem(), block).ApplyT(func(v []any) (pulumi.StringOutput, error) {
		cluster := &userdata.Cluster{Name: b.args.Name, Endpoint: v[0].(string), CA: v[1].(string), ServiceCIDR: v[2].(string)}
		if (cluster.CA == "" || cluster.ServiceCIDR == "") && b.ctx.DryRun() { // see securityGroup
			return pulumi.UnsafeUnknownOutput(nil).ApplyT(func(any) string { return "" }).(pulumi.StringOutput), nil
		}
		text, err := UserData(g, cluster)
		if err != nil {
			return pulumi.StringOutput{}, fmt.Errorf("user data of node group %s: %w", g.Name, err)
		}
		return pulumi.String(text).ToStringOutput(), nil
	}).(pulumi.StringOutput), nil
}
