package ec2

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// AddressQuota is the default quota of Elastic IP addresses in a region:
// https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
const AddressQuota = 5

func routingTypes() map[string]*standin.Type {
	missingTable := standin.Refusal{Code: "InvalidRouteTableID.NotFound", Message: "The routeTable ID '%s' does not exist"}
	missingGateway := standin.Refusal{Code: "InvalidGatewayID.NotFound", Message: "The gateway ID '%s' does not exist"}
	missingNat := standin.Refusal{Code: "InvalidNatGatewayID.NotFound", Message: "NatGateway %s was not found"}
	return map[string]*standin.Type{
		EIPType: {
			Constructor:   ec2.NewEip,
			Noun:          "EC2 EIP",
			LimitExceeded: standin.Refusal{Code: "AddressLimitExceeded", Message: "The maximum number of addresses has been reached."},
			API:           standin.API{Service: "EC2", Create: "AllocateAddress", Update: "AssociateAddress", Remove: "ReleaseAddress"},
			// internal/service/ec2/ec2_eip.go
			ForceNew: []string{"address", "customerOwnedIpv4Pool", "domain", "networkBorderGroup", "publicIpv4Pool"},
			InUse:    standin.Refusal{Code: "InvalidIPAddress.InUse", Message: "Address %s is in use."},
			Create:   createAddress,
			Takes:    standin.Timing{Create: time.Second, Remove: time.Second},
		},
		NatType: {
			Constructor:   ec2.NewNatGateway,
			Noun:          "EC2 NAT Gateway",
			LimitExceeded: standin.Refusal{Code: "NatGatewayLimitExceeded", Message: "The maximum number of NAT Gateways has been reached."},
			API:           standin.API{Service: "EC2", Create: "CreateNatGateway", Update: "AssociateNatGatewayAddress", Remove: "DeleteNatGateway"},
			// internal/service/ec2/vpc_nat_gateway.go
			ForceNew: []string{"allocationId", "connectivityType", "privateIp", "subnetId"},
			Defaults: standin.Props{"connectivityType": "public"},
			References: []standin.Reference{
				{Path: []string{"subnetId"}, To: SubnetType, Missing: missingSubnet()},
				{Path: []string{"allocationId"}, To: EIPType, Missing: standin.Refusal{
					Code: "InvalidAllocationID.NotFound", Message: "The allocation ID '%s' does not exist",
				}},
			},
			Create: createNat,
			// Users of the AWS provider report about two minutes for creation
			// and one for deletion.
			Takes: standin.Timing{Create: 100 * time.Second, Remove: 60 * time.Second},
		},
		RouteTableType: {
			Constructor: ec2.NewRouteTable,
			Noun:        "EC2 Route Table",
			API:         standin.API{Service: "EC2", Create: "CreateRouteTable", Update: "ReplaceRoute", Remove: "DeleteRouteTable"},
			// internal/service/ec2/vpc_route_table.go
			ForceNew:   []string{"vpcId"},
			References: []standin.Reference{toVpc()},
			InUse:      standin.Refusal{Code: "DependencyViolation", Message: "The routeTable '%s' has dependencies and cannot be deleted."},
			Create: func(c *standin.Call) (string, error) {
				id := account.NewID("rtb")
				c.Out()["arn"], c.Out()["ownerId"] = account.ARN(c, "ec2", "route-table/"+id), c.Cloud.Account
				c.Out().SetDefaults(standin.Props{"routes": []any{}, "propagatingVgws": []any{}})
				return id, nil
			},
			Takes: standin.Timing{Create: time.Second, Remove: time.Second},
		},
		RouteType: {
			Constructor: ec2.NewRoute,
			Noun:        "Route in Route Table",
			API:         standin.API{Service: "EC2", Create: "CreateRoute", Update: "ReplaceRoute", Remove: "DeleteRoute"},
			// internal/service/ec2/vpc_route.go
			ForceNew: []string{"destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId", "routeTableId"},
			References: []standin.Reference{
				{Path: []string{"routeTableId"}, To: RouteTableType, Missing: missingTable, Cascade: true},
				{Path: []string{"gatewayId"}, To: GatewayType, Missing: missingGateway, Weak: true},
				{Path: []string{"natGatewayId"}, To: NatType, Missing: missingNat, Weak: true},
			},
			Validate: validateRoute,
			Put:      routeInVpc,
			Create:   createRoute,
			Identifies: func(r *standin.Record, id string) bool {
				return id == r.Inputs.Str("routeTableId")+"_"+r.Inputs.Str("destinationCidrBlock")
			},
			Takes: standin.Timing{Create: time.Second, Remove: time.Second},
		},
		TableLinkType: {
			Constructor: ec2.NewRouteTableAssociation,
			Noun:        "Route Table Association",
			API:         standin.API{Service: "EC2", Create: "AssociateRouteTable", Update: "ReplaceRouteTableAssociation", Remove: "DisassociateRouteTable"},
			// internal/service/ec2/vpc_route_table_association.go
			ForceNew: []string{"gatewayId", "subnetId"},
			References: []standin.Reference{
				{Path: []string{"routeTableId"}, To: RouteTableType, Missing: missingTable},
				{Path: []string{"subnetId"}, To: SubnetType, Missing: missingSubnet(), Cascade: true},
				{Path: []string{"gatewayId"}, To: GatewayType, Missing: missingGateway},
			},
			Validate: func(in standin.Props) []standin.Problem { return standin.ExactlyOne(in, "subnetId", "gatewayId") },
			Create:   createTableLink,
			Identifies: func(r *standin.Record, id string) bool {
				return id == r.Inputs.Str("subnetId")+"/"+r.Inputs.Str("routeTableId")
			},
			Takes: standin.Timing{Create: time.Second, Remove: time.Second},
		},
	}
}

