package eks

import (
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/vpc"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// PrivateAccess begins the names of the rules that let others than nodes in to the
// private endpoint, after the name of the cluster.
const PrivateAccess = "api-from-"

// makePrivateAccess lets blocks and groups in to the private endpoint, each by a rule of
// its own: the list can change without a moment in which nobody is let in.
//
// The rules are on the group that EKS makes for control plane and nodes, which is where
// the EKS User Guide has them: "Accessing a private only API server" in
// https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html. The control plane
// could have groups of others instead, but those have to be of its VPC
// (https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html), while a rule also
// takes a group of a peered one
// (https://docs.aws.amazon.com/vpc/latest/peering/vpc-peering-security-groups.html).
func (b *builder) makePrivateAccess() error {
	for _, cidr := range b.args.PrivateCIDRs {
		if err := b.letIn(cidr, &vpc.SecurityGroupIngressRuleArgs{CidrIpv4: pulumi.String(cidr)}); err != nil {
			return err
		}
	}
	for _, group := range b.args.PrivateGroups {
		if err := b.letIn(group, &vpc.SecurityGroupIngressRuleArgs{ReferencedSecurityGroupId: pulumi.String(group)}); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) letIn(who string, args *vpc.SecurityGroupIngressRuleArgs) error {
	args.SecurityGroupId = b.securityGroup()
	args.Description = pulumi.String("Kubernetes API from " + who)
	args.IpProtocol = pulumi.String("tcp")
	args.FromPort, args.ToPort = pulumi.Int(443), pulumi.Int(443)
	rule, err := vpc.NewSecurityGroupIngressRule(b.ctx, b.name+"-"+PrivateAccess+strings.ReplaceAll(who, "/", "-"), args, b.parent)
	b.complete = append(b.complete, rule)
	return err
}
