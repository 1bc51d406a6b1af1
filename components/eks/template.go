package eks

import (
	"cmp"
	"encoding/base64"
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/internal/userdata"
)

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
