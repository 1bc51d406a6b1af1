package aws

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
)

const (
	eipType        = "aws:ec2/eip:Eip"
	natType        = "aws:ec2/natGateway:NatGateway"
	routeTableType = "aws:ec2/routeTable:RouteTable"
	routeType      = "aws:ec2/route:Route"
	tableLinkType  = "aws:ec2/routeTableAssociation:RouteTableAssociation"
)

// addressQuota is the default quota of Elastic IP addresses in a region:
// https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
const addressQuota = 5

func routingTypes() map[string]*resourceType {
	missingTable := refusal{code: "InvalidRouteTableID.NotFound", message: "The routeTable ID '%s' does not exist"}
	missingGateway := refusal{code: "InvalidGatewayID.NotFound", message: "The gateway ID '%s' does not exist"}
	missingNat := refusal{code: "InvalidNatGatewayID.NotFound", message: "NatGateway %s was not found"}
	return map[string]*resourceType{
		eipType: {
			constructor: ec2.NewEip,
			noun:        "EC2 EIP",
			api:         api{service: "EC2", create: "AllocateAddress", update: "AssociateAddress", remove: "ReleaseAddress"},
			// internal/service/ec2/ec2_eip.go
			forceNew: []string{"address", "customerOwnedIpv4Pool", "domain", "networkBorderGroup", "publicIpv4Pool"},
			inUse:    refusal{code: "InvalidIPAddress.InUse", message: "Address %s is in use."},
			create:   createAddress,
			takes:    timing{create: time.Second, remove: time.Second},
		},
		natType: {
			constructor: ec2.NewNatGateway,
			noun:        "EC2 NAT Gateway",
			api:         api{service: "EC2", create: "CreateNatGateway", update: "AssociateNatGatewayAddress", remove: "DeleteNatGateway"},
			// internal/service/ec2/vpc_nat_gateway.go
			forceNew: []string{"allocationId", "connectivityType", "privateIp", "subnetId"},
			defaults: props{"connectivityType": "public"},
			references: []reference{
				{path: []string{"subnetId"}, to: subnetType, missing: missingSubnet()},
				{path: []string{"allocationId"}, to: eipType, missing: refusal{
					code: "InvalidAllocationID.NotFound", message: "The allocation ID '%s' does not exist",
				}},
			},
			create: createNat,
			arn:    func(c *Cloud, r *record) string { return c.arn(r.Region, "ec2", "natgateway/"+r.ID) },
			// Users of the AWS provider report about two minutes for creation
			// and one for deletion.
			takes: timing{create: 100 * time.Second, remove: 60 * time.Second},
		},
		routeTableType: {
			constructor: ec2.NewRouteTable,
			noun:        "EC2 Route Table",
			api:         api{service: "EC2", create: "CreateRouteTable", update: "ReplaceRoute", remove: "DeleteRouteTable"},
			// internal/service/ec2/vpc_route_table.go
			forceNew:   []string{"vpcId"},
			references: []reference{toVpc()},
			inUse:      refusal{code: "DependencyViolation", message: "The routeTable '%s' has dependencies and cannot be deleted."},
			create: func(c *call) (string, error) {
				id := newID("rtb")
				c.out()["arn"], c.out()["ownerId"] = c.arn("ec2", "route-table/"+id), c.cloud.options.Account
				c.out().setDefault("routes", []any{})
				c.out().setDefault("propagatingVgws", []any{})
				return id, nil
			},
			takes: timing{create: time.Second, remove: time.Second},
		},
		routeType: {
			constructor: ec2.NewRoute,
			noun:        "Route in Route Table",
			api:         api{service: "EC2", create: "CreateRoute", update: "ReplaceRoute", remove: "DeleteRoute"},
			// internal/service/ec2/vpc_route.go
			forceNew: []string{"destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId", "routeTableId"},
			references: []reference{
				{path: []string{"routeTableId"}, to: routeTableType, missing: missingTable, cascade: true},
				{path: []string{"gatewayId"}, to: gatewayType, missing: missingGateway, weak: true},
				{path: []string{"natGatewayId"}, to: natType, missing: missingNat, weak: true},
			},
			validate: validateRoute,
			create:   createRoute,
			update: func(c *call) error {
				c.out()["state"] = "active"
				return routeInVpc(c)
			},
			identifies: func(r *record, id string) bool {
				return id == r.Inputs.str("routeTableId")+"_"+r.Inputs.str("destinationCidrBlock")
			},
			takes: timing{create: time.Second, remove: time.Second},
		},
		tableLinkType: {
			constructor: ec2.NewRouteTableAssociation,
			noun:        "Route Table Association",
			api:         api{service: "EC2", create: "AssociateRouteTable", update: "ReplaceRouteTableAssociation", remove: "DisassociateRouteTable"},
			// internal/service/ec2/vpc_route_table_association.go
			forceNew: []string{"gatewayId", "subnetId"},
			references: []reference{
				{path: []string{"routeTableId"}, to: routeTableType, missing: missingTable},
				{path: []string{"subnetId"}, to: subnetType, missing: missingSubnet(), cascade: true},
				{path: []string{"gatewayId"}, to: gatewayType, missing: missingGateway},
			},
			validate: func(in props) []problem { return exactlyOne(in, "subnetId", "gatewayId") },
			create:   createTableLink,
			identifies: func(r *record, id string) bool {
				return id == r.Inputs.str("subnetId")+"/"+r.Inputs.str("routeTableId")
			},
			takes: timing{create: time.Second, remove: time.Second},
		},
	}
}

