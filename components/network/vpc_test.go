package network

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

func threeZones() *VPCArgs {
	return &VPCArgs{
		Region: "eu-central-1", CIDR: "10.0.0.0/16", NAT: NATSingle,
		Subnets: []Subnet{
			{Zone: "eu-central-1a", Private: "10.0.0.0/18", Public: "10.0.192.0/20"},
			{Zone: "eu-central-1b", Private: "10.0.64.0/18", Public: "10.0.208.0/20"},
			{Zone: "eu-central-1c", Private: "10.0.128.0/18", Public: "10.0.224.0/20"},
		},
		Endpoints: []string{"s3", "dynamodb", "ecr.api"},
	}
}

func build(t *testing.T, args *VPCArgs) (*recorder.Recorder, *Network, []string) {
	t.Helper()
	r := &recorder.Recorder{}
	var made *Network
	private := make(chan []string, 1)
	err := r.Run("demo-core", func(ctx *pulumi.Context) error {
		var err error
		if made, err = NewVPC(ctx, "demo", args); err != nil {
			return err
		}
		made.PrivateSubnetIDs.ApplyT(func(ids []string) []string { private <- ids; return ids })
		return nil
	})
	assert.NilError(t, err)
	return r, made, <-private
}

func TestVPCResources(t *testing.T) {
	r, _, private := build(t, threeZones())
	assert.Check(t, is.Len(r.Problems(), 0))
	want := map[string]int{
		"aws:ec2/vpc:Vpc": 1, "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": 1,
		"aws:ec2/internetGateway:InternetGateway": 1, "aws:ec2/subnet:Subnet": 6,
		"aws:ec2/eip:Eip": 1, "aws:ec2/natGateway:NatGateway": 1, "aws:ec2/routeTable:RouteTable": 4,
		"aws:ec2/route:Route": 4, "aws:ec2/routeTableAssociation:RouteTableAssociation": 6,
		"aws:ec2/vpcEndpoint:VpcEndpoint": 3, "aws:ec2/securityGroup:SecurityGroup": 1,
		"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": 1,
	}
	for token, n := range want {
		assert.Check(t, is.Len(r.OfType(token), n), token)
	}
	assert.Check(t, is.Equal(strings.Join(private, " "), "demo-private-eu-central-1a-id demo-private-eu-central-1b-id demo-private-eu-central-1c-id"))
}

func TestProtect(t *testing.T) {
	for _, protect := range []bool{true, false} {
		args := threeZones()
		args.Protect = protect
		r, _, _ := build(t, args)
		for _, res := range r.All() {
			want := protect && res.Type == "aws:ec2/vpc:Vpc"
			assert.Check(t, res.Protect == want, "with protect %v, %s %s has %v", protect, res.Type, res.Name, res.Protect)
		}
	}
}

func TestVPCIsClosed(t *testing.T) {
	r, _, _ := build(t, threeZones())
	group := r.OfType("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup")[0]
	for _, rules := range []string{"ingress", "egress"} {
		if v, ok := group.Value(rules); ok && len(v.ArrayValue()) > 0 {
			t.Errorf("default security group has %s rules", rules)
		}
	}
	rule := r.OfType("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")[0]
	for path, want := range map[string]string{"cidrIpv4": "10.0.0.0/16", "fromPort": "443", "toPort": "443", "ipProtocol": "tcp"} {
		assert.Check(t, is.Equal(rule.String(path), want), path)
	}
	for _, s := range r.OfType("aws:ec2/subnet:Subnet") {
		assert.Check(t, s.String("mapPublicIpOnLaunch") == "false", "subnet %s gives public addresses", s.Name)
		tag := "kubernetes.io/role/elb"
		if strings.Contains(s.Name, "private") {
			tag = "kubernetes.io/role/internal-elb"
		}
		assert.Check(t, s.String(`tags["`+tag+`"]`) == "1", "subnet %s lacks the tag %s", s.Name, tag)
	}
}

// TestFlowLogs: into a group of their own by a role that can do nothing else, or to a bucket.
func TestFlowLogs(t *testing.T) {
	args := threeZones()
	args.FlowLogs = &FlowLogs{Traffic: "ALL", RetentionDays: 90, KMSKeyARN: "arn:key", AccountID: "111122223333", Partition: "aws"}
	r, _, _ := build(t, args)
	r.OfType("aws:cloudwatch/logGroup:LogGroup")[0].Expect(t, map[string]string{"name": "/aws/vpc/demo/flow-logs", "retentionInDays": "90", "kmsKeyId": "arn:key"})
	role := r.OfType("aws:iam/role:Role")[0]
	role.Expect(t, map[string]string{"name": "demo-flow-logs"})
	recorder.Golden(t, "flow-logs-trust.json", role.String("assumeRolePolicy"))
	recorder.Golden(t, "flow-logs-policy.json", r.OfType("aws:iam/rolePolicy:RolePolicy")[0].String("policy"))
	log := r.OfType("aws:ec2/flowLog:FlowLog")[0]
	log.Expect(t, map[string]string{"trafficType": "ALL", "logDestinationType": "cloud-watch-logs"})
	assert.Check(t, log.WaitsFor("demo-flow-logs-role"), "the flow log does not wait for the role's policy")

	args = threeZones()
	args.FlowLogs = &FlowLogs{Traffic: "REJECT", BucketARN: "arn:aws:s3:::logs/vpc"}
	r, _, _ = build(t, args)
	assert.Check(t, is.Len(r.OfType("aws:iam/role:Role"), 0))
	r.OfType("aws:ec2/flowLog:FlowLog")[0].Expect(t, map[string]string{"trafficType": "REJECT", "logDestinationType": "s3", "logDestination": "arn:aws:s3:::logs/vpc", "iamRoleArn": ""})

	args.FlowLogs = &FlowLogs{Traffic: "ALL"}
	assert.Check(t, is.ErrorContains(args.validate(), "need account, partition and retention"))
}

