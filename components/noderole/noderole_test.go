package noderole

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

const attachmentType = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"

func nodeRoleArgs() *NodeRoleArgs {
	return &NodeRoleArgs{
		RoleName: "demo-karpenter-node", InstanceProfileName: "demo-karpenter", Partition: "aws-cn", ClusterName: pulumi.String("demo"),
	}
}

func run(args *NodeRoleArgs) (*recorder.Recorder, error) {
	r := &recorder.Recorder{}
	return r, r.Run("demo-core", recorder.Probing("demo-karpenter", NewNodeRole, args, func(role *NodeRole) pulumi.Map {
		return pulumi.Map{"arn": role.RoleARN, "name": role.RoleName, "profile": role.InstanceProfileName}
	}))
}

func built(t *testing.T, args *NodeRoleArgs) *recorder.Recorder {
	t.Helper()
	r, err := run(args)
	return r.Sound(t, err)
}

func TestNodeRole(t *testing.T) {
	r := built(t, nodeRoleArgs())
	r.OfType("aws:iam/role:Role")[0].Expect(t, map[string]string{
		"name": "demo-karpenter-node",
		"assumeRolePolicy": `{"Version":"2012-10-17","Statement":[` +
			`{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":["sts:AssumeRole"]},` +
			`{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com.cn"},"Action":["sts:AssumeRole"]}]}`,
	})
	r.OfType("aws:iam/instanceProfile:InstanceProfile")[0].Expect(t, map[string]string{
		"name": "demo-karpenter", "role": "demo-karpenter-node",
	})
	r.OfType("aws:eks/accessEntry:AccessEntry")[0].Expect(t, map[string]string{
		"clusterName": "demo", "type": "EC2_LINUX", "principalArn": "arn:aws:test:eu-central-1:111122223333:demo-karpenter-role",
	})
}

// TestGivenNodeRole: of a role that others own nothing is made, but for what lets its
// instances join.
func TestGivenNodeRole(t *testing.T) {
	args := nodeRoleArgs()
	args.RoleARN, args.RoleName = "arn:aws-cn:iam::111122223333:role/team/nodes", ""
	r := built(t, args)
	assert.Check(t, is.Len(r.OfType("aws:iam/role:Role"), 0))
	assert.Check(t, is.Len(r.OfType(attachmentType), 0))
	r.OfType("aws:iam/instanceProfile:InstanceProfile")[0].Expect(t, map[string]string{"name": "demo-karpenter", "role": "nodes"})
	r.OfType("aws:eks/accessEntry:AccessEntry")[0].Expect(t, map[string]string{"principalArn": args.RoleARN})
	r.Probed().Expect(t, map[string]string{"arn": args.RoleARN, "name": "nodes", "profile": "demo-karpenter"})
}

func TestPolicies(t *testing.T) {
	const prefix = "arn:aws-cn:iam::aws:policy/"
	for cniHasRole, want := range map[bool]string{
		false: prefix + "AmazonEC2ContainerRegistryPullOnly " + prefix + "AmazonEKSWorkerNodePolicy " + prefix + "AmazonEKS_CNI_Policy",
		true:  prefix + "AmazonEC2ContainerRegistryPullOnly " + prefix + "AmazonEKSWorkerNodePolicy",
	} {
		args := nodeRoleArgs()
		args.CNIHasRole = cniHasRole
		var got []string
		for _, a := range built(t, args).OfType(attachmentType) {
			got = append(got, a.String("policyArn"))
		}
		assert.Check(t, strings.Join(got, " ") == want, "with a role for the CNI %t: policies %v, expected %s", cniHasRole, got, want)
	}
}

func TestOutputsWaitUntilNodesCanJoin(t *testing.T) {
	probe := built(t, nodeRoleArgs()).Probed()
	probe.Expect(t, map[string]string{
		"arn": "arn:aws:test:eu-central-1:111122223333:demo-karpenter-role", "name": "demo-karpenter-node", "profile": "demo-karpenter",
	})
	for _, output := range []string{"arn", "name", "profile"} {
		probe.ExpectAfter(t, output, "demo-karpenter-AmazonEKSWorkerNodePolicy", "demo-karpenter-profile", "demo-karpenter-access")
	}
}

func TestNodeRoleValidate(t *testing.T) {
	recorder.Refuses(t, "demo-karpenter", NewNodeRole, "node role demo-karpenter: ", nodeRoleArgs, map[string]func(*NodeRoleArgs){
		`role name "" has 0 characters; IAM allows 1 to 64`:              func(a *NodeRoleArgs) { a.RoleName = "" },
		`instance profile name "" has 0 characters; IAM allows 1 to 128`: func(a *NodeRoleArgs) { a.InstanceProfileName = "" },
		"partition and cluster name are required":                        func(a *NodeRoleArgs) { a.ClusterName = nil },
	})
}
