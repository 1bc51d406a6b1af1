package aws

import (
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/logs"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

func TestChange(t *testing.T) {
	w := newWorld(t)
	item, err := w.Cloud.Change(t.Context(), "Vpc", "net", map[string]any{
		"tags.kubernetes.io/role": "x", "enableDnsHostnames": nil, "tags.Name": "renamed",
	})
	assert.Assert(t, err == nil && item.ID == w.vpc.ID && item.Name == "renamed", "%+v, %v", item, err)
	in, out := w.read(w.vpc)
	assert.Check(t, is.DeepEqual(map[string]any{"Name": "renamed", "kubernetes.io/role": "x"}, in["tags"]))
	assert.Check(t, !in.Has("enableDnsHostnames") && out.Sub("tagsAll").Str("Name") == "renamed", "inputs %v, outputs %v", in, out)
	if _, err := w.Cloud.Change(t.Context(), eks.NodeGroupType, w.nodes.In.Str("nodeGroupName"), map[string]any{
		"scalingConfig.desiredSize": 3.0,
	}); err != nil {
		t.Fatal(err)
	}
	nodes := w.Clusters.Nodes["demo/"+w.nodes.In.Str("nodeGroupName")]
	assert.Check(t, len(nodes) == 3, "nodes are %v", nodes)
}

func TestChangeRefuses(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		token, name string
		changes     map[string]any
		want        string
	}{
		{"Vpz", "net", nil, "change Vpz net: the AWS stand-in does not know the resource type Vpz; did you mean aws:ec2/vpc:Vpc?"},
		{ec2.VPCType, "gone", nil, "change aws:ec2/vpc:Vpc gone: there is none; see `tombolo lab status`"},
		{"Subnet", "", nil, "change Subnet : there are several, name one by its id: " + w.subnetA.ID + ", " + w.subnetB.ID},
		{ec2.VPCType, "net", map[string]any{"cidrBlok": "x"}, `change aws:ec2/vpc:Vpc net: cidrBlok: Invalid or unknown key; did you mean "cidrBlock"?`},
		{ec2.VPCType, "net", map[string]any{"cidrBlock": "10.1.0.0/16"}, "change aws:ec2/vpc:Vpc net: AWS cannot change cidrBlock of an existing EC2 VPC; delete it instead"},
		{ec2.VPCType, "net", map[string]any{"cidrBlock.size": "x"}, "change aws:ec2/vpc:Vpc net: cidrBlock.size: cidrBlock is no object: give all of it as JSON"},
		{ec2.VPCType, "net", map[string]any{"tags.aws:x": "x"}, "change aws:ec2/vpc:Vpc net: tags: a tag's key must not begin with aws: aws:x"},
	} {
		_, err := w.Cloud.Change(t.Context(), test.token, test.name, test.changes)
		assert.Check(t, err != nil && err.Error() == test.want, "got  %v\nwant %s", err, test.want)
	}
}

func TestRemove(t *testing.T) {
	w := newWorld(t)
	_, err := w.Cloud.Remove(t.Context(), ec2.VPCType, w.vpc.ID)
	refuses(t, err, "delete aws:ec2/vpc:Vpc "+w.vpc.ID+": deleting EC2 VPC ("+w.vpc.ID+"): operation error EC2: DeleteVpc")
	item, err := w.Cloud.Remove(t.Context(), "LogGroup", "/aws/eks/demo/cluster")
	assert.Assert(t, err == nil && item.Type == logs.LogGroupType, "%+v, %v", item, err)
	res, err := w.Server.Read(t.Context(), &pulumirpc.ReadRequest{Urn: standintest.URN(logs.LogGroupType, "logs"), Id: item.ID})
	if err != nil || res.Id != "" {
		t.Errorf("the log group is read as %q, %v", res.GetId(), err)
	}
}

const viewPolicy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"

func (w *world) karpenterNodes() props {
	role := w.Make(iam.RoleType, "karpenter-nodes", props{"assumeRolePolicy": nodeTrust})
	return props{"clusterName": "demo", "principalArn": role.Out["arn"], "type": "EC2_LINUX"}
}

func TestNodeEntryRefusals(t *testing.T) {
	refused(t, newWorld, []attempt{
		{"groups", eks.AccessEntryType, func(w *world) props {
			return standin.Merged(w.karpenterNodes(), props{"kubernetesGroups": []any{"nodes"}})
		}, "InvalidParameterException: The kubernetesGroups cannot be specified for access entries of type EC2_LINUX"},
		{"user", eks.AccessEntryType, func(w *world) props {
			return standin.Merged(w.karpenterNodes(), props{"userName": "node"})
		}, "InvalidParameterException: The userName cannot be specified for access entries of type EC2_LINUX"},
		{"type", eks.AccessEntryType, func(w *world) props { return standin.Merged(w.karpenterNodes(), props{"type": "LINUX"}) }, `type: expected type to be one of ["STANDARD" "EC2_LINUX"`},
		{"no role", eks.AccessEntryType, func(w *world) props {
			return standin.Merged(w.karpenterNodes(), props{"principalArn": "arn:aws:iam::111122223333:role/nobody"})
		}, "InvalidParameterException: The specified principalArn is invalid: invalid principal."},
		{"role of a node group", eks.AccessEntryType, func(w *world) props {
			return standin.Merged(w.karpenterNodes(), props{"principalArn": w.nodeRole.Out["arn"]})
		}, "ResourceInUseException: The specified access entry resource is already in use on this cluster."},
		{"policy", eks.AccessPolicyType, func(w *world) props {
			in := w.karpenterNodes()
			w.Make(eks.AccessEntryType, "nodes", in)
			return props{
				"clusterName": "demo", "principalArn": in["principalArn"], "policyArn": viewPolicy, "accessScope": map[string]any{"type": "cluster"},
			}
		}, "InvalidRequestException: Access policies cannot be associated with an access entry of type EC2_LINUX"},
	})
}

func TestNodeEntry(t *testing.T) {
	w := newWorld(t)
	entry := w.Make(eks.AccessEntryType, "nodes", w.karpenterNodes())
	assert.Check(t, is.DeepEqual([]string{"system:nodes"}, entry.Out.List("kubernetesGroups")))
	assert.Check(t, is.Equal(entry.Out.Str("userName"), "system:node:{{EC2PrivateDNSName}}"))
	err := w.Update(entry, props{"tags": map[string]any{"a": "b"}})
	assert.Check(t, err == nil && len(entry.Out.List("kubernetesGroups")) == 1, "an update gives %v, %v", err, entry.Out)
}
