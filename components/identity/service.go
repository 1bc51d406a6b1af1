package identity

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// ServiceRoleArgs are the arguments of NewServiceRole.
type ServiceRoleArgs struct {
	// RoleName is the role's name in IAM, at most 64 characters.
	RoleName string
	// Place of the role in IAM.
	Place Place
	// Description for people who look at the account.
	Description string
	// Services that assume the role, such as eks.amazonaws.com; at least one.
	Services []string
	// TagSession lets the services tag their sessions, too.
	TagSession bool
	// PolicyARNs of managed policies to attach.
	PolicyARNs []string
}

// NewServiceRole makes a role that an AWS service assumes. It is a part of the
// component that opts give as parent, not a component itself. The returned
// resources attach its policies: what uses the role has to wait for them.
func NewServiceRole(ctx *pulumi.Context, name string, args *ServiceRoleArgs, opts ...pulumi.ResourceOption) (*iam.Role, []pulumi.Resource, error) {
	if err := CheckRoleName(args.RoleName); err != nil {
		return nil, nil, err
	}
	trust, err := ServiceTrust(args.Services, args.TagSession)
	if err != nil {
		return nil, nil, err
	}
	made := &iam.RoleArgs{
		Name:             pulumi.String(args.RoleName),
		Description:      pulumi.String(args.Description),
		AssumeRolePolicy: pulumi.String(trust),
	}
	args.Place.Put(made)
	role, err := iam.NewRole(ctx, name+"-role", made, opts...)
	if err != nil {
		return nil, nil, err
	}
	attached, err := attachManaged(ctx, name, role, args.PolicyARNs, opts...)
	return role, attached, err
}

// EC2 are the service principals of instances in a partition such as aws or aws-cn. In China
// there are two, which IAM takes both: EKS's guide has the first, and EKS itself wanted the
// second of a node role. Sources:
// https://docs.amazonaws.cn/eks/latest/userguide/auto-create-node-role.html, and EKS's answers
// in https://github.com/pulumi/pulumi-eks/pull/796 and
// https://github.com/awslabs/cdk-eks-blueprints/issues/558
func EC2(partition string) []string {
	if partition == "aws-cn" {
		return []string{"ec2.amazonaws.com", "ec2.amazonaws.com.cn"}
	}
	return []string{"ec2.amazonaws.com"}
}

// ManagedPolicyARN is the ARN of a policy that AWS manages, in a partition such
// as aws or aws-cn.
func ManagedPolicyARN(partition, name string) string {
	return "arn:" + partition + ":iam::aws:policy/" + name
}

// ManagedPolicyARNs are those of several.
func ManagedPolicyARNs(partition string, names ...string) []string {
	arns := make([]string, len(names))
	for i, name := range names {
		arns[i] = ManagedPolicyARN(partition, name)
	}
	return arns
}

// RoleNameOf is the name of a role in its ARN, without the path.
func RoleNameOf(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// CheckRoleName tells whether IAM takes the name for a role.
func CheckRoleName(name string) error {
	if name == "" || len(name) > maxRoleName {
		return fmt.Errorf("role name %q has %d characters; IAM allows 1 to %d", name, len(name), maxRoleName)
	}
	return nil
}

func attachManaged(ctx *pulumi.Context, name string, role *iam.Role, arns []string, opts ...pulumi.ResourceOption) ([]pulumi.Resource, error) {
	var attached []pulumi.Resource
	for _, arn := range arns {
		a, err := iam.NewRolePolicyAttachment(ctx, name+"-"+policyName(arn), &iam.RolePolicyAttachmentArgs{
			Role:      role.Name,
			PolicyArn: pulumi.String(arn),
		}, opts...)
		if err != nil {
			return nil, err
		}
		attached = append(attached, a)
	}
	return attached, nil
}

// policyName is the last part of a policy's ARN.
func policyName(arn string) string { return arn[strings.LastIndexAny(arn, "/:")+1:] }