// exactlyOne refuses inputs that have none or several of the keys.
func exactlyOne(in props, keys ...string) []problem {
	given := 0
	for _, key := range keys {
		if in.has(key) {
			given++
		}
	}
	if given == 1 {
		return nil
	}
	return []problem{{keys[0], fmt.Sprintf("Invalid combination of arguments. one of %v must be specified", keys)}}
}

func createAddress(c *call) (string, error) {
	taken := map[string]bool{}
	for r := range c.others() {
		taken[r.Outputs.str("publicIp")] = true
	}
	if len(taken) >= addressQuota {
		return "", c.refusef("AddressLimitExceeded", "The maximum number of addresses has been reached.")
	}
	// 198.51.100.0/24 is a block for documentation (RFC 5737).
	ip := ""
	for i := 1; ip == "" || taken[ip]; i++ {
		ip = fmt.Sprintf("198.51.100.%d", i)
	}
	id := newID("eipalloc")
	out := c.out()
	out["allocationId"], out["publicIp"], out["domain"], out["vpc"] = id, ip, "vpc", true
	out["arn"] = c.arn("ec2", "elastic-ip/"+id)
	out["networkBorderGroup"], out["publicIpv4Pool"] = c.region, "amazon"
	out["publicDns"] = fmt.Sprintf("ec2-%s.%s.compute.amazonaws.com", dashed(ip), c.region)
	for _, key := range []string{
		"associationId", "carrierIp", "customerOwnedIp", "instance", "ipamPoolId",
		"networkInterface", "privateDns", "privateIp", "ptrRecord",
	} {
		out.setDefault(key, "")
	}
	return id, nil
}

func createNat(c *call) (string, error) {
	allocation, subnet := c.in().str("allocationId"), c.find(subnetType, c.in().str("subnetId"))
	out := c.out()
	if c.in().str("connectivityType") == "public" {
		if allocation == "" {
			return "", c.refusef("MissingParameter", "The request must contain the parameter AllocationId for a public NAT gateway")
		}
		for r := range c.others() {
			if r.Inputs.str("allocationId") == allocation {
				return "", c.refusef("Resource.AlreadyAssociated", "Elastic IP address [%s] is already associated", allocation)
			}
		}
		if err := hasGateway(c, subnet); err != nil {
			return "", err
		}
		out["publicIp"] = c.find(eipType, allocation).Outputs.str("publicIp")
		out["associationId"] = newID("eipassoc")
	}
	id := newID("nat")
	out["networkInterfaceId"] = newID("eni")
	out.setDefault("privateIp", hostAddress(subnet.Outputs.str("cidrBlock"), id))
	out.setDefault("secondaryAllocationIds", []any{})
	out.setDefault("secondaryPrivateIpAddresses", []any{})
	out.setDefault("secondaryPrivateIpAddressCount", 0)
	return id, nil
}

