package aws

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
)

const instanceType = "aws:ec2/instance:Instance"

// imageID of a machine image. What images there are, the stand-in does not know.
var imageID = regexp.MustCompile(`^ami-[0-9a-f]{8,17}$`)

func instanceTypes() map[string]*resourceType {
	return map[string]*resourceType{
		instanceType: {
			constructor: ec2.NewInstance,
			noun:        "EC2 Instance",
			api:         api{service: "EC2", create: "RunInstances", update: "ModifyInstanceAttribute", remove: "TerminateInstances"},
			// internal/service/ec2/ec2_instance.go
			forceNew: []string{
				"ami", "associatePublicIpAddress", "availabilityZone", "hibernation", "keyName", "networkInterfaces",
				"placementGroup", "privateIp", "subnetId", "tenancy",
			},
			defaults: props{"getPasswordData": false, "sourceDestCheck": true, "userDataReplaceOnChange": false},
			// Its network interface keeps subnet and groups from being deleted.
			references: []reference{
				{path: []string{"subnetId"}, to: subnetType, missing: missingSubnet()},
				{path: []string{"vpcSecurityGroupIds"}, to: securityGroupType, missing: missingGroup()},
			},
			create: createInstance,
			update: checkInstanceGroups,
			remove: func(c *call) error {
				if c.r.Inputs.boolean("disableApiTermination") {
					return c.refusef("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", c.r.ID)
				}
				return nil
			},
			takes: timing{create: 15 * time.Second, update: 5 * time.Second, remove: 40 * time.Second},
		},
	}
}

func createInstance(c *call) (string, error) {
	in, out := c.in(), c.out()
	subnet := c.find(subnetType, in.str("subnetId"))
	switch {
	case !in.has("ami") && !in.has("launchTemplate"):
		return "", c.refusef("MissingParameter", "The request must contain the parameter ImageId")
	case in.has("ami") && !imageID.MatchString(in.str("ami")):
		return "", c.refusef("InvalidAMIID.Malformed", "Invalid id: %q (expecting \"ami-...\")", in.str("ami"))
	case !knownInstance(cmp.Or(in.str("instanceType"), "m1.small")):
		return "", c.refusef("InvalidParameterValue", "Invalid value '%s' for InstanceType.", in.str("instanceType"))
	case subnet == nil:
		return "", c.refusef("MissingInput", "No subnets found for the default VPC. Please specify a subnet.")
	}
	if err := checkInstanceGroups(c); err != nil {
		return "", err
	}
	id := newID("i")
	address := hostAddress(subnet.Outputs.str("cidrBlock"), id)
	out["arn"], out["instanceState"] = c.arn("ec2", "instance/"+id), "running"
	out["primaryNetworkInterfaceId"] = newID("eni")
	out.setDefault("privateIp", address)
	out["privateDns"] = fmt.Sprintf("ip-%s.%s.compute.internal", dashed(out.str("privateIp")), c.region)
	out["availabilityZone"] = subnet.Outputs["availabilityZone"]
	out.setDefault("tenancy", "default")
	for _, key := range []string{"publicIp", "publicDns", "keyName", "outpostArn", "passwordData"} {
		out.setDefault(key, "")
	}
	if !in.has("vpcSecurityGroupIds") {
		out["vpcSecurityGroupIds"] = anys(c.find(vpcType, subnet.Inputs.str("vpcId")).Outputs.str("defaultSecurityGroupId"))
	}
	return id, nil
}

// checkInstanceGroups refuses security groups of another network.
func checkInstanceGroups(c *call) error {
	subnet := c.find(subnetType, c.in().str("subnetId"))
	for _, id := range c.in().list("vpcSecurityGroupIds") {
		if c.find(securityGroupType, id).Inputs.str("vpcId") != subnet.Inputs.str("vpcId") {
			return c.refusef("InvalidParameter", "Security group %s and subnet %s belong to different networks.", id, subnet.ID)
		}
	}
	return nil
}

func instanceFunctions() map[string]*function {
	return map[string]*function{
		"aws:ec2/getInstances:getInstances": {sdk: ec2.GetInstances, run: getInstances},
	}
}

// getInstances lists instances by state, which is running unless asked for
// another, by tags and by filters.
func getInstances(q *query) (props, error) {
	states := q.args.list("instanceStateNames")
	if len(states) == 0 {
		states = []string{"running"}
	}
	asked := props{"filters": q.args["filters"], "tags": q.args["instanceTags"]}
	ids, addresses := []any{}, []any{}
	for r := range q.cloud.each(instanceType, q.region) {
		if slices.Contains(states, r.Outputs.str("instanceState")) && (&query{call: q.call, args: asked}).matches(r) {
			ids, addresses = append(ids, r.ID), append(addresses, r.Outputs["privateIp"])
		}
	}
	return props{"id": q.region, "ids": ids, "privateIps": addresses, "publicIps": []any{}, "ipv6Addresses": []any{}}, nil
}
