package config

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/identity"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// devOpsIssuer is the issuer of the tokens of service connections for a tenant, and oldIssuer
// begins the one that ends on 1 July 2027. Sources:
// https://learn.microsoft.com/azure/devops/pipelines/release/troubleshoot-workload-identity and
// https://learn.microsoft.com/azure/devops/pipelines/release/convert-service-connections
const (
	devOpsIssuer = "login.microsoftonline.com/%s/v2.0"
	oldIssuer    = "vstoken.dev.azure.com/"
)

// connection is the subject of a service connection, by the same sources: with Entra's issuer it
// ends in the ids of organization and connection, and what is before them is Entra's; with the
// old one it has the names of organization, project and connection.
var connection = regexp.MustCompile(`^(/\S+/sc/[0-9a-f-]{36}/[0-9a-f-]{36}|` + oldSubject + `[^/\s]+/[^/]+/[^/]+)$`)

const oldSubject = "sc://"

// maxSubject is the length of a subject in a federated credential. Source:
// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
const maxSubject = 600

func connectionRule() strict.Rule {
	return strict.Rule{
		What: "the subject of a service connection", Pattern: connection, MaxLength: maxSubject,
		Example: "/eid1/c/pub/t/.../sc/00000000-0000-4000-8000-000000000001/00000000-0000-4000-8000-000000000002",
		Advice: func(string) string {
			return "copy the subject identifier that Azure DevOps shows of the connection, with the issuer beside it"
		},
	}
}

// onAzure says that the account is a subscription in Azure.
func (a *Account) onAzure() bool { return a.Cloud.Provider == Azure }

func (a *Account) setAzureDefaults() {
	a.Cloud.ResourceGroup = cmp.Or(a.Cloud.ResourceGroup, a.Name+"-pipelines")
	p := &a.Pipelines
	switch p.Host {
	case GitHub:
		p.Issuer = cmp.Or(p.Issuer, githubIssuer)
		p.setEnvironments()
	case GitLab:
		p.Issuer = cmp.Or(p.Issuer, gitlabIssuer)
		p.Apply.Branch = cmp.Or(p.Apply.Branch, gitlabBranch)
		if p.Preview.Branches == nil {
			p.Preview.Branches = []string{gitlabBranch}
		}
	case AzureDevOps:
		p.Issuer = cmp.Or(p.Issuer, fmt.Sprintf(devOpsIssuer, a.Cloud.Tenant))
	}
}

// checkInAzure checks what Azure requires of the identities.
func checkInAzure(v *check.File, a *Account) {
	p := a.Pipelines
	checkAzureTags(v, a.Cluster())
	checkFederated(v, "pipelines.preview.environments", p.Preview.Environments)
	checkFederated(v, "pipelines.preview.branches", p.Preview.Branches)
	checkFederated(v, "pipelines.apply.environments", p.Apply.Environments)
	checkGivenByJobs(v, p.Apply.Roles)
	required := map[strict.Path]string{
		"pipelines.host": "add host: github, gitlab or azure-devops",
		"state":          "add state: {container: ...}, the blob container of the clusters' state",
	}
	if p.Host == AzureDevOps {
		const subject = "add the subject identifier that Azure DevOps shows of the service connection"
		required["pipelines.preview.subject"], required["pipelines.apply.subject"] = subject, subject
		checkConnections(v, p)
	} else {
		required["pipelines.repository"] = "add repository: acme/clusters"
	}
	for at, remedy := range required {
		if !v.Doc.Has(at) {
			v.Problem(at, remedy, "is required and missing")
		}
	}
}

// checkFederated checks the names that are one federated credential each.
func checkFederated(v *check.File, at strict.Path, names []string) {
	check.Unique(v, at, "", names, check.Itself, "remove it")
	if n := len(names); n > azurefacts.MaxCredentials {
		v.Problem(at, fmt.Sprintf("remove %d", n-azurefacts.MaxCredentials), "has %d items, a federated credential each; Azure allows %d for an identity", n, azurefacts.MaxCredentials)
	}
}

// checkGivenByJobs checks the roles that a job may give: none by which it could get any other.
func checkGivenByJobs(v *check.File, roles []string) {
	const list = strict.Path("pipelines.apply.roles")
	check.Unique(v, list, "", roles, check.Itself, "remove it")
	for i, role := range roles {
		definition := role
		if id := form.RoleID.FindStringSubmatch(role); id != nil {
			definition = id[2]
		} else if _, known := azurefacts.RoleID(role); !known && azurefacts.GivesRoles(role) == "" {
			v.Problem(list.Index(i), identity.NearestRole(role), "%s is not a role that Tombolo knows", wording.Quote(role))
		}
		if name := azurefacts.GivesRoles(definition); name != "" {
			v.Problem(list.Index(i), "name the roles that services and systems need", "%s lets a job give itself every other role", name)
		}
	}
}

// checkConnections checks the subjects of the service connections: each is of one identity, and
// of the issuer.
func checkConnections(v *check.File, p Pipelines) {
	if p.Apply.Subject != "" && p.Apply.Subject == p.Preview.Subject {
		v.Problem("pipelines.apply.subject", "make a service connection for each", "is that of pipelines.preview too: jobs that read would apply")
	}
	for at, subject := range map[strict.Path]string{"pipelines.preview.subject": p.Preview.Subject, "pipelines.apply.subject": p.Apply.Subject} {
		old := strings.HasPrefix(subject, oldSubject)
		if subject != "" && old != strings.HasPrefix(p.Issuer, oldIssuer) {
			v.Problem(at, "copy issuer and subject of the same connection: Entra's issuer has a subject that begins with a slash, "+oldIssuer+"<organization> one with "+oldSubject,
				"is not of the issuer %s", p.Issuer)
		}
	}
}
