// Package cirole makes the IAM roles of pipelines: one that reads, for previews and drift,
// and one that applies. Jobs assume them by OpenID Connect, or by a role of another account
// that they have. No key is stored anywhere: the pipeline's host signs a token for each
// job, and the role says which jobs may have it.
package cirole

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/identity"
	"tombolo/components/policy"
	"tombolo/components/ready"
)

const ciRoleType = "tombolo:cirole:Role"

// RoleArgs are the arguments of a Role.
type RoleArgs struct {
	// RoleName is the role's name in IAM, at most 64 characters.
	RoleName string
	// Issuer of the tokens, without https://, such as
	// token.actions.githubusercontent.com or gitlab.com.
	Issuer string
	// Audience of the tokens, such as sts.amazonaws.com for GitHub, or the
	// instance's address for GitLab.
	Audience string
	// Subjects of the jobs that may assume the role, such as
	// repo:acme/clusters:environment:apply. They have no wildcards, but for those of
	// GitLabBranches.
	Subjects []string
	// Statements are what the role allows, besides PolicyARNs.
	Statements []identity.Statement
	// PolicyARNs of managed policies.
	PolicyARNs []string
	// Place of the role in IAM.
	Place identity.Place
	// MaxSession is the longest session, in seconds. Default: 3600, as IAM's.
	MaxSession int

	// ProviderARN of the account's OIDC provider for the issuer.
	ProviderARN pulumi.StringInput
	// By is the ARN of the role of another account that assumes this one, in place of
	// jobs: then there is no issuer, audience, subject or provider.
	By string
}

// Role is an IAM role for jobs of a pipeline.
type Role struct {
	pulumi.ResourceState

	// ARN of the role. It resolves when the role has its rights.
	ARN pulumi.StringOutput
}

// NewRole makes a role that jobs with the subjects assume.
func NewRole(ctx *pulumi.Context, name string, args *RoleArgs, opts ...pulumi.ResourceOption) (*Role, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("role for pipelines %s: %w", name, err)
	}
	r := &Role{}
	inputs := pulumi.Map{"roleName": pulumi.String(args.RoleName), "subjects": pulumi.ToStringArray(args.Subjects)}
	if err := ctx.RegisterComponentResourceV2(ciRoleType, name, inputs, r, opts...); err != nil {
		return nil, fmt.Errorf("register role for pipelines %s: %w", name, err)
	}
	if err := r.build(ctx, name, args, pulumi.Parent(r)); err != nil {
		return nil, fmt.Errorf("role for pipelines %s: %w", name, err)
	}
	return r, ctx.RegisterResourceOutputs(r, pulumi.Map{"arn": r.ARN})
}

func (a *RoleArgs) validate() error {
	if a == nil {
		return errors.New("arguments are missing")
	}
	problems := []error{identity.CheckRoleName(a.RoleName)}
	if a.By != "" {
		if a.Issuer != "" || len(a.Subjects) > 0 {
			problems = append(problems, fmt.Errorf("role %s and jobs of %q: a role is assumed by one or the other", a.By, a.Issuer))
		}
		return errors.Join(append(problems, a.checkRights())...)
	}
	if a.Issuer == "" || strings.Contains(a.Issuer, "://") || a.Audience == "" || a.ProviderARN == nil {
		problems = append(problems, fmt.Errorf("issuer %q without https://, audience and the provider's ARN are required", a.Issuer))
	}
	if len(a.Subjects) == 0 {
		problems = append(problems, errors.New("no subject: any job of the issuer's, of anybody, could assume the role"))
	}
	for _, subject := range a.Subjects {
		problems = append(problems, checkSubject(subject))
	}
	return errors.Join(append(problems, a.checkRights())...)
}

func (a *RoleArgs) checkRights() error {
	if len(a.Statements) == 0 && len(a.PolicyARNs) == 0 {
		return errors.New("the role would allow nothing: give statements or policies")
	}
	return nil
}

// trust lets in the other account's role, or the tokens of the subjects, made for the
// audience.
func (a *RoleArgs) trust() (pulumi.StringInput, error) {
	if a.By != "" {
		document, err := policy.Render(policy.Statement{
			Effect: policy.Allow, Principal: map[string]string{"AWS": a.By}, Action: []string{"sts:AssumeRole"},
		})
		return pulumi.String(document), err
	}
	return a.trustJobs(), nil
}

func (a *RoleArgs) trustJobs() pulumi.StringOutput {
	return a.ProviderARN.ToStringOutput().ApplyT(func(provider string) (string, error) {
		conditions := policy.Conditions{"StringEquals": {a.Issuer + ":aud": {a.Audience}}}
		if slices.ContainsFunc(a.Subjects, wild) {
			conditions["StringLike"] = map[string][]string{a.Issuer + ":sub": a.Subjects}
		} else {
			conditions["StringEquals"][a.Issuer+":sub"] = a.Subjects
			maps.Copy(conditions["StringEquals"], ofTheBranch(a.Issuer))
		}
		return policy.Render(policy.Statement{
			Effect:    policy.Allow,
			Principal: map[string]string{"Federated": provider},
			Action:    []string{"sts:AssumeRoleWithWebIdentity"},
			Condition: conditions,
		})
	}).(pulumi.StringOutput)
}

func (a *RoleArgs) description() string {
	if a.By != "" {
		return "Jobs of a pipeline, through a role of another account"
	}
	return "Jobs of a pipeline, by OpenID Connect"
}

func (r *Role) build(ctx *pulumi.Context, name string, args *RoleArgs, parent pulumi.ResourceOption) error {
	trust, err := args.trust()
	if err != nil {
		return err
	}
	inputs := &iam.RoleArgs{Name: pulumi.String(args.RoleName), Description: pulumi.String(args.description()), AssumeRolePolicy: trust}
	if args.MaxSession > 0 {
		inputs.MaxSessionDuration = pulumi.Int(args.MaxSession)
	}
	args.Place.Put(inputs)
	role, err := iam.NewRole(ctx, name+"-role", inputs, parent)
	if err != nil {
		return err
	}
	var attached []pulumi.Resource
	if len(args.Statements) > 0 {
		document, err := identity.Document(args.Statements)
		if err != nil {
			return err
		}
		inline, err := iam.NewRolePolicy(ctx, name+"-policy", &iam.RolePolicyArgs{Role: role.Name, Policy: pulumi.String(document)}, parent)
		if err != nil {
			return err
		}
		attached = append(attached, inline)
	}
	for i, arn := range args.PolicyARNs {
		managed, err := iam.NewRolePolicyAttachment(ctx, fmt.Sprintf("%s-policy-%d", name, i), &iam.RolePolicyAttachmentArgs{
			Role: role.Name, PolicyArn: pulumi.String(arn),
		}, parent)
		if err != nil {
			return err
		}
		attached = append(attached, managed)
	}
	r.ARN = ready.After(role.Arn, attached...)
	return nil
}
