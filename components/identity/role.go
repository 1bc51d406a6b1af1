// Package identity makes IAM roles that Kubernetes service accounts may assume,
// one or a few of the same software, by IRSA or by EKS Pod Identity.
package identity

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/ready"
)

const roleType = "tombolo:identity:Role"

// maxRoleName is IAM's limit for the name of a role, in characters.
const maxRoleName = 64

// Mode is how a pod gets the role's credentials.
type Mode string

// The modes.
const (
	// IRSA trusts tokens of the cluster's OIDC provider.
	IRSA Mode = "irsa"
	// PodIdentity trusts the EKS Pod Identity service, for one association.
	PodIdentity Mode = "pod-identity"
)

// RoleArgs are the arguments of a Role.
type RoleArgs struct {
	// RoleARN of a role that others own and that is only read; "" makes one, which RoleName
	// to Statements are about.
	RoleARN string
	// RoleName is the role's name in IAM, at most 64 characters.
	RoleName string
	// Place of the role in IAM.
	Place Place
	// Mode of trust.
	Mode Mode
	// Namespace and ServiceAccount that may assume the role, and no other but
	// OtherServiceAccounts.
	Namespace, ServiceAccount string
	// OtherServiceAccounts of the namespace that may assume it too. Default:
	// none.
	OtherServiceAccounts []string
	// PolicyARNs of managed policies to attach.
	PolicyARNs []string
	// Statements of the role's own policy, inline: at most 10240 characters.
	// None makes no policy.
	Statements []Statement
	// AccountID of the cluster, for Pod Identity.
	AccountID string

	// OIDCProviderARN and OIDCIssuer of the cluster, for IRSA.
	OIDCProviderARN, OIDCIssuer pulumi.StringInput
	// ClusterName and ClusterARN, for Pod Identity.
	ClusterName, ClusterARN pulumi.StringInput
}

// Role is an IAM role for service accounts.
type Role struct {
	pulumi.ResourceState

	// ARN of the role. It resolves when the policies are attached, so that
	// a user of it does not start without its rights.
	ARN pulumi.StringOutput
}

// NewRole makes a role, its policies and, for Pod Identity, the association.
func NewRole(ctx *pulumi.Context, name string, args *RoleArgs, opts ...pulumi.ResourceOption) (*Role, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("identity %s: %w", name, err)
	}
	c := &Role{}
	inputs := pulumi.Map{
		"mode": pulumi.String(args.Mode), "namespace": pulumi.String(args.Namespace),
		"serviceAccount": pulumi.String(args.ServiceAccount),
	}
	if err := ctx.RegisterComponentResourceV2(roleType, name, inputs, c, opts...); err != nil {
		return nil, fmt.Errorf("register identity %s: %w", name, err)
	}
	parent := pulumi.Parent(c)
	if args.RoleARN != "" {
		return c, c.useGiven(ctx, name, args, parent)
	}
	made := &iam.RoleArgs{
		Name:             pulumi.String(args.RoleName),
		Description:      pulumi.String(args.description()),
		AssumeRolePolicy: args.trust(),
	}
	args.Place.Put(made)
	role, err := iam.NewRole(ctx, name+"-role", made, parent)
	if err != nil {
		return nil, fmt.Errorf("identity %s: %w", name, err)
	}
	policies, err := attach(ctx, name, role, args, parent)
	if err != nil {
		return nil, fmt.Errorf("identity %s: %w", name, err)
	}
	if args.Mode == PodIdentity {
		if err := associate(ctx, name, role.Arn, args, parent, policies); err != nil {
			return nil, fmt.Errorf("identity %s: %w", name, err)
		}
	}
	c.ARN = ready.After(role.Arn, policies...)
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"arn": c.ARN})
}

// useGiven takes a role that others own: nothing of it is made or changed.
func (c *Role) useGiven(ctx *pulumi.Context, name string, args *RoleArgs, parent pulumi.ResourceOption) error {
	if args.Mode == PodIdentity {
		if err := associate(ctx, name, pulumi.String(args.RoleARN), args, parent, nil); err != nil {
			return fmt.Errorf("identity %s: %w", name, err)
		}
	}
	c.ARN = pulumi.String(args.RoleARN).ToStringOutput()
	return ctx.RegisterResourceOutputs(c, pulumi.Map{"arn": c.ARN})
}