func TestPrivateSubnetTags(t *testing.T) {
	args := threeZones()
	args.PrivateSubnetTags = map[string]string{"karpenter.sh/discovery": "demo"}
	r, _, _ := build(t, args)
	for _, s := range r.OfType("aws:ec2/subnet:Subnet") {
		want := ""
		if strings.Contains(s.Name, "private") {
			want = "demo"
		}
		s.Expect(t, map[string]string{
			`tags["karpenter.sh/discovery"]`: want, "tags.Name": s.Name,
		})
	}
}

func TestPrivateSubnetByZone(t *testing.T) {
	_, made, _ := build(t, threeZones())
	got := slices.Sorted(maps.Keys(made.PrivateSubnetByZone))
	assert.Check(t, slices.Equal(got, []string{"eu-central-1a", "eu-central-1b", "eu-central-1c"}), "zones are %v", got)
}

func TestEndpointServiceNames(t *testing.T) {
	for want, of := range map[string][2]string{
		"com.amazonaws.eu-central-1.ecr.api":   {"eu-central-1", "ecr.api"},
		"com.amazonaws.us-gov-west-1.sts":      {"us-gov-west-1", "sts"},
		"cn.com.amazonaws.cn-north-1.ecr.dkr":  {"cn-north-1", "ecr.dkr"},
		"cn.com.amazonaws.cn-northwest-1.ec2":  {"cn-northwest-1", "ec2"},
		"cn.com.amazonaws.cn-north-1.sts":      {"cn-north-1", "sts"},
		"com.amazonaws.cn-north-1.logs":        {"cn-north-1", "logs"},
		"com.amazonaws.cn-northwest-1.s3":      {"cn-northwest-1", "s3"},
		"cn.com.amazonaws.cn-north-1.eks-auth": {"cn-north-1", "eks-auth"},
	} {
		assert.Check(t, is.Equal(serviceName(of[0], of[1]), want), "%v %v", of[1], of[0])
	}
}

func TestEndpoints(t *testing.T) {
	r, _, _ := build(t, threeZones())
	for name, kind := range map[string]string{
		"demo-endpoint-s3": "Gateway", "demo-endpoint-dynamodb": "Gateway", "demo-endpoint-ecr-api": "Interface",
	} {
		e, ok := r.Named("aws:ec2/vpcEndpoint:VpcEndpoint", name)
		assert.Check(t, ok && e.String("vpcEndpointType") == kind, "endpoint %s is %q, expected %s", name, e.String("vpcEndpointType"), kind)
	}
	e, _ := r.Named("aws:ec2/vpcEndpoint:VpcEndpoint", "demo-endpoint-ecr-api")
	assert.Check(t, is.Equal(e.String("serviceName"), "com.amazonaws.eu-central-1.ecr.api"))
	assert.Check(t, is.Equal(e.String("privateDnsEnabled"), "true"))
}

func TestNAT(t *testing.T) {
	for nat, want := range map[NAT][]string{
		NATNone:    {},
		NATSingle:  {"demo-nat-eu-central-1a-id", "demo-nat-eu-central-1a-id", "demo-nat-eu-central-1a-id"},
		NATPerZone: {"demo-nat-eu-central-1a-id", "demo-nat-eu-central-1b-id", "demo-nat-eu-central-1c-id"},
	} {
		t.Run(string(nat), func(t *testing.T) {
			args := threeZones()
			args.NAT = nat
			r, _, _ := build(t, args)
			var got []string
			for _, route := range r.OfType("aws:ec2/route:Route") {
				if id := route.String("natGatewayId"); id != "" {
					got = append(got, id)
				}
			}
			assert.Check(t, strings.Join(got, " ") == strings.Join(want, " "), "routes to NAT gateways %v, expected %v", got, want)
		})
	}
}

func TestVPCValidate(t *testing.T) {
	recorder.Refuses(t, "demo", NewVPC, "network demo: ", threeZones, map[string]func(*VPCArgs){
		"network demo: region and CIDR are required":                                     func(a *VPCArgs) { a.CIDR = "" },
		"network demo: a managed cluster needs subnets in at least 2 zones, there are 1": func(a *VPCArgs) { a.Subnets = a.Subnets[:1] },
		"network demo: zone eu-central-1a is given twice":                                func(a *VPCArgs) { a.Subnets[1].Zone = "eu-central-1a" },
		"network demo: private subnet tag Name is the network's own; choose another key": func(a *VPCArgs) {
			a.PrivateSubnetTags = map[string]string{"Name": "x"}
		},
		`network demo: NAT "sometimes" is unknown; expected none, single or per-zone`: func(a *VPCArgs) { a.NAT = "sometimes" },
	})
}

