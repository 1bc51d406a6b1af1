// Package pipelines is the program of the stack <account>-pipelines: the roles that
// jobs of the pipelines assume in a cloud account.
package pipelines

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/cirole"
	"tombolo/components/identity"
	"tombolo/config"
	"tombolo/config/awsfacts"
	"tombolo/internal/names"
	"tombolo/stacks/core/aws"
	"tombolo/stacks/owner"
)

// The outputs of the stack.
const (
	// PreviewRole is the ARN of the role that reads, for kubernetes.previewers of
	// cluster files.
	PreviewRole = "previewRoleArn"
	// ApplyRole is the ARN of the role that changes clusters.
	ApplyRole = "applyRoleArn"
	// Provider is the ARN of the OIDC provider for the pipelines' tokens.
	Provider = "oidcProviderArn"
)

// Run makes the roles, and the OIDC provider where the account has none. The backend
// is the URL of the state.
func Run(ctx *pulumi.Context, a *config.Account, backend string) error {
	if err := build(ctx, a, backend); err != nil {
		return fmt.Errorf("pipelines of %s: %w", a.Name, err)
	}
	return nil
}

func build(ctx *pulumi.Context, a *config.Account, backend string) error {
	own, err := owner.New(ctx, backend)
	if err != nil {
		return err
	}
	account, err := aws.NewProvider(ctx, a.Cloud, tags(a, own), own.Before())
	if err != nil {
		return err
	}
	if _, _, err := aws.Guard(ctx, "account file", a.Cloud, account); err != nil {
		return err
	}
	opts := []pulumi.ResourceOption{pulumi.Provider(account), pulumi.Protect(a.Protect)}
	provider := pulumi.String(a.Pipelines.ProviderARN).ToStringOutput()
	if a.Pipelines.ProviderARN == "" {
		if provider, err = cirole.NewProvider(ctx, a.Name, a.Pipelines.Issuer, a.Pipelines.Audience, opts...); err != nil {
			return err
		}
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
	ctx.Export(Provider, provider)
	return nil
}

// tags are on everything of the stack.
func tags(a *config.Account, own owner.Owner) map[string]string {
	all := map[string]string{}
	maps.Copy(all, a.Tags)
	all[names.PipelinesTag] = a.Name
	maps.Copy(all, own.Tags())
	return all
}

func previewArgs(a *config.Account, provider pulumi.StringInput) *cirole.RoleArgs {
	p := a.Pipelines
	args := jobs(p, provider)
	args.RoleName, args.Place = a.PreviewRoleName(), place(a, p.Preview.PermissionsBoundary)
	args.Statements = cirole.Reading(state(a))
	if len(p.Preview.Parameters) > 0 {
		args.Statements = append(args.Statements, cirole.ReadingParameters(awsfacts.Partition(a.Cloud.Region), a.Cloud.Account, p.Preview.Parameters))
	}
	// The branch of a merge request may have any name.
	args.Subjects = subjects(p, p.Preview.Environments, cirole.GitLabBranches(p.Repository))
	return args
}

func applyArgs(a *config.Account, provider pulumi.StringInput) *cirole.RoleArgs {
	p := a.Pipelines
	args := jobs(p, provider)
	args.RoleName, args.Place = a.ApplyRoleName(), place(a, p.Apply.PermissionsBoundary)
	args.Statements, args.PolicyARNs = cirole.WritingState(state(a)), p.Apply.PolicyARNs
	args.MaxSession = p.Apply.SessionHours * 3600
	args.Subjects = subjects(p, p.Apply.Environments, cirole.GitLabBranch(p.Repository, p.Apply.Branch))
	return args
}

// place of a role that has a boundary of its own, or that of all roles of the account.
func place(a *config.Account, own string) identity.Place {
	return identity.Place{Path: a.Cloud.Roles.Path, PermissionsBoundary: cmp.Or(own, a.Cloud.Roles.PermissionsBoundary)}
}

// jobs are the arguments that both roles share.
func jobs(p config.Pipelines, provider pulumi.StringInput) *cirole.RoleArgs {
	return &cirole.RoleArgs{Issuer: p.Issuer, Audience: p.Audience, ProviderARN: provider}
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
