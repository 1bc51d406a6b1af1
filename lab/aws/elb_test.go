package aws

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/elb"
	"tombolo/lab/standin"
)

// balanced is a network with a load balancer that sends to a target group.
type balanced struct {
	*world
	front, balancer, target, listener *thing
}

func newBalanced(t *testing.T) *balanced {
	t.Helper()
	b := &balanced{world: newNetwork(t)}
	b.front = b.Add(ec2.SecurityGroupType, "front", props{"vpcId": b.vpc.ID})
	b.balancer = b.Add(elb.LoadBalancerType, "web", b.balancerArgs(nil))
	b.target = b.Add(elb.TargetGroupType, "web", props{"name": "web", "port": 80, "protocol": "TCP", "vpcId": b.vpc.ID})
	b.listener = b.Add(elb.ListenerType, "web", props{
		"loadBalancerArn": b.balancer.ID, "port": 80, "protocol": "TCP",
		"defaultActions": []any{map[string]any{"type": "forward", "targetGroupArn": b.target.ID}},
	})
	return b
}

func (w *world) balancerArgs(change props) props {
	args := props{
		"name": "web", "loadBalancerType": "network", "subnets": standin.Values(w.subnetA.ID, w.subnetB.ID),
		"tags": map[string]any{"kubernetes.io/cluster/demo": "owned"},
	}
	if len(w.Made) > 0 && w.Made[len(w.Made)-1].Name == "front" {
		args["securityGroups"] = standin.Values(w.Made[len(w.Made)-1].ID)
	}
	return standin.Merged(args, change)
}

// TestLoadBalancerHoldsItsNetwork: nothing of the network goes before the load
// balancer does.
func TestLoadBalancerHoldsItsNetwork(t *testing.T) {
	b := newBalanced(t)
	host := b.balancer.Out.Str("dnsName")
	assert.Check(t, strings.HasPrefix(host, "web-") && strings.HasSuffix(host, ".elb.eu-central-1.amazonaws.com"), "the host is %s", host)
	for want, x := range map[string]*thing{
		"api error DependencyViolation: resource " + b.front.ID + " has a dependent object":                       b.front,
		"api error DependencyViolation: The subnet '" + b.subnetA.ID + "' has dependencies and cannot be deleted": b.subnetA,
		"has some mapped public address(es)": b.gateway,
		"ResourceInUse: Target group '" + b.target.ID + "' is currently in use by a listener or a rule": b.target,
	} {
		refuses(t, b.Delete(x), want)
	}
	found, err := b.Invoke(manyInterfaces, filtered(map[string]string{"group-id": b.front.ID, "description": "ELB net/web/*"}))
	if err != nil || len(found.List("ids")) != 2 {
		t.Errorf("interfaces %v, %v", found["ids"], err)
	}
	assert.NilError(t, b.Delete(b.balancer))
	if slices.ContainsFunc(b.Cloud.Inventory(), func(i standin.Item) bool { return i.Type == elb.ListenerType }) {
		t.Error("the listener is left without its load balancer")
	}
	b.TakeDown()
}

func TestLoadBalancerRefusals(t *testing.T) {
	b := newBalanced(t)
	elsewhere := b.Make(ec2.VPCType, "other", props{"cidrBlock": "10.1.0.0/16"})
	lonely := b.Make(ec2.SubnetType, "lonely", props{"vpcId": elsewhere.ID, "cidrBlock": "10.1.0.0/24", "availabilityZone": "eu-central-1c"})
	foreign := b.Make(ec2.SecurityGroupType, "foreign", props{"vpcId": elsewhere.ID})
	twin := b.Make(ec2.SubnetType, "twin", props{"vpcId": b.vpc.ID, "cidrBlock": "10.0.9.0/24", "availabilityZone": "eu-central-1a"})
	for want, change := range map[string]props{
		"DuplicateLoadBalancerName: A load balancer with the same name 'web' exists":              {},
		"SubnetNotFound: The subnet ID 'subnet-1' does not exist":                                 {"name": "x", "subnets": standin.Values("subnet-1")},
		"InvalidSecurityGroup: The security group 'sg-1' does not exist":                          {"name": "x", "securityGroups": standin.Values("sg-1")},
		"InvalidConfigurationRequest: One or more security groups are invalid":                    {"name": "x", "securityGroups": standin.Values(foreign.ID)},
		"All subnets must belong to the same VPC":                                                 {"name": "x", "subnets": standin.Values(b.subnetB.ID, lonely.ID)},
		"InvalidSubnet: VPC " + elsewhere.ID + " has no internet gateway":                         {"name": "x", "subnets": standin.Values(lonely.ID)},
		"cannot be attached to multiple subnets in the same Availability Zone":                    {"name": "x", "subnets": standin.Values(b.subnetA.ID, twin.ID)},
		"At least two subnets in two different Availability Zones must be specified":              {"name": "x", "loadBalancerType": "application", "subnets": standin.Values(b.subnetA.ID)},
		"ValidationError: At least one subnet must be specified":                                  {"name": "x", "subnets": []any{}},
		`"name" cannot begin with "internal-"`:                                                    {"name": "internal-x"},
		"only alphanumeric characters and hyphens allowed":                                        {"name": "x_y"},
		`expected loadBalancerType to be one of ["application" "network" "gateway"], got classic`: {"name": "x", "loadBalancerType": "classic"},
	} {
		b.denied(elb.LoadBalancerType, b.balancerArgs(change), want)
	}
	kept := b.Make(elb.LoadBalancerType, "kept", b.balancerArgs(props{"name": "kept", "enableDeletionProtection": true}))
	refuses(t, b.Delete(kept), "cannot be deleted because deletion protection is enabled")
	b.denied(elb.TargetGroupType, props{"name": "web", "port": 80, "protocol": "TCP", "vpcId": b.vpc.ID}, "DuplicateTargetGroupName: A target group with the same name 'web' exists")
	b.denied(elb.TargetGroupType, props{"name": "vague", "vpcId": b.vpc.ID, "protocol": "TCP"}, "port")
	b.denied(elb.ListenerType, b.listener.In, "DuplicateListener: A listener already exists on this port")
}
