package aws

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/efs"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/kms"
	"tombolo/lab/aws/logs"
	"tombolo/lab/standin"
)

// TestDeleteAGroupThatOthersLetIn needs the rules of others to go first, which
// the provider sees to where it is asked to.
func TestDeleteAGroupThatOthersLetIn(t *testing.T) {
	w := newNetwork(t)
	balancer := w.Make(ec2.SecurityGroupType, "balancer", props{"vpcId": w.vpc.ID})
	nodes := w.Make(ec2.SecurityGroupType, "nodes", props{"vpcId": w.vpc.ID})
	w.Make(ec2.IngressRuleType, "in", props{
		"securityGroupId": nodes.ID, "referencedSecurityGroupId": balancer.ID, "ipProtocol": "tcp", "fromPort": 80.0, "toPort": 80.0,
	})
	refuses(t, w.Delete(balancer), "api error DependencyViolation: resource "+balancer.ID+" has a dependent object")
	balancer.Out["revokeRulesOnDelete"] = true
	assert.NilError(t, w.Delete(balancer))
	err := w.Delete(nodes)
	assert.Check(t, err == nil, "the rule is still there: %v", err)
}

// TestAGroupOfAnotherNetwork is let in to none: the lab peers no networks.
func TestAGroupOfAnotherNetwork(t *testing.T) {
	w := newNetwork(t)
	other := w.Make(ec2.VPCType, "other", props{"cidrBlock": "10.9.0.0/16"})
	runners := w.Make(ec2.SecurityGroupType, "runners", props{"vpcId": other.ID})
	nodes := w.Make(ec2.SecurityGroupType, "nodes", props{"vpcId": w.vpc.ID})
	rule := func(id string) props {
		return props{"securityGroupId": nodes.ID, "referencedSecurityGroupId": id, "ipProtocol": "tcp", "fromPort": 443.0, "toPort": 443.0}
	}
	w.denied(ec2.IngressRuleType, rule(runners.ID), "api error InvalidGroup.NotFound: You have specified two resources that belong to different networks.")
	w.denied(ec2.IngressRuleType, rule("sg-0a1b2c3d"), "api error InvalidGroup.NotFound: The security group 'sg-0a1b2c3d' does not exist")
	w.Make(ec2.IngressRuleType, "self", rule(nodes.ID))
}

// TestAdmits: addresses are let in by the rules of their blocks, and by nothing else.
func TestAdmits(t *testing.T) {
	w := newNetwork(t)
	group := w.Make(ec2.SecurityGroupType, "cluster", props{"vpcId": w.vpc.ID})
	w.Make(ec2.IngressRuleType, "self", props{"securityGroupId": group.ID, "referencedSecurityGroupId": group.ID, "ipProtocol": "-1"})
	w.Make(ec2.IngressRuleType, "vpn", props{"securityGroupId": group.ID, "cidrIpv4": "10.8.0.0/16", "ipProtocol": "tcp", "fromPort": 443.0, "toPort": 443.0})
	w.Make(ec2.GroupRuleType, "out", props{"securityGroupId": group.ID, "type": "egress", "cidrBlocks": []any{"0.0.0.0/0"}, "protocol": "-1", "fromPort": 0.0, "toPort": 0.0})
	for _, test := range []struct {
		from string
		port int
		want bool
	}{{"10.8.0.10", 443, true}, {"10.9.0.10", 443, false}, {"10.8.0.10", 22, false}} {
		assert.Check(t, is.Equal(ec2.Admits(w.Cloud, "eu-central-1", group.ID, netip.MustParseAddr(test.from), test.port), test.want), "%v %v", test.from, test.port)
	}
	assert.Check(t, !ec2.Admits(w.Cloud, "eu-west-1", group.ID, netip.MustParseAddr("10.8.0.10"), 443))
}

// In China some services have names of their own, and no others.
func TestEndpointServicesInChina(t *testing.T) {
	a := newAccount(t)
	a.Configure(props{"region": "cn-north-1"})
	vpc := a.Make(ec2.VPCType, "vpc", props{"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": true})
	endpoint := func(service, kind string) props {
		return props{"vpcId": vpc.ID, "serviceName": service, "vpcEndpointType": kind}
	}
	for _, service := range []string{"cn.com.amazonaws.cn-north-1.ecr.api", "cn.com.amazonaws.cn-north-1.sts", "com.amazonaws.cn-north-1.logs"} {
		a.Make(ec2.EndpointType, service, endpoint(service, "Interface"))
	}
	a.Make(ec2.EndpointType, "s3", endpoint("com.amazonaws.cn-north-1.s3", "Gateway"))
	for _, service := range []string{"com.amazonaws.cn-north-1.ec2", "com.amazonaws.cn-north-1.ecr.dkr", "cn.com.amazonaws.cn-north-1.logs", "cn.com.amazonaws.eu-central-1.ec2"} {
		a.denied(ec2.EndpointType, endpoint(service, "Interface"), "api error InvalidServiceName: The Vpc Endpoint Service '"+service+"' does not exist")
	}
}

