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

// Assuming is the statement by which a role assumes roles of other accounts.
func Assuming(roles []string) identity.Statement {
	return identity.Statement{Sid: "AssumeRolesOfAccounts", Actions: []string{"sts:AssumeRole"}, Resources: roles}
}

// ReadingParameters is the statement by which previews read parameters of an account,
// by their names, of which a * at the end stands for all that begin so. It does not keep
// a SecureString back that AWS's own key encrypts: the policy of that key lets everybody
// in who may call GetParameter
// (https://docs.aws.amazon.com/kms/latest/developerguide/services-parameter-store.html).
func ReadingParameters(partition, account string, parameters []string) identity.Statement {
	s := identity.Statement{Sid: "ReadParameters", Actions: []string{"ssm:GetParameter"}}
	for _, name := range parameters {
		s.Resources = append(s.Resources, "arn:"+partition+":ssm:*:"+account+":parameter/"+strings.TrimPrefix(name, "/"))
	}
	return s
}

// NewProvider makes the account's OIDC provider for an issuer, without https://, whose
// tokens have the audience, and returns its ARN. An account has one at most for an
// issuer. It gives no thumbprints: IAM checks issuers against its own store of
// certificate authorities.
func NewProvider(ctx *pulumi.Context, name, issuer, audience string, opts ...pulumi.ResourceOption) (pulumi.StringOutput, error) {
	made, err := iam.NewOpenIdConnectProvider(ctx, name, &iam.OpenIdConnectProviderArgs{
		Url:           pulumi.String("https://" + issuer),
		ClientIdLists: pulumi.ToStringArray([]string{audience}),
	}, opts...)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("OIDC provider for %s: %w", issuer, err)
	}
	return made.Arn, nil
}

// The issuers and audiences of tokens on the public hosts.
const (
	GitHubIssuer   = "token.actions.githubusercontent.com"
	GitHubAudience = "sts.amazonaws.com"
	GitLabIssuer   = "gitlab.com"
	GitLabAudience = "https://gitlab.com"
)

// GitHubEnvironment is the subject of the jobs of a repository, such as
// acme/clusters, in an environment of GitHub's. What the environment demands,
// such as a branch or an approval, has then been given.
func GitHubEnvironment(repository, environment string) string {
	return fmt.Sprintf("repo:%s:environment:%s", repository, environment)
}

// GitLabBranch is the subject of the jobs on a branch of a project, such as
// acme/clusters, on GitLab. A merge request from that branch has it too, with the jobs that
// the file of the other branch names if GitLab runs the merged result: see ofTheBranch.
func GitLabBranch(project, branch string) string {
	return fmt.Sprintf("project_path:%s:ref_type:branch:ref:%s", project, branch)
}

// GitLabBranches is the subject of the jobs on all branches of a project on GitLab,
// those of its merge requests too: a token of GitLab's names the branch that is to
// be merged, and not its environment. It is for roles that read: whoever may push a
// branch may have the role. A merge request from a fork has the fork's subject, even if
// a member runs its pipeline in the parent project. Before GitLab 18.2.2 that pipeline had
// the parent's, with the branch of the fork (gitlab-org/gitlab, issues 548165 and 561735).
func GitLabBranches(project string) string { return GitLabBranch(project, anyBranch) }

// anyBranch stands for every branch, at the end of a subject.
const anyBranch = "*"

// ofTheBranch are conditions besides the subject of one branch on gitlab.com: a push or a
// schedule has started the jobs, so no merge request, and the branch is protected. AWS reads
// these claims for gitlab.com alone; of another instance's tokens it reads the subject
// (docs.gitlab.com/ci/secrets/id_token_authentication; AWS's keys are those for OIDC
// federation in IAM/latest/UserGuide/reference_policies_iam-condition-keys).
func ofTheBranch(issuer string) map[string][]string {
	if issuer != GitLabIssuer {
		return nil
	}
	return map[string][]string{issuer + ":pipeline_source": {"push", "schedule"}, issuer + ":ref_protected": {"true"}}
}

// checkSubject refuses a subject that may belong to others: a wildcard stands for
// branches of one project alone.
func checkSubject(subject string) error {
	fixed, ends := strings.CutSuffix(subject, ":ref_type:branch:ref:"+anyBranch)
	if subject == "" || strings.ContainsAny(fixed, "*?") || ends && fixed == "" {
		return fmt.Errorf("subject %q: a subject is given in full, without wildcards but for the branches of a project", subject)
	}
	return nil
}

