package ec2

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// InstanceType is the type of instances.
const InstanceType = "aws:ec2/instance:Instance"

// imageID of a machine image. What images there are, the stand-in does not know.
var imageID = regexp.MustCompile(`^ami-[0-9a-f]{8,17}$`)

func instanceTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		InstanceType: {
			Constructor: ec2.NewInstance,
			Noun:        "EC2 Instance",
			API:         standin.API{Service: "EC2", Create: "RunInstances", Update: "ModifyInstanceAttribute", Remove: "TerminateInstances"},
			// internal/service/ec2/ec2_instance.go
			ForceNew: []string{
				"ami", "associatePublicIpAddress", "availabilityZone", "hibernation", "keyName", "networkInterfaces",
				"placementGroup", "privateIp", "subnetId", "tenancy",
			},
			Defaults: standin.Props{"getPasswordData": false, "sourceDestCheck": true, "userDataReplaceOnChange": false},
			// Its network interface keeps subnet and groups from being deleted.
			References: []standin.Reference{
				{Path: []string{"subnetId"}, To: SubnetType, Missing: missingSubnet()},
				{Path: []string{"vpcSecurityGroupIds"}, To: SecurityGroupType, Missing: missingGroup()},
			},
			Create: createInstance,
			Update: checkInstanceGroups,
			Remove: func(c *standin.Call) error {
				if c.Record.Inputs.Boolean("disableApiTermination") {
					return c.Refusef("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", c.Record.ID)
				}
				return nil
			},
			Takes: standin.Timing{Create: 15 * time.Second, Update: 5 * time.Second, Remove: 40 * time.Second},
		},
	}
}

func createInstance(c *standin.Call) (string, error) {
	in, out := c.In(), c.Out()
	subnet := c.Find(SubnetType, in.Str("subnetId"))
	switch {
	case !in.Has("ami") && !in.Has("launchTemplate"):
		return "", c.Refusef("MissingParameter", "The request must contain the parameter ImageId")
	case in.Has("ami") && !imageID.MatchString(in.Str("ami")):
		return "", c.Refusef("InvalidAMIID.Malformed", "Invalid id: %q (expecting \"ami-...\")", in.Str("ami"))
	case !KnownInstance(cmp.Or(in.Str("instanceType"), "m1.small")):
		return "", c.Refusef("InvalidParameterValue", "Invalid value '%s' for InstanceType.", in.Str("instanceType"))
	case subnet == nil:
		return "", c.Refusef("MissingInput", "No subnets found for the default VPC. Please specify a subnet.")
	}
	if err := checkInstanceGroups(c); err != nil {
		return "", err
	}
	id := account.NewID("i")
	address := HostAddress(subnet.Outputs.Str("cidrBlock"), id)
	out["arn"], out["instanceState"] = account.ARN(c, "ec2", "instance/"+id), "running"
	out["primaryNetworkInterfaceId"] = account.NewID("eni")
	out.SetDefault("privateIp", address)
	out["privateDns"] = fmt.Sprintf("ip-%s.%s.compute.internal", Dashed(out.Str("privateIp")), c.Region)
	out["availabilityZone"] = subnet.Outputs["availabilityZone"]
	out.SetDefault("tenancy", "default")
	for _, key := range []string{"publicIp", "publicDns", "keyName", "outpostArn", "passwordData"} {
		out.SetDefault(key, "")
	}
	if !in.Has("vpcSecurityGroupIds") {
		out["vpcSecurityGroupIds"] = standin.Values(c.Find(VPCType, subnet.Inputs.Str("vpcId")).Outputs.Str("defaultSecurityGroupId"))
	}
	return id, nil
}

// checkInstanceGroups refuses security groups of another network.
func checkInstanceGroups(c *standin.Call) error {
	subnet := c.Find(SubnetType, c.In().Str("subnetId"))
	if id := Foreign(c, SecurityGroupType, "vpcSecurityGroupIds", subnet.Inputs.Str("vpcId")); id != "" {
		return c.Refusef("InvalidParameter", "Security group %s and subnet %s belong to different networks.", id, subnet.ID)
	}
	return nil
}

func instanceFunctions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:ec2/getInstances:getInstances": {SDK: ec2.GetInstances, Run: getInstances},
	}
}

// getInstances lists instances by state, which is running unless asked for
// another, by tags and by filters.
func getInstances(q *standin.Query) (standin.Props, error) {
	states := q.Args.List("instanceStateNames")
	if len(states) == 0 {
		states = []string{"running"}
	}
	asked := standin.Props{"filters": q.Args["filters"], "tags": q.Args["instanceTags"]}
	ids, addresses := []any{}, []any{}
	for r := range q.Cloud.Each(InstanceType, q.Region) {
		if slices.Contains(states, r.Outputs.Str("instanceState")) && Matches((&standin.Query{Call: q.Call, Args: asked}), r) {
			ids, addresses = append(ids, r.ID), append(addresses, r.Outputs["privateIp"])
		}
	}
	return standin.Props{"id": q.Region, "ids": ids, "privateIps": addresses, "publicIps": []any{}, "ipv6Addresses": []any{}}, nil
}
