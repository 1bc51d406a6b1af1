package eks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
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

// launchTemplate asks for what a node group cannot: session tokens for the
// instance metadata, out of reach of pods (one hop), and an encrypted disk.
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
	return ec2.NewLaunchTemplate(b.ctx, b.name+"-nodes-"+g.Name, &ec2.LaunchTemplateArgs{
		Name:                 pulumi.String(b.args.Name + "-" + g.Name),
		UpdateDefaultVersion: pulumi.Bool(true),
		MetadataOptions: ec2.LaunchTemplateMetadataOptionsArgs{
			HttpEndpoint:            pulumi.String("enabled"),
			HttpTokens:              pulumi.String("required"),
			HttpPutResponseHopLimit: pulumi.Int(1),
		},
		BlockDeviceMappings: ec2.LaunchTemplateBlockDeviceMappingArray{
			ec2.LaunchTemplateBlockDeviceMappingArgs{
				DeviceName: pulumi.String("/dev/xvda"),
				Ebs: ec2.LaunchTemplateBlockDeviceMappingEbsArgs{
					VolumeSize:          pulumi.Int(g.DiskGiB),
					VolumeType:          pulumi.String("gp3"),
					Encrypted:           pulumi.String("true"),
					DeleteOnTermination: pulumi.String("true"),
				},
			},
		},
		TagSpecifications: specifications,
	}, b.parent)
}

// nodeGroup leaves the desired size alone after creation: an autoscaler owns it.
func (b *builder) nodeGroup(g NodeGroup, template *ec2.LaunchTemplate) (*awseks.NodeGroup, error) {
	capacity := "ON_DEMAND"
	if g.Spot {
		capacity = "SPOT"
	}
	var taints awseks.NodeGroupTaintArray
	for _, t := range g.Taints {
		taint := awseks.NodeGroupTaintArgs{Key: pulumi.String(t.Key), Effect: pulumi.String(taintEffect(t.Effect))}
		if t.Value != "" {
			taint.Value = pulumi.String(t.Value)
		}
		taints = append(taints, taint)
	}
	before := append(append([]pulumi.Resource{}, b.nodePolicies...), b.earlyAddons...)
	return awseks.NewNodeGroup(b.ctx, b.name+"-nodes-"+g.Name, &awseks.NodeGroupArgs{
		ClusterName:   b.cluster.Name(),
		NodeGroupName: pulumi.String(g.physicalName()),
		NodeRoleArn:   b.nodeRole.Arn,
		SubnetIds:     b.args.SubnetIDs,
		Version:       pulumi.String(b.args.Version),
		InstanceTypes: pulumi.ToStringArray(g.InstanceTypes),
		AmiType:       pulumi.String(g.amiType()),
		CapacityType:  pulumi.String(capacity),
		ScalingConfig: awseks.NodeGroupScalingConfigArgs{
			MinSize: pulumi.Int(g.Min), MaxSize: pulumi.Int(g.Max), DesiredSize: pulumi.Int(g.Desired),
		},
		UpdateConfig: awseks.NodeGroupUpdateConfigArgs{MaxUnavailablePercentage: pulumi.Int(33)},
		Labels:       pulumi.ToStringMap(g.Labels),
		Taints:       taints,
		LaunchTemplate: awseks.NodeGroupLaunchTemplateArgs{
			Id:      template.ID().ToStringOutput(),
			Version: pulumi.Sprintf("%d", template.LatestVersion),
		},
	}, b.parent, pulumi.DependsOn(before), pulumi.IgnoreChanges([]string{"scalingConfig.desiredSize"}))
}

// amiType is the group's image: Amazon Linux 2023, as Amazon Linux 2 has none
// for Kubernetes 1.33 and later.
func (g NodeGroup) amiType() string {
	if g.ARM64 {
		return "AL2023_ARM_64_STANDARD"
	}
	return "AL2023_x86_64_STANDARD"
}

// physicalName changes with all that EKS cannot change in place, so that the
// replacement can exist together with the group it replaces.
func (g NodeGroup) physicalName() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|%t", strings.Join(g.InstanceTypes, ","), g.Spot))
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
