package aws

import "fmt"

// impliedInterface is a network interface that AWS makes and removes along with
// something else.
type impliedInterface struct {
	id, kind, description, address string
	subnet                         *record
	groups                         any
	// own: the user's, as those of instances; others are AWS's to manage.
	own  bool
	tags map[string]any
}

// record of an interface of holder.
func (c *call) implied(holder *record, i impliedInterface) *record {
	if i.address == "" {
		i.address = hostAddress(i.subnet.Outputs.str("cidrBlock"), i.id)
	}
	if i.groups == nil {
		i.groups = []any{}
	}
	if i.tags == nil {
		i.tags = map[string]any{}
	}
	return &record{Type: interfaceType, ID: i.id, Region: holder.Region, Created: holder.Created, Outputs: props{
		"arn":              c.arn("ec2", "network-interface/"+i.id),
		"availabilityZone": i.subnet.Outputs["availabilityZone"],
		"description":      i.description,
		"interfaceType":    i.kind,
		"ownerId":          c.cloud.options.Account,
		"privateIp":        i.address,
		"privateIps":       anys(i.address),
		"securityGroups":   i.groups,
		"subnetId":         i.subnet.ID,
		"vpcId":            i.subnet.Inputs["vpcId"],
		"status":           "in-use",
		"requesterManaged": !i.own,
		"associations":     []any{}, "attachments": []any{}, "ipv6Addresses": []any{}, "tags": i.tags,
	}}
}

// derivedID is the id of an interface that has no record, always the same.
func derivedID(parts ...string) string {
	return fmt.Sprintf("eni-0%08x%08x", hashed(parts...), hashed(append(parts, "2")...))
}

// mountInterfaces are those of mount targets. EFS makes one with the target and
// without tags; the description says what it is for. Source:
// https://docs.aws.amazon.com/efs/latest/ug/API_CreateMountTarget.html
func (c *call) mountInterfaces() (all []*record) {
	for target := range c.cloud.each(mountTargetType, c.region) {
		system := c.find(fileSystemType, target.Inputs.str("fileSystemId"))
		all = append(all, c.implied(target, impliedInterface{
			id: target.Outputs.str("networkInterfaceId"), kind: "efs", address: target.Outputs.str("ipAddress"),
			description: fmt.Sprintf("EFS mount target for %s (%s)", system.ID, target.ID),
			subnet:      c.find(subnetType, target.Inputs.str("subnetId")), groups: target.Outputs["securityGroups"],
		}))
	}
	return all
}

func (c *call) natInterfaces() (all []*record) {
	for nat := range c.cloud.each(natType, c.region) {
		all = append(all, c.implied(nat, impliedInterface{
			id: nat.Outputs.str("networkInterfaceId"), kind: "nat_gateway", address: nat.Outputs.str("privateIp"),
			description: "Interface for NAT Gateway " + nat.ID, subnet: c.find(subnetType, nat.Inputs.str("subnetId")),
		}))
	}
	return all
}

// balancerInterfaces are one in each subnet of a load balancer. Source:
// https://docs.aws.amazon.com/elasticloadbalancing/latest/application/application-load-balancers.html
func (c *call) balancerInterfaces() (all []*record) {
	for balancer := range c.cloud.each(loadBalancerType, c.region) {
		kind := "interface"
		if balancer.Inputs.str("loadBalancerType") == "network" {
			kind = "network_load_balancer"
		}
		for _, id := range balancerSubnets(balancer) {
			all = append(all, c.implied(balancer, impliedInterface{
				id: derivedID(balancer.ID, id), kind: kind, description: "ELB " + balancer.Outputs.str("arnSuffix"),
				subnet: c.find(subnetType, id), groups: balancer.Outputs["securityGroups"],
			}))
		}
	}
	return all
}

// clusterInterfaces are those by which a control plane reaches the nodes.
// Source: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
func (c *call) clusterInterfaces() (all []*record) {
	for cluster := range c.cloud.each(clusterType, c.region) {
		config := cluster.Outputs.sub("vpcConfig")
		groups := append(anys(config.list("securityGroupIds")...), config.str("clusterSecurityGroupId"))
		for _, id := range config.list("subnetIds") {
			all = append(all, c.implied(cluster, impliedInterface{
				id: derivedID(cluster.ID, id), kind: "interface", description: "Amazon EKS " + cluster.ID,
				subnet: c.find(subnetType, id), groups: groups,
			}))
		}
	}
	return all
}

// instanceInterfaces are those of instances that somebody runs. Nodes of
// managed groups are not told of: EKS takes them away with their group.
func (c *call) instanceInterfaces() (all []*record) {
	for instance := range c.cloud.each(instanceType, c.region) {
		all = append(all, c.implied(instance, impliedInterface{
			id: instance.Outputs.str("primaryNetworkInterfaceId"), kind: "interface", address: instance.Outputs.str("privateIp"), own: true,
			subnet: c.find(subnetType, instance.Inputs.str("subnetId")), groups: instance.Outputs["vpcSecurityGroupIds"],
			tags: instance.Outputs.clone().sub("tags"),
		}))
	}
	return all
}

func (c *call) endpointInterfaces() (all []*record) {
	for endpoint := range c.cloud.each(endpointType, c.region) {
		ids := endpoint.Outputs.list("networkInterfaceIds")
		for i, subnet := range endpoint.Inputs.list("subnetIds") {
			if i >= len(ids) {
				break // a subnet that was added later
			}
			all = append(all, c.implied(endpoint, impliedInterface{
				id: ids[i], kind: "vpc_endpoint", description: "VPC Endpoint Interface " + endpoint.ID,
				subnet: c.find(subnetType, subnet), groups: endpoint.Inputs["securityGroupIds"],
			}))
		}
	}
	return all
}