// wild says that a subject stands for several.
func wild(subject string) bool { return strings.HasSuffix(subject, anyBranch) }

// State is where the stacks' state is, for roles that use it.
type State struct {
	// BucketARN of the S3 bucket; empty for roles that do not use the state, as another
	// account's do it.
	BucketARN string
	// KeyARN of the KMS key that encrypts secrets in the state, and maybe the bucket's
	// objects; empty with another secrets provider.
	KeyARN string
}

// Reading are the statements of a role that may look at what the stacks make, and
// at their state, and change nothing: for previews and drift. It reads no object
// in a bucket but the state's, no secret, in the state neither, and no log.
func Reading(s State) []identity.Statement {
	out := []identity.Statement{
		{
			Sid: "Look",
			Actions: []string{
				"acm:DescribeCertificate", "acm:ListCertificates", "acm:ListTagsForCertificate",
				"autoscaling:Describe*", "ec2:Describe*", "eks:Describe*", "eks:List*",
				"elasticfilesystem:Describe*", "elasticfilesystem:ListTagsForResource", "elasticloadbalancing:Describe*",
				"events:Describe*", "events:List*",
				"iam:GetInstanceProfile", "iam:GetOpenIDConnectProvider", "iam:GetPolicy", "iam:GetPolicyVersion", "iam:GetRole", "iam:GetRolePolicy", "iam:List*",
				"kms:Describe*", "kms:GetKeyPolicy", "kms:GetKeyRotationStatus", "kms:List*",
				"logs:DescribeLogGroups", "logs:ListTagsForResource",
				"route53:Get*", "route53:List*",
				"s3:GetBucket*", "s3:GetEncryptionConfiguration", "s3:GetLifecycleConfiguration", "s3:ListAllMyBuckets", "s3:ListBucket",
				"s3:GetAccelerateConfiguration", "s3:GetReplicationConfiguration",
				"servicequotas:Get*", "servicequotas:List*", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ListQueueTags", "sqs:ListQueues",
				"tag:GetResources",
			},
			Resources: []string{"*"},
		},
	}
	if s.BucketARN != "" {
		out = append(out, identity.Statement{Sid: "ReadState", Actions: []string{"s3:GetObject"}, Resources: []string{s.BucketARN + "/*"}})
	}
	if s.KeyARN != "" {
		out = append(out, identity.Statement{
			Sid: "ReadStateThroughS3", Actions: []string{"kms:Decrypt"}, Resources: []string{s.KeyARN}, Conditions: throughS3(s.KeyARN),
		})
	}
	return out
}

// throughS3 holds for requests that S3 makes to KMS to read a bucket that is encrypted by the
// same key. What has a token in it is encrypted in the state once more, by Pulumi, which asks
// KMS itself: gocloud.dev/secrets/awskms calls Decrypt, and no service is between. S3 does not
// open it either: it gives KMS the data key of an object, in an encryption context of its own.
// The name of the service is the same in all partitions, and the key is in the bucket's region.
// Sources: https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
// and https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
func throughS3(keyARN string) map[string]map[string][]string {
	var region string
	if parts := strings.Split(keyARN, ":"); len(parts) > 3 { // arn:partition:kms:region:…
		region = parts[3]
	}
	return map[string]map[string][]string{"StringEquals": {"kms:ViaService": {"s3." + region + ".amazonaws.com"}}}
}

// WritingState are the statements by which a role that applies writes the state.
// What it may do besides is for its policies to say.
func WritingState(s State) []identity.Statement {
	out := []identity.Statement{
		{Sid: "FindState", Actions: []string{"s3:ListBucket", "s3:GetBucketLocation"}, Resources: []string{s.BucketARN}},
		{Sid: "WriteState", Actions: []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject"}, Resources: []string{s.BucketARN + "/*"}},
	}
	if s.KeyARN != "" {
		out = append(out, identity.Statement{Sid: "EncryptState", Actions: []string{"kms:Encrypt", "kms:Decrypt"}, Resources: []string{s.KeyARN}})
	}
	return out
}
