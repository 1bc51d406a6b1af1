package aws

import (
	"fmt"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"

	"tombolo/lab/aws/apimodel"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/kms"
	"tombolo/lab/aws/logs"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

type props = standin.Props

type thing = standintest.Thing

// bench drives the stand-in as an engine would.
type bench struct{ *standintest.Bench }

func newAccount(t *testing.T) *bench {
	t.Helper()
	a := &bench{standintest.New(t, Open)}
	a.Echoes = true
	a.CheckInputs = func(token string, inputs props) {
		unmapped := apimodel.Unmapped(token, inputs)
		assert.Check(t, len(unmapped) == 0, "no call of AWS's takes these inputs of %s: %v; add them to apimodel/calls.json", token, unmapped)
	}
	a.Configure(props{"region": "eu-central-1"})
	return a
}

// tagged are the resources with a tag, as the tagging API finds them.
func (a *bench) tagged(key, value string) []standin.Props {
	a.T.Helper()
	found, err := a.Invoke("aws:resourcegroupstaggingapi/getResources:getResources", props{
		"tagFilters": []any{map[string]any{"key": key, "values": []any{value}}},
	})
	assert.NilError(a.T, err)
	return found.Objects("resourceTagMappingLists")
}

const (
	clusterTrust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`
	nodeTrust    = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	podTrust     = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`
	readBuckets  = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::x/*"}]}`
)

// world is a network with a cluster and its nodes.
type world struct {
	*bench
	vpc, subnetA, subnetB         *thing
	gateway, address, nat         *thing
	table, link, group            *thing
	clusterRole, nodeRole, policy *thing
	key, cluster, nodes           *thing
}

// emptyWorld has nothing but the account.
func emptyWorld(t *testing.T) *world {
	t.Helper()
	return &world{bench: newAccount(t)}
}

// read looks a resource up, as a refresh does.
func (a *bench) read(x *thing) (in, out props) {
	a.T.Helper()
	res, err := a.Server.Read(a.T.Context(), &pulumirpc.ReadRequest{Urn: standintest.URN(x.Token, x.Name), Id: x.ID})
	if err != nil || res.Id == "" {
		a.T.Fatalf("read %s %s: %v, %v", x.Token, x.ID, res, err)
	}
	return a.Plain(res.Inputs), a.Plain(res.Properties)
}

// refuses asserts an error of AWS.
func refuses(t *testing.T, err error, want string) {
	t.Helper()
	standintest.Refuses(t, err, want)
	if err != nil {
		checkCode(t, err)
	}
}

// denied asserts that AWS refuses to make a resource.
func (a *bench) denied(token string, in props, want string) {
	a.T.Helper()
	_, err := a.Try(token, "x", in)
	refuses(a.T, err, want)
}

// unanswered asserts that a function fails.
func (a *bench) unanswered(token string, args props, want string) {
	a.T.Helper()
	_, err := a.Invoke(token, args)
	refuses(a.T, err, want)
}

func newNetwork(t *testing.T) *world {
	t.Helper()
	w := &world{bench: newAccount(t)}
	w.vpc = w.Add(ec2.VPCType, "vpc", props{"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": true, "tags": map[string]any{"Name": "net"}})
	w.Add(ec2.DefaultGroupType, "default", props{"vpcId": w.vpc.ID})
	for i, x := range []**thing{&w.subnetA, &w.subnetB} {
		zone := string(rune('a' + i))
		*x = w.Add(ec2.SubnetType, "subnet-"+zone, props{"vpcId": w.vpc.ID, "cidrBlock": fmt.Sprintf("10.0.%d.0/24", i), "availabilityZone": "eu-central-1" + zone})
	}
	w.gateway = w.Add(ec2.GatewayType, "igw", props{"vpcId": w.vpc.ID})
	w.address = w.Add(ec2.EIPType, "eip", props{"domain": "vpc"})
	w.nat = w.Add(ec2.NatType, "nat", props{"allocationId": w.address.ID, "subnetId": w.subnetA.ID})
	w.table = w.Add(ec2.RouteTableType, "table", props{"vpcId": w.vpc.ID})
	w.Add(ec2.RouteType, "route", props{"routeTableId": w.table.ID, "destinationCidrBlock": "0.0.0.0/0", "natGatewayId": w.nat.ID})
	w.link = w.Add(ec2.TableLinkType, "link", props{"routeTableId": w.table.ID, "subnetId": w.subnetB.ID})
	w.group = w.Add(ec2.SecurityGroupType, "group", props{"vpcId": w.vpc.ID})
	return w
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := newNetwork(t)
	w.clusterRole = w.Add(iam.RoleType, "cluster-role", props{"assumeRolePolicy": clusterTrust})
	w.Add(iam.AttachmentType, "cluster-policy", props{"role": w.clusterRole.ID, "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"})
	w.nodeRole = w.Add(iam.RoleType, "node-role", props{"assumeRolePolicy": nodeTrust})
	w.policy = w.Add(iam.AttachmentType, "node-policy", props{"role": w.nodeRole.ID, "policyArn": "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"})
	w.key = w.Add(kms.KeyType, "key", props{"description": "secrets"})
	w.Add(logs.LogGroupType, "logs", props{"name": "/aws/eks/demo/cluster", "retentionInDays": 90})
	w.cluster = w.Add(eks.ClusterType, "cluster", w.clusterArgs(props{"name": "demo"}))
	w.nodes = w.Add(eks.NodeGroupType, "nodes", w.nodeArgs(nil))
	return w
}

func (w *world) clusterArgs(change props) props {
	in := props{
		"roleArn": w.clusterRole.Out["arn"], "version": "1.34", "enabledClusterLogTypes": []any{"api"},
		"vpcConfig":        map[string]any{"subnetIds": []any{w.subnetA.ID, w.subnetB.ID}, "securityGroupIds": []any{w.group.ID}},
		"encryptionConfig": map[string]any{"provider": map[string]any{"keyArn": w.key.Out["arn"]}, "resources": []any{"secrets"}},
		"accessConfig":     map[string]any{"authenticationMode": "API"},
	}
	return standin.Merged(in, change)
}

func (w *world) nodeArgs(change props) props {
	in := props{
		"clusterName": "demo", "nodeRoleArn": w.nodeRole.Out["arn"], "subnetIds": []any{w.subnetA.ID, w.subnetB.ID},
		"scalingConfig": map[string]any{"minSize": 1, "desiredSize": 2, "maxSize": 3}, "instanceTypes": []any{"m7i.large"},
		"labels": map[string]any{"workload": "system"}, "taints": []any{map[string]any{"key": "dedicated", "value": "x", "effect": "NO_SCHEDULE"}},
	}
	return standin.Merged(in, change)
}
