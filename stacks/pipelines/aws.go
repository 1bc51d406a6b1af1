package pipelines

import (
	"cmp"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/cirole"
	"tombolo/components/identity"
	"tombolo/config"
	"tombolo/config/awsfacts"
	"tombolo/stacks/core/aws"
	"tombolo/stacks/owner"
)

// The outputs of the stack of an account in AWS.
const (
	// PreviewRole is the ARN of the role that reads, for kubernetes.previewers of
	// cluster files.
	PreviewRole = "previewRoleArn"
	// ApplyRole is the ARN of the role that changes clusters.
	ApplyRole = "applyRoleArn"
	// Provider is the ARN of the OIDC provider for the pipelines' tokens. It is not there
	// where the roles are assumed by those of another account.
	Provider = "oidcProviderArn"
)

// buildInAWS makes IAM roles, and the OIDC provider where the account has none.
func buildInAWS(ctx *pulumi.Context, a *config.Account, own owner.Owner) error {
	account, err := aws.NewProvider(ctx, a.Cloud, tags(a, own), own.Before())
	if err != nil {
		return err
	}
	if _, _, err := aws.Guard(ctx, "account file", a.Cloud, account); err != nil {
		return err
	}
	opts := []pulumi.ResourceOption{pulumi.Provider(account), pulumi.Protect(a.Protect)}
	provider, err := oidcProvider(ctx, a, opts)
	if err != nil {
		return err
	}
	preview, err := cirole.NewRole(ctx, a.Name+"-preview", previewArgs(a, provider), opts...)
	if err != nil {
		return err
	}
	apply, err := cirole.NewRole(ctx, a.Name+"-apply", applyArgs(a, provider), opts...)
	if err != nil {
		return err
	}
	ctx.Export(PreviewRole, preview.ARN)
	ctx.Export(ApplyRole, apply.ARN)
	if provider != nil {
		ctx.Export(Provider, provider)
	}
	return nil
}

// oidcProvider is the account's, or a new one; nil where jobs do not sign in to the account.
func oidcProvider(ctx *pulumi.Context, a *config.Account, opts []pulumi.ResourceOption) (pulumi.StringInput, error) {
	switch {
	case a.Source != nil:
		return nil, nil
	case a.Pipelines.ProviderARN != "":
		return pulumi.String(a.Pipelines.ProviderARN), nil
	}
	return cirole.NewProvider(ctx, a.Name, a.Pipelines.Issuer, a.Pipelines.Audience, opts...)
}

func previewArgs(a *config.Account, provider pulumi.StringInput) *cirole.RoleArgs {
	p := a.Pipelines
	args := &cirole.RoleArgs{RoleName: a.PreviewRoleName(), Place: place(a, p.Preview.PermissionsBoundary)}
	args.Statements = cirole.Reading(state(a))
	if len(p.Preview.Parameters) > 0 {
		args.Statements = append(args.Statements, cirole.ReadingParameters(awsfacts.Partition(a.Cloud.Region), a.Cloud.Account, p.Preview.Parameters))
	}
	if a.Source != nil {
		args.By = a.Source.PreviewRoleARN()
		return args
	}
	args.Statements = append(args.Statements, assuming(a, (*config.Account).PreviewRoleARN)...)
	// The branch of a merge request may have any name.
	signIn(args, p, provider, subjects(p, p.Preview.Environments, cirole.GitLabBranches(p.Repository)))
	return args
}

func applyArgs(a *config.Account, provider pulumi.StringInput) *cirole.RoleArgs {
	p := a.Pipelines
	args := &cirole.RoleArgs{RoleName: a.ApplyRoleName(), Place: place(a, p.Apply.PermissionsBoundary), PolicyARNs: p.Apply.PolicyARNs}
	if a.Source != nil {
		args.By = a.Source.ApplyRoleARN()
		return args
	}
	args.Statements = append(cirole.WritingState(state(a)), assuming(a, (*config.Account).ApplyRoleARN)...)
	args.MaxSession = p.Apply.SessionHours * 3600
	signIn(args, p, provider, subjects(p, p.Apply.Environments, cirole.GitLabBranch(p.Repository, p.Apply.Branch)))
	return args
}

// assuming is how a role assumes those of the accounts that say so.
func assuming(a *config.Account, role func(*config.Account) string) []identity.Statement {
	if len(a.Served) == 0 {
		return nil
	}
	roles := make([]string, len(a.Served))
	for i, other := range a.Served {
		roles[i] = role(other)
	}
	return []identity.Statement{cirole.Assuming(roles)}
}

// place of a role that has a boundary of its own, or that of all roles of the account.
func place(a *config.Account, own string) identity.Place {
	return identity.Place{Path: a.Cloud.Roles.Path, PermissionsBoundary: cmp.Or(own, a.Cloud.Roles.PermissionsBoundary)}
}

// signIn lets jobs sign in by OpenID Connect.
func signIn(args *cirole.RoleArgs, p config.Pipelines, provider pulumi.StringInput, subjects []string) {
	args.Issuer, args.Audience, args.ProviderARN, args.Subjects = p.Issuer, p.Audience, provider, subjects
}

func state(a *config.Account) cirole.State {
	return cirole.State{BucketARN: a.State.BucketARN, KeyARN: a.State.KeyARN}
}

// subjects are those of the environments on GitHub, and the one given on GitLab, whose
// tokens name no environment.
func subjects(p config.Pipelines, environments []string, gitlab string) []string {
	if p.Host == config.GitLab {
		return []string{gitlab}
	}
	out := make([]string, len(environments))
	for i, name := range environments {
		out[i] = cirole.GitHubEnvironment(p.Repository, name)
	}
	return out
}
