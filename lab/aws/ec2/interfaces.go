package ec2

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// interfaceFilters are the filters of DescribeNetworkInterfaces that the
// stand-in has the answers for; tags are others. Source:
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeNetworkInterfaces.html
var interfaceFilters = []string{
	"availability-zone", "description", "group-id", "interface-type", "network-interface-id", "owner-id", "private-ip-address",
	"requester-managed", "status", "subnet-id", "tag-key", "vpc-id",
}

func (n Neighbours) interfaceFunctions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:ec2/getNetworkInterface:getNetworkInterface": {SDK: ec2.LookupNetworkInterface, Run: func(q *standin.Query) (standin.Props, error) {
			found, err := n.interfacesFor(q)
			if err != nil {
				return nil, err
			}
			r, err := Only(found, "EC2 Network Interface")
			if err != nil {
				return nil, err
			}
			return standin.WithID(r), nil
		}},
		"aws:ec2/getNetworkInterfaces:getNetworkInterfaces": {SDK: ec2.GetNetworkInterfaces, Run: func(q *standin.Query) (standin.Props, error) {
			found, err := n.interfacesFor(q)
			if err != nil {
				return nil, err
			}
			ids := []any{}
			for _, r := range found {
				ids = append(ids, r.ID)
			}
			return standin.Props{"id": q.Region, "ids": ids}, nil
		}},
	}
}

// interfacesFor are the network interfaces that a lookup asks for.
func (n Neighbours) interfacesFor(q *standin.Query) ([]*standin.Record, error) {
	var group []string
	asked := q.Args.Clone()
	asked["filters"] = []any{}
	for _, f := range q.Args.Objects("filters") {
		name := f.Str("name")
		switch {
		case name == "group-id":
			group = f.List("values")
		case slices.Contains(interfaceFilters, name) || len(name) > 4 && name[:4] == "tag:":
			asked["filters"] = append(asked["filters"].([]any), map[string]any(f))
		default:
			return nil, fmt.Errorf("the AWS stand-in does not filter network interfaces by %s", name)
		}
	}
	selection := &standin.Query{Call: q.Call, Args: asked}
	var found []*standin.Record
	for _, r := range n.allInterfaces(q.Call) {
		inGroup := slices.ContainsFunc(r.Outputs.List("securityGroups"), func(id string) bool { return MatchesAny(group, id) })
		if Matches(selection, r) && (group == nil || inGroup) {
			found = append(found, r)
		}
	}
	return found, nil
}

// allInterfaces are those of the region, which AWS made with what needs them.
func (n Neighbours) allInterfaces(c *standin.Call) []*standin.Record {
	var all []*standin.Record
	for _, held := range append(n.Interfaces, natInterfaces, instanceInterfaces, endpointInterfaces) {
		all = append(all, held(c)...)
	}
	return all
}

// ImpliedInterface is a network interface that AWS makes and removes along with
// something else.
type ImpliedInterface struct {
	ID, Kind, Description, Address string
	Subnet                         *standin.Record
	Groups                         any
	// own: the user's, as those of instances; others are AWS's to manage.
	own  bool
	tags map[string]any
}

// Implied is the record of an interface of holder.
func Implied(c *standin.Call, holder *standin.Record, i ImpliedInterface) *standin.Record {
	if i.Address == "" {
		i.Address = HostAddress(i.Subnet.Outputs.Str("cidrBlock"), i.ID)
	}
	if i.Groups == nil {
		i.Groups = []any{}
	}
	if i.tags == nil {
		i.tags = map[string]any{}
	}
	return &standin.Record{Type: InterfaceType, ID: i.ID, Region: holder.Region, Created: holder.Created, Outputs: standin.Props{
		"arn":              account.ARN(c, "ec2", "network-interface/"+i.ID),
		"availabilityZone": i.Subnet.Outputs["availabilityZone"],
		"description":      i.Description,
		"interfaceType":    i.Kind,
		"ownerId":          c.Cloud.Account,
		"privateIp":        i.Address,
		"privateIps":       standin.Values(i.Address),
		"securityGroups":   i.Groups,
		"subnetId":         i.Subnet.ID,
		"vpcId":            i.Subnet.Inputs["vpcId"],
		"status":           "in-use",
		"requesterManaged": !i.own,
		"associations":     []any{}, "attachments": []any{}, "ipv6Addresses": []any{}, "tags": i.tags,
	}}
}

// DerivedID is the id of an interface that has no record, always the same.
func DerivedID(parts ...string) string {
	return fmt.Sprintf("eni-0%08x%08x", account.Hashed(parts...), account.Hashed(append(parts, "2")...))
}

func natInterfaces(c *standin.Call) (all []*standin.Record) {
	for nat := range c.Cloud.Each(NatType, c.Region) {
		all = append(all, Implied(c, nat, ImpliedInterface{
			ID: nat.Outputs.Str("networkInterfaceId"), Kind: "nat_gateway", Address: nat.Outputs.Str("privateIp"),
			Description: "Interface for NAT Gateway " + nat.ID, Subnet: c.Find(SubnetType, nat.Inputs.Str("subnetId")),
		}))
	}
	return all
}

// instanceInterfaces are those of instances that somebody runs. Nodes of
// managed groups are not told of: EKS takes them away with their group.
func instanceInterfaces(c *standin.Call) (all []*standin.Record) {
	for instance := range c.Cloud.Each(InstanceType, c.Region) {
		all = append(all, Implied(c, instance, ImpliedInterface{
			ID: instance.Outputs.Str("primaryNetworkInterfaceId"), Kind: "interface", Address: instance.Outputs.Str("privateIp"), own: true,
			Subnet: c.Find(SubnetType, instance.Inputs.Str("subnetId")), Groups: instance.Outputs["vpcSecurityGroupIds"],
			tags: instance.Outputs.Clone().Sub("tags"),
		}))
	}
	return all
}

func endpointInterfaces(c *standin.Call) (all []*standin.Record) {
	for endpoint := range c.Cloud.Each(EndpointType, c.Region) {
		ids := endpoint.Outputs.List("networkInterfaceIds")
		for i, subnet := range endpoint.Inputs.List("subnetIds") {
			if i >= len(ids) {
				break // a subnet that was added later
			}
			all = append(all, Implied(c, endpoint, ImpliedInterface{
				ID: ids[i], Kind: "vpc_endpoint", Description: "VPC Endpoint Interface " + endpoint.ID,
				Subnet: c.Find(SubnetType, subnet), Groups: endpoint.Inputs["securityGroupIds"],
			}))
		}
	}
	return all
}
