package aws

import (
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/cloudwatch"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/resourcegroupstaggingapi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/names"
)

// candidates are the resources with the cluster's tags, or its name, as a
// tagging API has them: they may be deleted already.
func candidates(p *pulumi.Context, c *config.Cluster, q teardown.Search, opt pulumi.InvokeOption) ([]teardown.Leftover, error) {
	byARN := map[string]teardown.Leftover{}
	for key, value := range ownershipTags(c.Name) {
		res, err := resourcegroupstaggingapi.GetResources(p, &resourcegroupstaggingapi.GetResourcesArgs{
			TagFilters: []resourcegroupstaggingapi.GetResourcesTagFilter{{Key: key, Values: []string{value}}},
		}, opt)
		if err != nil {
			return nil, err
		}
		for _, m := range res.ResourceTagMappingLists {
			if l, ok := Identify(m.ResourceArn, m.Tags); ok {
				byARN[l.CloudID] = l
			}
		}
	}
	groups, err := logGroups(p, c.Name, opt)
	if err != nil {
		return nil, err
	}
	interfaces, err := balancerInterfaces(p, q.Network, opt)
	if err != nil {
		return nil, err
	}
	for _, l := range append(groups, interfaces...) {
		if _, tagged := byARN[l.CloudID]; !tagged {
			byARN[l.CloudID] = l
		}
	}
	return slices.Collect(maps.Values(byARN)), nil
}

// ownershipTags are those by which core, and controllers on the cluster, say
// whose a resource is. Sources: the documentation of the AWS Load Balancer
// Controller, of Kubernetes' AWS cloud provider and the EBS CSI driver, of
// Karpenter, and of the Amazon VPC CNI.
func ownershipTags(cluster string) map[string]string {
	return map[string]string{
		names.ClusterTag:                   cluster,
		"elbv2.k8s.aws/cluster":            cluster,
		"kubernetes.io/cluster/" + cluster: "owned",
		"eks:eks-cluster-name":             cluster,
		"cluster.k8s.amazonaws.com/name":   cluster,
	}
}

// logGroups are those that the control plane and agents write to. EKS makes its
// group again, without tags, as long as the control plane has something to say.
func logGroups(p *pulumi.Context, cluster string, opt pulumi.InvokeOption) ([]teardown.Leftover, error) {
	var out []teardown.Leftover
	for _, prefix := range []string{"/aws/eks/" + cluster + "/", "/aws/containerinsights/" + cluster + "/"} {
		res, err := cloudwatch.GetLogGroups(p, &cloudwatch.GetLogGroupsArgs{LogGroupNamePrefix: &prefix}, opt)
		if err != nil {
			return nil, err
		}
		for _, arn := range res.Arns {
			if l, ok := Identify(strings.TrimSuffix(arn, ":*"), nil); ok {
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// balancerInterfaces are the network interfaces of load balancers in core's VPC.
// They have no tags, only AWS can delete them, and they outlive their load
// balancer by minutes, in the way of subnets and security groups.
func balancerInterfaces(p *pulumi.Context, vpc string, opt pulumi.InvokeOption) ([]teardown.Leftover, error) {
	if vpc == "" {
		return nil, nil
	}
	found, err := networkInterfaces(p, "vpc-id", vpc, "ELB *", opt)
	if err != nil {
		return nil, err
	}
	var out []teardown.Leftover
	for _, i := range found {
		l, _ := Identify(i.Arn, nil)
		l.Name, l.Type = i.Description, ""
		out = append(out, l)
	}
	return out, nil
}

// networkInterfaces are those with a description, in which an asterisk stands for
// any text, in a subnet or a VPC: filter is the name of its filter. One that goes
// meanwhile is left out.
func networkInterfaces(p *pulumi.Context, filter, in, description string, opt pulumi.InvokeOption) ([]*ec2.LookupNetworkInterfaceResult, error) {
	list, err := ec2.GetNetworkInterfaces(p, &ec2.GetNetworkInterfacesArgs{Filters: []ec2.GetNetworkInterfacesFilter{
		{Name: filter, Values: []string{in}}, {Name: "description", Values: []string{description}},
	}}, opt)
	if err != nil {
		return nil, err
	}
	var out []*ec2.LookupNetworkInterfaceResult
	for _, id := range list.Ids {
		if found, err := ec2.LookupNetworkInterface(p, &ec2.LookupNetworkInterfaceArgs{Id: &id}, opt); err == nil {
			out = append(out, found)
		}
	}
	return out, nil
}