// lookups answers for subnet-1 to subnet-4 of vpc-1 in zones a, b, b and b, and
// subnet-other of another VPC.
func lookups() *recorder.Recorder {
	zones := map[string]string{"subnet-1": "a", "subnet-2": "b", "subnet-3": "b", "subnet-4": "b", "subnet-other": "c"}
	return &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:ec2/getVpc:getVpc": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			args["cidrBlock"], args["ownerId"] = resource.NewProperty("10.1.0.0/16"), resource.NewProperty("999988887777")
			return args, nil
		},
		"aws:ec2/getSubnet:getSubnet": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			id := args["id"].StringValue()
			args["vpcId"] = resource.NewProperty("vpc-1")
			if id == "subnet-other" {
				args["vpcId"] = resource.NewProperty("vpc-2")
			}
			args["availabilityZone"] = resource.NewProperty(zones[id])
			return args, nil
		},
	}}
}

func TestExistingMakesNothing(t *testing.T) {
	r := lookups()
	cidr := make(chan string, 1)
	var byZone pulumi.StringMap
	err := r.Run("demo-core", func(ctx *pulumi.Context) error {
		n, err := NewExisting(ctx, "demo", &ExistingArgs{VPCID: "vpc-1", PrivateSubnetIDs: []string{"subnet-1", "subnet-2", "subnet-4"}, PublicSubnetIDs: []string{"subnet-3"}})
		if err != nil {
			return err
		}
		n.CIDR.ApplyT(func(s string) string { cidr <- s; return s })
		byZone = n.PrivateSubnetByZone
		return nil
	})
	assert.NilError(t, err)
	assert.Check(t, is.Equal(<-cidr, "10.1.0.0/16"))
	want := pulumi.StringMap{"a": pulumi.String("subnet-1"), "b": pulumi.String("subnet-2")}
	assert.Check(t, maps.Equal(byZone, want), "private subnets by zone are %v, expected %v", byZone, want)
	for _, res := range r.All() {
		assert.Check(t, !res.Custom, "%s %s was registered in another team's network", res.Type, res.Name)
	}
}

// TestControlPlaneHasSubnetsOfItsOwn: they are looked up as the others, and are none of
// the private ones.
func TestControlPlaneHasSubnetsOfItsOwn(t *testing.T) {
	for _, ids := range [][]string{nil, {"subnet-1", "subnet-3"}, {"subnet-1", "subnet-other"}} {
		err := lookups().Run("demo-core", func(ctx *pulumi.Context) error {
			n, err := NewExisting(ctx, "demo", &ExistingArgs{VPCID: "vpc-1", PrivateSubnetIDs: []string{"subnet-1", "subnet-2"}, ControlPlaneSubnetIDs: ids})
			if err != nil {
				return err
			}
			assert.Check(t, is.DeepEqual(n.ControlPlaneSubnetIDs, ids))
			assert.Check(t, is.DeepEqual(n.PrivateSubnetZones, []string{"a", "b"}))
			if ids != nil {
				assert.Check(t, is.DeepEqual(n.ControlPlaneSubnetZones, []string{"a", "b"}))
			}
			return nil
		})
		if len(ids) > 0 && ids[1] == "subnet-other" {
			assert.Check(t, is.ErrorContains(err, "subnet subnet-other belongs to vpc-2, not to vpc-1"))
			continue
		}
		assert.NilError(t, err)
	}
}

func TestExistingRefuses(t *testing.T) {
	for want, args := range map[string]*ExistingArgs{
		"subnet subnet-other belongs to vpc-2, not to vpc-1; give subnets of one VPC": {VPCID: "vpc-1", PrivateSubnetIDs: []string{"subnet-1", "subnet-other"}},
		"the private subnets are all in one zone; give subnets in at least 2 zones":   {VPCID: "vpc-1", PrivateSubnetIDs: []string{"subnet-2", "subnet-3"}},
		"a managed cluster needs at least 2 private subnets, there are 1":             {VPCID: "vpc-1", PrivateSubnetIDs: []string{"subnet-1"}},
		"the control plane's subnets are all in one zone; give subnets in at least 2 zones": {
			VPCID: "vpc-1", PrivateSubnetIDs: []string{"subnet-1", "subnet-2"}, ControlPlaneSubnetIDs: []string{"subnet-3", "subnet-4"},
		},
		"a subnet is given twice": {VPCID: "vpc-1", PrivateSubnetIDs: []string{"subnet-1", "subnet-1"}},
		"the VPC's id is missing": {},
	} {
		err := lookups().Run("demo-core", func(ctx *pulumi.Context) error {
			_, err := NewExisting(ctx, "demo", args)
			return err
		})
		assert.Check(t, is.ErrorContains(err, want))
	}
}
