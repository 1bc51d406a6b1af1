package aws

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
)

// interfaceType is the type of records that stand for network interfaces. None
// is kept: an interface is told by what it belongs to.
const interfaceType = "aws:ec2/networkInterface:NetworkInterface"

// interfaceFilters are the filters of DescribeNetworkInterfaces that the
// stand-in has the answers for. Source:
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeNetworkInterfaces.html
var interfaceFilters = []string{
	"availability-zone", "description", "interface-type", "network-interface-id",
	"owner-id", "private-ip-address", "subnet-id", "vpc-id",
}

func interfaceFunctions() map[string]*function {
	return map[string]*function{
		"aws:ec2/getNetworkInterface:getNetworkInterface": {sdk: ec2.LookupNetworkInterface, run: func(q *query) (props, error) {
			found, err := q.interfaces()
			if err != nil {
				return nil, err
			}
			r, err := only(found, "EC2 Network Interface")
			if err != nil {
				return nil, err
			}
			return withID(r), nil
		}},
		"aws:ec2/getNetworkInterfaces:getNetworkInterfaces": {sdk: ec2.GetNetworkInterfaces, run: func(q *query) (props, error) {
			found, err := q.interfaces()
			if err != nil {
				return nil, err
			}
			ids := []any{}
			for _, r := range found {
				ids = append(ids, r.ID)
			}
			return props{"id": q.region, "ids": ids}, nil
		}},
	}
}

// interfaces are the network interfaces that a lookup asks for, among those of
// mount targets: the stand-in does not tell of others.
func (q *query) interfaces() ([]*record, error) {
	for _, f := range q.args.objects("filters") {
		if !slices.Contains(interfaceFilters, f.str("name")) {
			return nil, fmt.Errorf("the AWS stand-in does not filter network interfaces by %s", f.str("name"))
		}
	}
	var found []*record
	for target := range q.cloud.each(mountTargetType, q.region) {
		if r := q.mountInterface(target); q.matches(r) {
			found = append(found, r)
		}
	}
	return found, nil
}

// mountInterface is the network interface of a mount target. EFS makes it with
// the target and without tags; the description says what it is for. Source:
// https://docs.aws.amazon.com/efs/latest/ug/API_CreateMountTarget.html
func (c *call) mountInterface(target *record) *record {
	id, address := target.Outputs.str("networkInterfaceId"), target.Outputs.str("ipAddress")
	system := c.find(fileSystemType, target.Inputs.str("fileSystemId"))
	subnet := c.find(subnetType, target.Inputs.str("subnetId"))
	return &record{Type: interfaceType, ID: id, Region: target.Region, Created: target.Created, Outputs: props{
		"arn":              c.arn("ec2", "network-interface/"+id),
		"availabilityZone": target.Outputs["availabilityZoneName"],
		"description":      fmt.Sprintf("EFS mount target for %s (%s)", system.ID, target.ID),
		"interfaceType":    "efs",
		"ownerId":          target.Outputs["ownerId"],
		"privateIp":        address,
		"privateIps":       anys(address),
		"securityGroups":   target.Outputs["securityGroups"],
		"subnetId":         subnet.ID,
		"vpcId":            subnet.Inputs["vpcId"],
		"associations":     []any{}, "attachments": []any{}, "ipv6Addresses": []any{}, "tags": map[string]any{},
	}}
}
