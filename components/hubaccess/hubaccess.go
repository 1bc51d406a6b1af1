// Package hubaccess lets the Argo CD of another cluster, the hub, into an EKS
// cluster without a secret: the hub's IAM role assumes a role of the cluster's,
// which EKS knows as a member of a Kubernetes group. What the group may do is
// said on the cluster.
package hubaccess

import (
	"errors"
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/identity"
	"tombolo/components/policy"
	"tombolo/components/ready"
)

const hubAccessType = "tombolo:hubaccess:HubAccess"

// HubAccessArgs are the arguments of a HubAccess.
type HubAccessArgs struct {
	// RoleName is the role's name in IAM, at most 64 characters.
	RoleName string
	// Place of the role in IAM.
	Place identity.Place
	// HubRoleARN is the role of the hub's Argo CD, which may assume the role.
	// IAM refuses to trust a role that does not exist: make the hub first.
	HubRoleARN string
	// Group of Kubernetes that users of the role are members of.
	Group string

	// ClusterName of the cluster to be let into.
	ClusterName pulumi.StringInput
}

// HubAccess is the role for the hub and its access entry.
type HubAccess struct {
	pulumi.ResourceState

	// RoleARN of the role. It resolves when the cluster knows the role.
	RoleARN pulumi.StringOutput
}

// NewHubAccess makes the role, which may do nothing in the cloud, and the
// access entry.
func NewHubAccess(ctx *pulumi.Context, name string, args *HubAccessArgs, opts ...pulumi.ResourceOption) (*HubAccess, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("hub access %s: %w", name, err)
	}
	trust, err := args.trust()
	if err != nil {
		return nil, fmt.Errorf("hub access %s: %w", name, err)
	}
	c := &HubAccess{}
	if err := ctx.RegisterComponentResourceV2(hubAccessType, name, pulumi.Map{"hubRoleArn": pulumi.String(args.HubRoleARN)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register hub access %s: %w", name, err)
	}
	made := &iam.RoleArgs{
		Name:             pulumi.String(args.RoleName),
		Description:      pulumi.String("The hub's Argo CD, in the Kubernetes group " + args.Group),
		AssumeRolePolicy: pulumi.String(trust),
	}
	args.Place.Put(made)
	role, err := iam.NewRole(ctx, name+"-role", made, pulumi.Parent(c))
	if err != nil {
		return nil, fmt.Errorf("hub access %s: %w", name, err)
	}
	entry, err := eks.NewAccessEntry(ctx, name+"-access", &eks.AccessEntryArgs{
		ClusterName:      args.ClusterName,
		PrincipalArn:     role.Arn,
		KubernetesGroups: pulumi.ToStringArray([]string{args.Group}),
		Type:             pulumi.String("STANDARD"),
	}, pulumi.Parent(c))
	if err != nil {
		return nil, fmt.Errorf("hub access %s: %w", name, err)
	}
	c.RoleARN = ready.After(role.Arn, entry)
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"roleArn": c.RoleARN})
}

// trust names the one role of the hub, and lets it hand on its session's tags.
func (a *HubAccessArgs) trust() (string, error) {
	return policy.Render(policy.Statement{
		Effect:    policy.Allow,
		Principal: map[string]string{"AWS": a.HubRoleARN},
		Action:    []string{"sts:AssumeRole", "sts:TagSession"},
	})
}

func (a *HubAccessArgs) validate() error {
	problems := []error{identity.CheckRoleName(a.RoleName)}
	if a.HubRoleARN == "" || a.Group == "" || a.ClusterName == nil {
		problems = append(problems, errors.New("the hub's role, the group and the cluster's name are required"))
	}
	return errors.Join(problems...)
}
