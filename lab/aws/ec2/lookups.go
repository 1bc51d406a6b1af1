package ec2

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/standin"
)

func networkFunctions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:ec2/getVpc:getVpc": {SDK: ec2.LookupVpc, Run: func(q *standin.Query) (standin.Props, error) {
			vpc, err := Found(q, VPCType, "EC2 VPC", standin.Props{
				"state": "available", "default": false, "ipv6CidrBlock": "", "ipv6AssociationId": "",
			})
			if err == nil {
				id := vpc.Str("id")
				vpc["cidrBlockAssociations"] = []any{map[string]any{
					"associationId": "vpc-cidr-assoc-0" + id[len(id)-16:], "cidrBlock": vpc["cidrBlock"], "state": "associated",
				}}
			}
			return vpc, err
		}},
		"aws:ec2/getSubnet:getSubnet":   {SDK: ec2.LookupSubnet, Run: getSubnet},
		"aws:ec2/getSubnets:getSubnets": {SDK: ec2.GetSubnets, Run: getSubnets},
		"aws:ec2/getSecurityGroup:getSecurityGroup": {SDK: ec2.LookupSecurityGroup, Run: func(q *standin.Query) (standin.Props, error) {
			return Found(q, SecurityGroupType, "EC2 Security Group", nil)
		}},
		"aws:ec2/getSecurityGroups:getSecurityGroups": {SDK: ec2.GetSecurityGroups, Run: getSecurityGroups},
		"aws:ec2/getInstanceType:getInstanceType":     {SDK: ec2.GetInstanceType, Run: getInstanceType},
		"aws:ec2/getVpcs:getVpcs": {SDK: ec2.GetVpcs, Run: func(q *standin.Query) (standin.Props, error) {
			return standin.Props{"id": q.Region, "ids": IDs(q, VPCType)}, nil
		}},
		"aws:ec2/getEips:getEips": {SDK: ec2.GetEips, Run: func(q *standin.Query) (standin.Props, error) {
			addresses := []any{}
			for r := range q.Cloud.Each(EIPType, q.Region) {
				if Matches(q, r) {
					addresses = append(addresses, r.Outputs["publicIp"])
				}
			}
			return standin.Props{"id": q.Region, "allocationIds": IDs(q, EIPType), "publicIps": addresses}, nil
		}},
	}
}

func getSubnet(q *standin.Query) (standin.Props, error) {
	return Found(q, SubnetType, "EC2 Subnet", standin.Props{
		"state": "available", "defaultForAz": false, "availableIpAddressCount": 251,
		"ipv6CidrBlock": "", "ipv6CidrBlockAssociationId": "", "customerOwnedIpv4Pool": "", "outpostArn": "",
		"enableLniAtDeviceIndex": 0, "mapCustomerOwnedIpOnLaunch": false,
	})
}

func getSubnets(q *standin.Query) (standin.Props, error) {
	return standin.Props{"id": q.Region, "ids": IDs(q, SubnetType)}, nil
}

// getSecurityGroups lists those that EC2 made by itself too.
func getSecurityGroups(q *standin.Query) (standin.Props, error) {
	ids, arns, networks, seen := []any{}, []any{}, []any{}, map[string]bool{}
	for r := range q.Cloud.Each(SecurityGroupType, q.Region) {
		if Matches(q, r) && !seen[r.ID] {
			ids, arns, networks = append(ids, r.ID), append(arns, r.Outputs["arn"]), append(networks, r.Inputs["vpcId"])
			seen[r.ID] = true
		}
	}
	return standin.Props{"id": q.Region, "ids": ids, "arns": arns, "vpcIds": networks}, nil
}

func getInstanceType(q *standin.Query) (standin.Props, error) {
	name := q.Args.Str("instanceType")
	if !KnownInstance(name) {
		return nil, fmt.Errorf("reading EC2 Instance Type (%s): operation error EC2: DescribeInstanceTypes, api error InvalidInstanceType: The following supplied instance types do not exist: [%s]", name, name)
	}
	vcpus, memory := instanceCapacity(name)
	arch := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[InstanceArch(name)]
	return standin.Props{
		"id": name, "instanceType": name, "defaultVcpus": vcpus, "memorySize": memory,
		"currentGeneration": true, "hypervisor": "nitro", "supportedArchitectures": []any{arch},
	}, nil
}
