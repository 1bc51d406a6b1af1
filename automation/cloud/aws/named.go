package aws

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/preflight"
	"tombolo/automation/pulumicli"
	"tombolo/config"
)

// This file asks AWS about what a cluster file names: zones, subnets, instance types, keys and
// the version of Kubernetes. Core makes some twenty resources before AWS would refuse them.

// named is a value of the cluster file, and the key that has it.
type named struct{ path, value string }

func each(path string, values []string) []named {
	out := make([]named, len(values))
	for i, value := range values {
		out[i] = named{fmt.Sprintf("%s[%d]", path, i), value}
	}
	return out
}

// namedZones are those of a network that core makes.
func namedZones(c *config.Cluster) []named {
	if !c.OwnsNetwork() {
		return nil
	}
	return each("network.zones", c.Network.Zones)
}

// controlPlaneSubnets are those of a network of others that the control plane gets.
func controlPlaneSubnets(c *config.Cluster) []named {
	switch e := c.Network.Existing; {
	case e == nil || c.IsExisting():
		return nil
	case len(e.ControlPlaneSubnets) > 0:
		return each("network.existing.controlPlaneSubnets", e.ControlPlaneSubnets)
	default:
		return each("network.existing.privateSubnets", e.PrivateSubnets)
	}
}

// groupSubnets are the subnets of others that the nodes of a group are in.
func groupSubnets(c *config.Cluster, g config.NodeGroup) []string {
	switch {
	case len(g.Subnets) > 0:
		return g.Subnets
	case c.Network.Existing != nil:
		return c.Network.Existing.PrivateSubnets
	}
	return nil
}

