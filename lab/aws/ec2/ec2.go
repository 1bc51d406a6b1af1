// Package ec2 is EC2 in the stand-in: networks, and the machines, disks and
// interfaces in them.
package ec2

import (
	"maps"

	"tombolo/lab/standin"
)

// Types are networks, and what is in them.
func Types(n Neighbours) map[string]*standin.Type {
	types := n.networkTypes()
	for _, more := range []map[string]*standin.Type{
		routingTypes(), endpointTypes(), flowLogTypes(), firewallTypes(), computeTypes(), taggingTypes(), diskTypes(), instanceTypes(),
	} {
		maps.Copy(types, more)
	}
	return types
}

// Functions look up networks, and what is in them.
func Functions(n Neighbours) map[string]*standin.Function {
	functions := n.interfaceFunctions()
	maps.Copy(functions, networkFunctions())
	return functions
}

// LaunchTemplateType is the type of launch templates.
const LaunchTemplateType = "aws:ec2/launchTemplate:LaunchTemplate"

// VolumeType is the type of EBS volumes.
const VolumeType = "aws:ebs/volume:Volume"

// EndpointType is the type of VPC endpoints.
const EndpointType = "aws:ec2/vpcEndpoint:VpcEndpoint"

// The types of security groups and of their rules.
const (
	SecurityGroupType = "aws:ec2/securityGroup:SecurityGroup"
	GroupRuleType     = "aws:ec2/securityGroupRule:SecurityGroupRule"
	IngressRuleType   = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
	EgressRuleType    = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
	DefaultGroupType  = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
)

// InterfaceType is the type of network interfaces. AWS makes them along with
// something else, and they are not kept: they are told by what they belong to.
const InterfaceType = "aws:ec2/networkInterface:NetworkInterface"

// InstanceType is the type of instances.
const InstanceType = "aws:ec2/instance:Instance"

// The types of addresses and routes.
const (
	EIPType        = "aws:ec2/eip:Eip"
	NatType        = "aws:ec2/natGateway:NatGateway"
	RouteTableType = "aws:ec2/routeTable:RouteTable"
	RouteType      = "aws:ec2/route:Route"
	TableLinkType  = "aws:ec2/routeTableAssociation:RouteTableAssociation"
)

// TagType is the type of tags that stand by themselves.
const TagType = "aws:ec2/tag:Tag"

// The types of networks.
const (
	VPCType     = "aws:ec2/vpc:Vpc"
	SubnetType  = "aws:ec2/subnet:Subnet"
	GatewayType = "aws:ec2/internetGateway:InternetGateway"
)

// Neighbours are what other services have in the networks of EC2.
type Neighbours struct {
	// Interfaces lists the network interfaces that a service holds in the region
	// of a call.
	Interfaces []func(c *standin.Call) []*standin.Record
	// Public reports whether a service has a public address in a VPC.
	Public []func(c *standin.Call, vpc string) bool
}