// TestFlowLogRefusals: EC2 refuses some flow logs, and of others nothing would arrive.
func TestFlowLogRefusals(t *testing.T) {
	flowLog := func(w *world, change props) props {
		group := w.Make(logs.LogGroupType, "flows", props{"name": "/aws/vpc/net/flow-logs"})
		role := w.Make(iam.RoleType, "flows", props{
			"assumeRolePolicy": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"vpc-flow-logs.amazonaws.com"},"Action":["sts:AssumeRole"]}]}`,
		})
		in := props{"vpcId": w.vpc.ID, "trafficType": "ALL", "logDestination": group.Out["arn"], "iamRoleArn": role.Out["arn"]}
		return standin.Merged(in, change)
	}
	w := newWorld(t)
	in := flowLog(w, nil)
	w.Make(ec2.FlowLogType, "first", in)
	w.denied(ec2.FlowLogType, in, "FlowLogAlreadyExists: Error. There is an existing Flow Log")
	w.denied(ec2.FlowLogType, standin.Merged(in, props{"trafficType": "REJECT", "vpcId": "vpc-0123456789abcdef0"}), "InvalidVpcID.NotFound")
	w.denied(ec2.FlowLogType, standin.Merged(in, props{"trafficType": "REJECT", "iamRoleArn": w.nodeRole.Out["arn"]}), "vpc-flow-logs.amazonaws.com cannot assume it")
	w.denied(ec2.FlowLogType, standin.Merged(in, props{"trafficType": "REJECT", "iamRoleArn": ""}), "DeliverLogsPermissionArn can't be empty")
	w.denied(ec2.FlowLogType, standin.Merged(in, props{"trafficType": "REJECT", "logDestination": "arn:aws:logs:eu-central-1:111122223333:log-group:/other"}), "there is no log group /other")
	bucket := props{"logDestinationType": "s3", "logDestination": "arn:aws:s3:::logs"}
	w.denied(ec2.FlowLogType, standin.Merged(in, bucket), "DeliverLogsPermissionArn is not applicable for s3 delivery")
	for _, folder := range []string{"/AWSLogs", "/AWSLogs/", "/vpc/AWSLogs/demo"} {
		w.denied(ec2.FlowLogType, standin.Merged(in, standin.Merged(bucket, props{"iamRoleArn": "", "logDestination": "arn:aws:s3:::logs" + folder})), "AWSLogs is a reserved term")
	}
	w.Make(ec2.FlowLogType, "to a folder", standin.Merged(in, standin.Merged(bucket, props{"iamRoleArn": "", "logDestination": "arn:aws:s3:::logs/awslogs/"})))
	w.Make(ec2.FlowLogType, "to a bucket", standin.Merged(in, standin.Merged(bucket, props{"iamRoleArn": ""})))
}

const (
	oneInterface   = "aws:ec2/getNetworkInterface:getNetworkInterface"
	manyInterfaces = "aws:ec2/getNetworkInterfaces:getNetworkInterfaces"
)

// filtered asks with filters of one value each.
func filtered(filters map[string]string) props {
	list := []any{}
	for name, value := range filters {
		list = append(list, map[string]any{"name": name, "values": []any{value}})
	}
	return props{"filters": list}
}

// mounted is a network with a mount target in each of its subnets.
func mounted(t *testing.T) (w *world, files, a, b *thing) {
	t.Helper()
	w = newNetwork(t)
	files = w.fileSystem(nil)
	target := func(name string, subnet *thing) *thing {
		return w.Make(efs.MountTargetType, name, props{"fileSystemId": files.ID, "subnetId": subnet.ID, "securityGroups": []any{w.group.ID}})
	}
	return w, files, target("a", w.subnetA), target("b", w.subnetB)
}

// TestInterfacesOfMountTargets: the description names the mount target, by
// which one is found that is in no state.
func TestInterfacesOfMountTargets(t *testing.T) {
	w, files, a, b := mounted(t)
	inA, inB := a.Out.Str("networkInterfaceId"), b.Out.Str("networkInterfaceId")
	ours := "EFS mount target for " + files.ID + " (*)"
	for _, tc := range []struct {
		filters map[string]string
		want    []any
	}{
		{map[string]string{"interface-type": "efs"}, standin.Values(inA, inB)},
		{map[string]string{"subnet-id": w.subnetA.ID, "description": ours}, standin.Values(inA)},
		{map[string]string{"subnet-id": w.subnetB.ID, "description": ours}, standin.Values(inB)},
		{map[string]string{"subnet-id": w.subnetB.ID, "description": "EFS mount target for fs-1 (*)"}, []any{}},
		{map[string]string{"subnet-id": "subnet-1", "description": ours}, []any{}},
		{map[string]string{"description": "EFS * (" + a.ID + ")"}, standin.Values(inA)},
		{map[string]string{"network-interface-id": inB}, standin.Values(inB)},
		{map[string]string{"vpc-id": w.vpc.ID, "private-ip-address": a.Out.Str("ipAddress")}, standin.Values(inA)},
		{map[string]string{"availability-zone": "eu-central-1b", "interface-type": "efs", "owner-id": "111122223333"}, standin.Values(inB)},
	} {
		found, err := w.Invoke(manyInterfaces, filtered(tc.filters))
		if err != nil {
			t.Errorf("%v: %v", tc.filters, err)
		} else if diff := cmp.Diff(tc.want, found["ids"]); diff != "" {
			t.Errorf("%v: %s", tc.filters, diff)
		}
	}
}

func TestInterfaceOfAMountTarget(t *testing.T) {
	w, files, a, _ := mounted(t)
	id, address := a.Out.Str("networkInterfaceId"), a.Out.Str("ipAddress")
	found, err := w.Invoke(oneInterface, props{"id": id})
	assert.NilError(t, err)
	want := props{
		"id":               id,
		"arn":              "arn:aws:ec2:eu-central-1:111122223333:network-interface/" + id,
		"availabilityZone": "eu-central-1a",
		"description":      "EFS mount target for " + files.ID + " (" + a.ID + ")",
		"interfaceType":    "efs",
		"ownerId":          "111122223333",
		"privateIp":        address,
		"privateIps":       standin.Values(address),
		"securityGroups":   standin.Values(w.group.ID),
		"subnetId":         w.subnetA.ID,
		"vpcId":            w.vpc.ID,
		"associations":     []any{}, "attachments": []any{}, "ipv6Addresses": []any{}, "tags": map[string]any{},
	}
	assert.Check(t, is.Equal(cmp.Diff(want, found), ""))
}

// TestInterfaceFollowsItsTarget: groups change with the target's, and it goes
// with the target.
func TestInterfaceFollowsItsTarget(t *testing.T) {
	w, _, a, _ := mounted(t)
	group := w.Make(ec2.SecurityGroupType, "other", props{"vpcId": w.vpc.ID})
	assert.NilError(t, w.Update(a, props{"securityGroups": []any{group.ID}}))
	asked := props{"id": a.Out.Str("networkInterfaceId")}
	found, err := w.Invoke(oneInterface, asked)
	if err != nil || !cmp.Equal(found.List("securityGroups"), []string{group.ID}) {
		t.Errorf("groups are %v, error %v", found["securityGroups"], err)
	}
	assert.NilError(t, w.Delete(a))
	w.unanswered(oneInterface, asked, "no matching EC2 Network Interface found")
}

func TestInterfaceRefusals(t *testing.T) {
	w, _, _, _ := mounted(t)
	for token, tc := range map[string]struct {
		args props
		want string
	}{
		oneInterface: {
			filtered(map[string]string{"vpc-id": w.vpc.ID}),
			"multiple EC2 Network Interfaces matched; use additional constraints to reduce matches to a single EC2 Network Interface",
		},
		manyInterfaces: {
			filtered(map[string]string{"attachment.instance-id": "i-1"}),
			"the AWS stand-in does not filter network interfaces by attachment.instance-id",
		},
	} {
		w.unanswered(token, tc.args, tc.want)
	}
}

func TestFilterWildcard(t *testing.T) {
	for _, tc := range []struct {
		pattern, value string
		want           bool
	}{
		{"demo", "demo", true},
		{"demo", "demo-1", false},
		{"demo*", "demo-1", true},
		{"*-1", "demo-1", true},
		{"d*-*", "demo-1", true},
		{"d*x*", "demo-1", false},
		{"*demo*", "demo", true},
		{"a*a", "a", false},
		{"ab*ba", "aba", false},
		{"*", "", true},
	} {
		got := ec2.MatchesAny([]string{"other", tc.pattern}, tc.value)
		assert.Check(t, got == tc.want, "%q matches %q: %t, want %t", tc.pattern, tc.value, got, tc.want)
	}
}

// TestZones: all zones of the region, and those that are open, by the filters of EC2.
func TestZones(t *testing.T) {
	a := newAccount(t)
	a.Configure(props{"region": "us-west-2"})
	names := func(args props) []string {
		t.Helper()
		out, err := a.Invoke("aws:index/getAvailabilityZones:getAvailabilityZones", args)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(len(out.List("names")), len(out.List("zoneIds"))))
		return out.List("names")
	}
	open := []string{"us-west-2a", "us-west-2b", "us-west-2c", "us-west-2d"}
	assert.DeepEqual(t, names(props{}), open)
	assert.DeepEqual(t, names(props{"allAvailabilityZones": true}), append(slices.Clone(open), "us-west-2-lax-1a", "us-west-2-lax-1b"))
	assert.DeepEqual(t, names(props{"allAvailabilityZones": true, "filters": []any{map[string]any{"name": "zone-type", "values": []any{"availability-zone"}}}}), open)
	assert.DeepEqual(t, names(props{"filters": []any{map[string]any{"name": "zone-id", "values": []any{"usw2-az2"}}}}), open[1:2])
	a.unanswered("aws:index/getAvailabilityZones:getAvailabilityZones", props{"filters": []any{map[string]any{"name": "kind", "values": []any{"x"}}}}, "The filter 'kind' is invalid")
}

// TestOfferings: types are offered by zones.
func TestOfferings(t *testing.T) {
	a := newAccount(t)
	a.Configure(props{"region": "us-east-1"})
	const token = "aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings"
	of := func(types ...any) props {
		return props{"locationType": "availability-zone", "filters": []any{map[string]any{"name": "instance-type", "values": types}}}
	}
	out, err := a.Invoke(token, of("t3.large", "m99.large"))
	assert.NilError(t, err)
	assert.DeepEqual(t, out.List("locations"), []string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d", "us-east-1f"})
	a.unanswered(token, props{}, "by locationType availability-zone and the filter instance-type")
}

// TestZonesOfControlPlanes: EKS makes no cluster in three zones, whatever their names.
func TestZonesOfControlPlanes(t *testing.T) {
	a := newAccount(t)
	a.Configure(props{"region": "us-east-1"})
	vpc := a.Add(ec2.VPCType, "vpc", props{"cidrBlock": "10.0.0.0/16"})
	role := a.Add(iam.RoleType, "role", props{"assumeRolePolicy": clusterTrust})
	var subnets []any
	for region, zone := range map[string]string{"us-east-1": "e", "us-west-1": "b"} {
		assert.Check(t, slices.Contains(account.WithoutControlPlane, account.ZoneID(region, region+zone)), region)
	}
	for i, zone := range []string{"us-east-1a", "us-east-1e"} {
		subnets = append(subnets, a.Add(ec2.SubnetType, zone, props{"vpcId": vpc.ID, "cidrBlock": fmt.Sprintf("10.0.%d.0/24", i), "availabilityZone": zone}).ID)
	}
	a.denied(eks.ClusterType, props{"name": "demo", "roleArn": role.Out["arn"], "vpcConfig": map[string]any{"subnetIds": subnets}},
		"UnsupportedAvailabilityZoneException: Cannot create cluster 'demo' because us-east-1e, the targeted availability zone, does not currently have sufficient capacity to support the cluster. "+
			"Retry and choose from these availability zones: us-east-1a, us-east-1b, us-east-1c, us-east-1d, us-east-1f")
}

// TestKeysAreDescribed, also those that cannot be used.
func TestKeysAreDescribed(t *testing.T) {
	a := newAccount(t)
	state := func(k *thing) string {
		t.Helper()
		out, err := a.Invoke("aws:kms/getKey:getKey", props{"keyId": k.Out["arn"]})
		assert.NilError(t, err)
		return out.Str("keyState")
	}
	key, off := a.Make(kms.KeyType, "key", props{}), a.Make(kms.KeyType, "off", props{"isEnabled": false})
	assert.Equal(t, state(key), "Enabled")
	assert.Equal(t, state(off), "Disabled")
	assert.NilError(t, a.Delete(key))
	assert.Equal(t, state(key), "PendingDeletion")
	a.unanswered("aws:kms/getKey:getKey", props{"keyId": "arn:aws:kms:eu-central-1:111122223333:key/1"}, "NotFoundException")
}