// hasGateway refuses what EC2 reports when the gateway has failed: no way to
// the internet.
func hasGateway(c *call, subnet *record) error {
	vpc := subnet.Inputs.str("vpcId")
	for r := range c.cloud.each(gatewayType, c.region) {
		if r.Inputs.str("vpcId") == vpc {
			return nil
		}
	}
	return c.refusef("Gateway.NotAttached", "Network %s has no Internet gateway attached", vpc)
}

func validateRoute(in props) []problem {
	problems := exactlyOne(in, "destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId")
	problems = append(problems, exactlyOne(in, "gatewayId", "natGatewayId", "vpcEndpointId", "transitGatewayId",
		"networkInterfaceId", "vpcPeeringConnectionId", "egressOnlyGatewayId", "carrierGatewayId", "localGatewayId", "coreNetworkArn")...)
	if block := in.str("destinationCidrBlock"); block != "" {
		if prefix, err := netip.ParsePrefix(block); err != nil || prefix != prefix.Masked() {
			problems = append(problems, problem{"destinationCidrBlock", fmt.Sprintf("%q is not a valid IPv4 CIDR block", block)})
		}
	}
	return problems
}

func createRoute(c *call) (string, error) {
	table, destination := c.in().str("routeTableId"), c.in().str("destinationCidrBlock")
	for r := range c.others() {
		if r.Inputs.str("routeTableId") == table && r.Inputs.str("destinationCidrBlock") == destination {
			return "", c.refusef("RouteAlreadyExists", "The route identified by %s already exists.", destination)
		}
	}
	if err := routeInVpc(c); err != nil {
		return "", err
	}
	out := c.out()
	out["origin"], out["state"] = "CreateRoute", "active"
	out["instanceId"], out["instanceOwnerId"] = "", ""
	out.setDefault("networkInterfaceId", "")
	return fmt.Sprintf("r-%s%d", table, hashed(destination)), nil
}

// routeInVpc refuses a gateway of another network.
func routeInVpc(c *call) error {
	table := c.find(routeTableType, c.in().str("routeTableId"))
	vpc := table.Inputs.str("vpcId")
	if gateway := c.find(gatewayType, c.in().str("gatewayId")); gateway != nil && gateway.Inputs.str("vpcId") != vpc {
		return c.refusef("InvalidParameterValue", "route table %s and network gateway %s belong to different networks", table.ID, gateway.ID)
	}
	if nat := c.find(natType, c.in().str("natGatewayId")); nat != nil {
		if subnet := c.find(subnetType, nat.Inputs.str("subnetId")); subnet != nil && subnet.Inputs.str("vpcId") != vpc {
			return c.refusef("InvalidParameterValue", "route table %s and interface %s belong to different networks", table.ID, nat.ID)
		}
	}
	return nil
}

func createTableLink(c *call) (string, error) {
	table := c.find(routeTableType, c.in().str("routeTableId"))
	if id := c.in().str("subnetId"); id != "" {
		if subnet := c.find(subnetType, id); subnet.Inputs.str("vpcId") != table.Inputs.str("vpcId") {
			return "", c.refusef("InvalidParameterValue", "Route table %s and subnet %s belong to different networks", table.ID, id)
		}
		for r := range c.others() {
			if r.Inputs.str("subnetId") == id {
				return "", c.refusef("Resource.AlreadyAssociated", "the specified association for route table %s conflicts with an existing association", table.ID)
			}
		}
	}
	return newID("rtbassoc"), nil
}