func (a *RoleArgs) validate() error {
	var problems []error
	switch {
	case a.RoleARN == "":
		problems = []error{CheckRoleName(a.RoleName), checkStatements(a.Statements)}
	case len(a.PolicyARNs)+len(a.Statements) > 0:
		problems = []error{errors.New("a role that others own gets no policies")}
	}
	if a.Namespace == "" || slices.Contains(a.serviceAccounts(), "") {
		problems = append(problems, errors.New("namespace and service account are required"))
	}
	switch a.Mode {
	case IRSA:
		if a.RoleARN == "" && (a.OIDCProviderARN == nil || a.OIDCIssuer == nil) {
			problems = append(problems, errors.New("irsa needs the OIDC provider's ARN and the issuer"))
		}
	case PodIdentity:
		if a.ClusterName == nil || a.ClusterARN == nil || a.AccountID == "" {
			problems = append(problems, errors.New("pod-identity needs the cluster's name and ARN and the account"))
		}
	default:
		problems = append(problems, fmt.Errorf("mode %q is unknown; expected irsa or pod-identity", a.Mode))
	}
	return errors.Join(problems...)
}

func (a *RoleArgs) serviceAccounts() []string {
	return append([]string{a.ServiceAccount}, a.OtherServiceAccounts...)
}

func (a *RoleArgs) description() string {
	what := "Service account"
	if len(a.OtherServiceAccounts) > 0 {
		what = "Service accounts"
	}
	return fmt.Sprintf("%s %s/%s by %s", what, a.Namespace, strings.Join(a.serviceAccounts(), " "), a.Mode)
}

// trust is the role's trust policy for the mode.
func (a *RoleArgs) trust() pulumi.StringOutput {
	if a.Mode == IRSA {
		return pulumi.All(a.OIDCProviderARN, a.OIDCIssuer).ApplyT(func(v []any) (string, error) {
			return WebIdentityTrust(v[0].(string), v[1].(string), a.Namespace, a.serviceAccounts())
		}).(pulumi.StringOutput)
	}
	return a.ClusterARN.ToStringOutput().ApplyT(func(arn string) (string, error) {
		return podIdentityTrust(a.AccountID, arn)
	}).(pulumi.StringOutput)
}

func attach(ctx *pulumi.Context, name string, role *iam.Role, args *RoleArgs, parent pulumi.ResourceOption) ([]pulumi.Resource, error) {
	attached, err := attachManaged(ctx, name, role, args.PolicyARNs, parent)
	if err != nil || len(args.Statements) == 0 {
		return attached, err
	}
	document, err := Document(args.Statements)
	if err != nil {
		return nil, err
	}
	p, err := iam.NewRolePolicy(ctx, name+"-policy", &iam.RolePolicyArgs{
		Name:   pulumi.String(args.RoleName),
		Role:   role.Name,
		Policy: pulumi.String(document),
	}, parent)
	if err != nil {
		return nil, err
	}
	return append(attached, p), nil
}

func associate(ctx *pulumi.Context, name string, role pulumi.StringInput, args *RoleArgs, parent pulumi.ResourceOption, policies []pulumi.Resource) error {
	for i, account := range args.serviceAccounts() {
		resource := name + "-association"
		if i > 0 {
			resource = name + "-" + account + "-association"
		}
		_, err := eks.NewPodIdentityAssociation(ctx, resource, &eks.PodIdentityAssociationArgs{
			ClusterName:    args.ClusterName,
			Namespace:      pulumi.String(args.Namespace),
			ServiceAccount: pulumi.String(account),
			RoleArn:        role,
		}, parent, pulumi.DependsOn(policies))
		if err != nil {
			return err
		}
	}
	return nil
}

// Place says where in IAM a role is, and how far its rights go at most. The zero value
// is the path / and no boundary.
type Place struct {
	// Path of the role, such as /tombolo/. "" is /. A role of another path is another role.
	Path string
	// PermissionsBoundary is the ARN of a policy beyond which the role's rights do not
	// go. "" for none.
	PermissionsBoundary string
}

// Put sets the place of a role that is made.
func (p Place) Put(role *iam.RoleArgs) {
	role.Path = p.PathInput()
	if p.PermissionsBoundary != "" {
		role.PermissionsBoundary = pulumi.String(p.PermissionsBoundary)
	}
}

// PathInput is the path as an argument of a resource, which has none for /.
func (p Place) PathInput() pulumi.StringPtrInput {
	if p.Path == "" || p.Path == "/" {
		return nil
	}
	return pulumi.String(p.Path)
}