// namedSubnets are the ids of all subnets that are asked for, each once.
func namedSubnets(c *config.Cluster) []string {
	var out []string
	for _, s := range controlPlaneSubnets(c) {
		out = append(out, s.value)
	}
	if !c.IsExisting() {
		for _, g := range c.Kubernetes.NodeGroups {
			out = append(out, groupSubnets(c, g)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// namedTypes are the instance types of a group.
func namedTypes(c *config.Cluster, group int) []named {
	return each(fmt.Sprintf("kubernetes.nodeGroups[%d].instanceTypes", group), c.Kubernetes.NodeGroups[group].InstanceTypes)
}

// namedKeys are the KMS keys that core gives to EKS, EBS and CloudWatch Logs.
func namedKeys(c *config.Cluster) []named {
	all := []named{{"kubernetes.secretsEncryption.keyArn", c.Kubernetes.SecretsEncryption.KeyARN}, {"kubernetes.logKeyArn", c.Kubernetes.LogKeyARN}}
	for i, g := range c.Kubernetes.NodeGroups {
		all = append(all, named{fmt.Sprintf("kubernetes.nodeGroups[%d].volume.kmsKeyArn", i), g.Volume.KMSKeyARN})
	}
	if logs := c.Network.FlowLogs; logs != nil {
		all = append(all, named{"network.flowLogs.kmsKeyArn", logs.KMSKeyARN})
	}
	return slices.DeleteFunc(all, func(n named) bool { return n.value == "" })
}

// Named are the values of a cluster file that AWS is asked about.
func (Cloud) Named(c *config.Cluster) []string {
	out := slices.Concat([]string{fmt.Sprint(c.IsExisting())}, namedSubnets(c), typesOf(c))
	for _, key := range namedKeys(c) {
		out = append(out, key.value)
	}
	return out
}

// askedAgain are the keys whose values AWS would refuse on a cluster that lives, after core has begun: zones, node
// groups that are added, what they name, and keys.
var askedAgain = regexp.MustCompile(`^network\.zones\b|^kubernetes\.nodeGroups(\[\d+\])?(\.(instanceTypes|zones|subnets)\b.*)?$|[kK]eyArn$`)

// AsksAgain says whether the value of a key is asked about again when it changes.
func (Cloud) AsksAgain(key string) bool { return askedAgain.MatchString(key) }

// typesOf are the instance types of all groups, each once.
func typesOf(c *config.Cluster) []string {
	var out []string
	for _, g := range c.Kubernetes.NodeGroups {
		out = append(out, g.InstanceTypes...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// readNamed fills in what AWS says of what the cluster file names. What cannot be told is told in the facts.
func readNamed(p *pulumi.Context, c *config.Cluster, f *preflight.Facts, here pulumi.InvokeOption) {
	f.Keys = readKeys(p, c, here)
	if c.IsExisting() {
		return
	}
	f.Zones, f.ZonesErr = readZones(p, here)
	f.Subnets = readSubnets(p, c, here)
	f.Offered, f.OfferedErr = readOfferings(p, typesOf(c), here)
	f.Versions, f.VersionsErr = readVersions(p, here)
}

// readZones lists all zones, also those that are not open to the account, and then those that are
// open and no Local or Wavelength Zones. Source:
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeAvailabilityZones.html
func readZones(p *pulumi.Context, o pulumi.InvokeOption) (map[string]preflight.Zone, string) {
	all, err := aws.GetAvailabilityZones(p, &aws.GetAvailabilityZonesArgs{AllAvailabilityZones: pulumi.BoolRef(true)}, o)
	if err != nil {
		return nil, pulumicli.FirstLine(err.Error())
	}
	open, err := aws.GetAvailabilityZones(p, &aws.GetAvailabilityZonesArgs{
		State:   pulumi.StringRef("available"),
		Filters: []aws.GetAvailabilityZonesFilter{{Name: "zone-type", Values: []string{"availability-zone"}}},
	}, o)
	if err != nil {
		return nil, pulumicli.FirstLine(err.Error())
	}
	if len(open.Names) == 0 {
		return nil, "EC2 lists none"
	}
	out := map[string]preflight.Zone{}
	for _, name := range all.Names {
		out[name] = preflight.Zone{}
	}
	for i, name := range open.Names {
		if i < len(open.ZoneIds) {
			out[name] = preflight.Zone{ID: open.ZoneIds[i], Open: true}
		}
	}
	return out, ""
}

func readSubnets(p *pulumi.Context, c *config.Cluster, o pulumi.InvokeOption) map[string]preflight.Subnet {
	out := map[string]preflight.Subnet{}
	for _, id := range namedSubnets(c) {
		found, err := ec2.LookupSubnet(p, &ec2.LookupSubnetArgs{Id: &id}, o)
		if err != nil {
			out[id] = preflight.Subnet{Err: pulumicli.FirstLine(err.Error()), Missing: isMissing(err)}
			continue
		}
		out[id] = preflight.Subnet{Zone: found.AvailabilityZone, ZoneID: found.AvailabilityZoneId}
	}
	return out
}

// isMissing says that AWS has answered, and does not have what it was asked for.
func isMissing(err error) bool {
	return slices.ContainsFunc([]string{"no matching", "NotFoundException", "InvalidSubnetID.NotFound", "couldn't find resource"},
		func(text string) bool { return strings.Contains(err.Error(), text) })
}

// readOfferings are the zones in which each of the instance types is offered. Source:
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html
func readOfferings(p *pulumi.Context, types []string, o pulumi.InvokeOption) (map[string][]string, string) {
	if len(types) == 0 {
		return nil, ""
	}
	found, err := ec2.GetInstanceTypeOfferings(p, &ec2.GetInstanceTypeOfferingsArgs{
		LocationType: pulumi.StringRef("availability-zone"),
		Filters:      []ec2.GetInstanceTypeOfferingsFilter{{Name: "instance-type", Values: types}},
	}, o)
	if err != nil {
		return nil, pulumicli.FirstLine(err.Error())
	}
	out := map[string][]string{}
	for i, typ := range found.InstanceTypes {
		if i < len(found.Locations) {
			out[typ] = append(out[typ], found.Locations[i])
		}
	}
	return out, ""
}

// readVersions are the versions of Kubernetes that EKS makes clusters of, with standard or extended support. Source:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeClusterVersions.html
func readVersions(p *pulumi.Context, o pulumi.InvokeOption) ([]string, string) {
	found, err := eks.GetClusterVersions(p, &eks.GetClusterVersionsArgs{}, o)
	if err != nil {
		return nil, pulumicli.FirstLine(err.Error())
	}
	var out []string
	for _, v := range found.ClusterVersions {
		out = append(out, v.ClusterVersion)
	}
	if len(out) == 0 {
		return nil, "EKS lists none"
	}
	slices.SortFunc(out, config.CompareMinors)
	return out, ""
}

// readKeys describes the keys, which may be another account's. Source:
// https://docs.aws.amazon.com/kms/latest/APIReference/API_DescribeKey.html
func readKeys(p *pulumi.Context, c *config.Cluster, o pulumi.InvokeOption) map[string]preflight.Key {
	out := map[string]preflight.Key{}
	for _, key := range namedKeys(c) {
		found, err := kms.LookupKey(p, &kms.LookupKeyArgs{KeyId: key.value}, o)
		if err != nil {
			out[key.value] = preflight.Key{Err: pulumicli.FirstLine(err.Error()), Missing: isMissing(err)}
			continue
		}
		out[key.value] = preflight.Key{State: found.KeyState, Spec: found.KeySpec, Usage: found.KeyUsage}
	}
	return out
}
