package aws

import (
	"fmt"
	"slices"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
)

// interfaceType is the type of network interfaces. Those that AWS makes along
// with something else are not kept: they are told by what they belong to.
const interfaceType = "aws:ec2/networkInterface:NetworkInterface"

// interfaceFilters are the filters of DescribeNetworkInterfaces that the
// stand-in has the answers for; tags are others. Source:
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeNetworkInterfaces.html
var interfaceFilters = []string{
	"availability-zone", "description", "group-id", "interface-type", "network-interface-id", "owner-id", "private-ip-address",
	"requester-managed", "status", "subnet-id", "tag-key", "vpc-id",
}

func interfaceTypes() map[string]*resourceType {
	return map[string]*resourceType{
		interfaceType: {
			constructor: ec2.NewNetworkInterface,
			noun:        "EC2 Network Interface",
			api:         api{service: "EC2", create: "CreateNetworkInterface", update: "ModifyNetworkInterfaceAttribute", remove: "DeleteNetworkInterface"},
			// internal/service/ec2/vpc_network_interface.go
			forceNew: []string{"interfaceType", "subnetId"},
			defaults: props{"sourceDestCheck": true},
			references: []reference{
				{path: []string{"subnetId"}, to: subnetType, missing: missingSubnet()},
				{path: []string{"securityGroups"}, to: securityGroupType, missing: missingGroup()},
				{path: []string{"attachments", "instance"}, to: instanceType, cascade: true, missing: refusal{
					code: "InvalidInstanceID.NotFound", message: "The instance ID '%s' does not exist",
				}},
			},
			create: createInterface,
			update: checkInterfaceGroups,
			takes:  timing{create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second},
		},
	}
}

func createInterface(c *call) (string, error) {
	if err := checkInterfaceGroups(c); err != nil {
		return "", err
	}
	subnet := c.find(subnetType, c.in().str("subnetId"))
	id, out := newID("eni"), c.out()
	out["arn"], out["ownerId"] = c.arn("ec2", "network-interface/"+id), c.cloud.options.Account
	out.setDefault("privateIp", hostAddress(subnet.Outputs.str("cidrBlock"), id))
	out.setDefault("privateIps", anys(out.str("privateIp")))
	out["privateDnsName"] = fmt.Sprintf("ip-%s.%s.compute.internal", dashed(out.str("privateIp")), c.region)
	sum := hashed(id)
	out["macAddress"] = fmt.Sprintf("06:00:%02x:%02x:%02x:%02x", byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
	out.setDefault("interfaceType", "interface")
	for _, key := range []string{"description", "outpostArn"} {
		out.setDefault(key, "")
	}
	for _, key := range []string{"attachments", "ipv6Addresses"} {
		out.setDefault(key, []any{})
	}
	out.setDefault("securityGroups", anys(c.find(vpcType, subnet.Inputs.str("vpcId")).Outputs.str("defaultSecurityGroupId")))
	return id, nil
}

// checkInterfaceGroups refuses security groups of another network.
func checkInterfaceGroups(c *call) error {
	subnet := c.find(subnetType, c.in().str("subnetId"))
	for _, id := range c.in().list("securityGroups") {
		if c.find(securityGroupType, id).Inputs.str("vpcId") != subnet.Inputs.str("vpcId") {
			return c.refusef("InvalidGroup.NotFound", "The security group '%s' does not exist in VPC '%s'", id, subnet.Inputs.str("vpcId"))
		}
	}
	return nil
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

// interfaces are the network interfaces that a lookup asks for.
func (q *query) interfaces() ([]*record, error) {
	var group []string
	asked := q.args.clone()
	asked["filters"] = []any{}
	for _, f := range q.args.objects("filters") {
		name := f.str("name")
		switch {
		case name == "group-id":
			group = f.list("values")
		case slices.Contains(interfaceFilters, name) || len(name) > 4 && name[:4] == "tag:":
			asked["filters"] = append(asked["filters"].([]any), map[string]any(f))
		default:
			return nil, fmt.Errorf("the AWS stand-in does not filter network interfaces by %s", name)
		}
	}
	selection := &query{call: q.call, args: asked}
	var found []*record
	for _, r := range q.allInterfaces() {
		inGroup := slices.ContainsFunc(r.Outputs.list("securityGroups"), func(id string) bool { return matchesAny(group, id) })
		if selection.matches(r) && (group == nil || inGroup) {
			found = append(found, r)
		}
	}
	return found, nil
}

// allInterfaces are those of the region: a program's own, and the ones that AWS
// made with what needs them.
func (c *call) allInterfaces() []*record {
	var all []*record
	for r := range c.cloud.each(interfaceType, c.region) {
		status := "available"
		if len(r.Inputs.objects("attachments")) > 0 {
			status = "in-use"
		}
		subnet := c.find(subnetType, r.Inputs.str("subnetId"))
		own := r.clone()
		own.Outputs = merged(own.Outputs, props{
			"availabilityZone": subnet.Outputs["availabilityZone"], "vpcId": subnet.Inputs["vpcId"],
			"status": status, "requesterManaged": false, "associations": []any{},
		})
		own.Outputs.setDefault("tags", map[string]any{})
		all = append(all, own)
	}
	return slices.Concat(all, c.mountInterfaces(), c.natInterfaces(), c.balancerInterfaces(), c.clusterInterfaces(), c.instanceInterfaces(), c.endpointInterfaces())
}
