package pipelines

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/azuregroup"
	"tombolo/components/azureidentity"
	"tombolo/components/cirole"
	"tombolo/config"
	"tombolo/config/azurefacts"
	"tombolo/internal/armid"
	"tombolo/stacks/core/azure"
	"tombolo/stacks/owner"
)

// The outputs of the stack of a subscription in Azure: what jobs sign in by, and the objects that
// are to be members of groups of Entra.
const (
	// PreviewClient is the client id of the identity that reads.
	PreviewClient = "previewClientId"
	// PreviewPrincipal is its object id, for the group of kubernetes.previewers of cluster files.
	PreviewPrincipal = "previewPrincipalId"
	// ApplyClient is the client id of the identity that changes clusters.
	ApplyClient = "applyClientId"
	// ApplyPrincipal is its object id, for a group of kubernetes.admins.
	ApplyPrincipal = "applyPrincipalId"
	// Tenant is that of the file.
	Tenant = "tenantId"
	// Subscription is that of the file.
	Subscription = "subscriptionId"
)

// Roles of the identities beside those that azurefacts knows by name. Source:
// https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
const (
	clusterUser         = "4abbcc35-e782-43d8-92c5-2d3f1bd2253f" // Azure Kubernetes Service Cluster User Role
	accessAdministrator = "f58310d9-a9f6-439a-9e8d-f62e7b41a168" // Role Based Access Control Administrator
)

// buildInAzure makes the identities in a resource group of their own.
func buildInAzure(ctx *pulumi.Context, a *config.Account, own owner.Owner) error {
	made, err := azure.NewProvider(ctx, "azure", a.Cloud.Account, own.Before())
	if err != nil {
		return err
	}
	if err := azure.Guard(ctx, "account file", a.Cloud, made); err != nil {
		return err
	}
	provider := pulumi.Provider(made)
	group, err := azuregroup.NewGroup(ctx, a.Name, &azuregroup.GroupArgs{
		Name: a.Cloud.ResourceGroup, Location: a.Cloud.Region, Tags: tags(a, own), Protect: a.Protect,
	}, provider)
	if err != nil {
		return err
	}
	for _, i := range []struct {
		job, client, principal string
		credentials            []azureidentity.Credential
		grants                 []azureidentity.Grant
	}{
		{"preview", PreviewClient, PreviewPrincipal, previewCredentials(a.Pipelines), reading(a)},
		{"apply", ApplyClient, ApplyPrincipal, applyCredentials(a.Pipelines), applying(a)},
	} {
		identity, err := azureidentity.NewIdentity(ctx, a.Name+"-"+i.job, &azureidentity.IdentityArgs{
			Name: a.Name + "-pipelines-" + i.job, Subscription: a.Cloud.Account, Location: a.Cloud.Region,
			GroupName: a.Cloud.ResourceGroup, ResourceGroup: group.Name, Tags: tags(a, own),
			Issuer: pulumi.String("https://" + a.Pipelines.Issuer), Credentials: i.credentials, Grants: i.grants,
		}, provider, pulumi.Protect(a.Protect))
		if err != nil {
			return err
		}
		ctx.Export(i.client, identity.ClientID)
		ctx.Export(i.principal, identity.PrincipalID)
	}
	ctx.Export(Tenant, pulumi.String(a.Cloud.Tenant))
	ctx.Export(Subscription, pulumi.String(a.Cloud.Account))
	return nil
}

// reading are the roles of jobs that read: all of the subscription but data, the address of its
// clusters' APIs, and the state, without the key of what is secret in it.
func reading(a *config.Account) []azureidentity.Grant {
	subscription := armid.Subscription(a.Cloud.Account)
	return []azureidentity.Grant{
		{Role: roleID(azurefacts.Reader), Scope: subscription},
		{Role: clusterUser, Scope: subscription},
		{Role: roleID(azurefacts.BlobDataReader), Scope: a.State.Container},
	}
}

// applying are the roles of jobs that change clusters. Contributor gives no roles; the
// administrator of access gives those alone that core gives, and those of the file.
func applying(a *config.Account) []azureidentity.Grant {
	subscription := armid.Subscription(a.Cloud.Account)
	grants := []azureidentity.Grant{
		{Role: roleID(azurefacts.Contributor), Scope: subscription},
		{Role: accessAdministrator, Scope: subscription, Condition: azureidentity.GivingOnly(given(a.Pipelines.Apply.Roles))},
		{Role: roleID(azurefacts.BlobDataContributor), Scope: a.State.Container},
	}
	if a.State.Key != "" {
		grants = append(grants, azureidentity.Grant{Role: roleID(azurefacts.KeyVaultCryptoUser), Scope: a.State.Key})
	}
	return grants
}

// given are the definitions of the roles that a job may give: core's, and others by name or id.
func given(others []string) []string {
	var ids []string
	for _, name := range append(azurefacts.CoreRoles(), others...) {
		if id := roleID(name); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// roleID is the UUID of a role's definition, by its name or the definition's id.
func roleID(nameOrID string) string {
	if id, known := azurefacts.RoleID(nameOrID); known {
		return id
	}
	return armid.NameOf(nameOrID)
}

func previewCredentials(p config.Pipelines) []azureidentity.Credential {
	return credentials(p, p.Preview.Environments, p.Preview.Branches, p.Preview.Subject)
}

func applyCredentials(p config.Pipelines) []azureidentity.Credential {
	return credentials(p, p.Apply.Environments, []string{p.Apply.Branch}, p.Apply.Subject)
}

// credentials for the subjects that the host's tokens have.
func credentials(p config.Pipelines, environments, branches []string, connection string) []azureidentity.Credential {
	var out []azureidentity.Credential
	switch p.Host {
	case config.GitHub:
		for _, name := range environments {
			out = append(out, azureidentity.Credential{Name: credentialName("environment", name), Subject: cirole.GitHubEnvironment(p.Repository, name)})
		}
	case config.GitLab:
		for _, name := range branches {
			out = append(out, azureidentity.Credential{Name: credentialName("branch", name), Subject: cirole.GitLabBranch(p.Repository, name)})
		}
	case config.AzureDevOps:
		out = append(out, azureidentity.Credential{Name: "service-connection", Subject: connection})
	}
	return out
}

// notInCredential are the characters that the name of a credential may not have.
var notInCredential = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// credentialName is the name of the credential for something of a kind. Where Azure does not take
// what that is called, it ends in a hash, so that no two have one name.
func credentialName(kind, of string) string {
	plain := kind + "-" + notInCredential.ReplaceAllString(of, "-")
	if plain == kind+"-"+of && len(plain) <= azurefacts.MaxCredentialName {
		return plain
	}
	hash := fmt.Sprintf("-%x", sha256.Sum256([]byte(of)))[:9]
	return plain[:min(len(plain), azurefacts.MaxCredentialName-len(hash))] + hash
}