func createAddress(c *standin.Call) (string, error) {
	taken := map[string]bool{}
	for r := range c.Others() {
		taken[r.Outputs.Str("publicIp")] = true
	}
	if len(taken) >= AddressQuota {
		return "", c.Refuse(c.Type.LimitExceeded)
	}
	// 198.51.100.0/24 is a block for documentation (RFC 5737).
	ip := ""
	for i := 1; ip == "" || taken[ip]; i++ {
		ip = fmt.Sprintf("198.51.100.%d", i)
	}
	id := account.NewID("eipalloc")
	out := c.Out()
	out["allocationId"], out["publicIp"], out["domain"], out["vpc"] = id, ip, "vpc", true
	out["arn"] = account.ARN(c, "ec2", "elastic-ip/"+id)
	out["networkBorderGroup"], out["publicIpv4Pool"] = c.Region, "amazon"
	out["publicDns"] = fmt.Sprintf("ec2-%s.%s.compute.amazonaws.com", Dashed(ip), c.Region)
	out.SetDefaults(standin.Props{
		"associationId": "", "carrierIp": "", "customerOwnedIp": "", "instance": "", "ipamPoolId": "",
		"networkInterface": "", "privateDns": "", "privateIp": "", "ptrRecord": "",
	})
	return id, nil
}

func createNat(c *standin.Call) (string, error) {
	allocation, subnet := c.In().Str("allocationId"), c.Find(SubnetType, c.In().Str("subnetId"))
	out := c.Out()
	if c.In().Str("connectivityType") == "public" {
		if allocation == "" {
			return "", c.Refusef("MissingParameter", "The request must contain the parameter AllocationId for a public NAT gateway")
		}
		if c.Other("allocationId", allocation) != nil {
			return "", c.Refusef("Resource.AlreadyAssociated", "Elastic IP address [%s] is already associated", allocation)
		}
		if err := HasGateway(c, subnet); err != nil {
			return "", err
		}
		out["publicIp"] = c.Find(EIPType, allocation).Outputs.Str("publicIp")
		out["associationId"] = account.NewID("eipassoc")
	}
	id := account.NewID("nat")
	out["networkInterfaceId"] = account.NewID("eni")
	out.SetDefault("privateIp", HostAddress(subnet.Outputs.Str("cidrBlock"), id))
	out.SetDefaults(standin.Props{"secondaryAllocationIds": []any{}, "secondaryPrivateIpAddresses": []any{}, "secondaryPrivateIpAddressCount": 0})
	return id, nil
}

// HasGateway refuses what EC2 reports when the gateway has failed: no way to
// the internet.
func HasGateway(c *standin.Call, subnet *standin.Record) error {
	vpc := subnet.Inputs.Str("vpcId")
	for r := range c.Cloud.Each(GatewayType, c.Region) {
		if r.Inputs.Str("vpcId") == vpc {
			return nil
		}
	}
	return c.Refusef("Gateway.NotAttached", "Network %s has no Internet gateway attached", vpc)
}

func validateRoute(in standin.Props) []standin.Problem {
	problems := standin.ExactlyOne(in, "destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId")
	problems = append(problems, standin.ExactlyOne(in, "gatewayId", "natGatewayId", "vpcEndpointId", "transitGatewayId",
		"networkInterfaceId", "vpcPeeringConnectionId", "egressOnlyGatewayId", "carrierGatewayId", "localGatewayId", "coreNetworkArn")...)
	if block := in.Str("destinationCidrBlock"); block != "" {
		if prefix, err := netip.ParsePrefix(block); err != nil || prefix != prefix.Masked() {
			problems = append(problems, standin.Problem{Path: "destinationCidrBlock", Reason: fmt.Sprintf("%q is not a valid IPv4 CIDR block", block)})
		}
	}
	return problems
}

func createRoute(c *standin.Call) (string, error) {
	table, destination := c.In().Str("routeTableId"), c.In().Str("destinationCidrBlock")
	for r := range c.Others() {
		if r.Inputs.Str("routeTableId") == table && r.Inputs.Str("destinationCidrBlock") == destination {
			return "", c.Refusef("RouteAlreadyExists", "The route identified by %s already exists.", destination)
		}
	}
	out := c.Out()
	out["origin"] = "CreateRoute"
	out["instanceId"], out["instanceOwnerId"] = "", ""
	out.SetDefault("networkInterfaceId", "")
	return fmt.Sprintf("r-%s%d", table, account.Hashed(destination)), nil
}

// routeInVpc refuses a gateway of another network.
func routeInVpc(c *standin.Call) error {
	table := c.Find(RouteTableType, c.In().Str("routeTableId"))
	vpc := table.Inputs.Str("vpcId")
	c.Out()["state"] = "active"
	if gateway := c.Find(GatewayType, c.In().Str("gatewayId")); gateway != nil && gateway.Inputs.Str("vpcId") != vpc {
		return c.Refusef("InvalidParameterValue", "route table %s and network gateway %s belong to different networks", table.ID, gateway.ID)
	}
	if nat := c.Find(NatType, c.In().Str("natGatewayId")); nat != nil {
		if subnet := c.Find(SubnetType, nat.Inputs.Str("subnetId")); subnet != nil && subnet.Inputs.Str("vpcId") != vpc {
			return c.Refusef("InvalidParameterValue", "route table %s and interface %s belong to different networks", table.ID, nat.ID)
		}
	}
	return nil
}

func createTableLink(c *standin.Call) (string, error) {
	table := c.Find(RouteTableType, c.In().Str("routeTableId"))
	if id := c.In().Str("subnetId"); id != "" {
		if subnet := c.Find(SubnetType, id); subnet.Inputs.Str("vpcId") != table.Inputs.Str("vpcId") {
			return "", c.Refusef("InvalidParameterValue", "Route table %s and subnet %s belong to different networks", table.ID, id)
		}
		if c.Other("subnetId", id) != nil {
			return "", c.Refusef("Resource.AlreadyAssociated", "the specified association for route table %s conflicts with an existing association", table.ID)
		}
	}
	return account.NewID("rtbassoc"), nil
}

// HostAddress picks an address in a block for something, always the same. EC2
// keeps the first four addresses and the last one of a subnet for itself.
func HostAddress(block string, parts ...string) string {
	prefix, err := netip.ParsePrefix(block)
	if err != nil || prefix.Bits() > 28 {
		return ""
	}
	base := prefix.Masked().Addr().As4()
	size := uint32(1) << (32 - prefix.Bits())
	var out [4]byte
	binary.BigEndian.PutUint32(out[:], binary.BigEndian.Uint32(base[:])+4+account.Hashed(parts...)%(size-5))
	return netip.AddrFrom4(out).String()
}

// Dashed turns 10.0.0.1 into 10-0-0-1, as in DNS names.
func Dashed(ip string) string { return strings.ReplaceAll(ip, ".", "-") }
