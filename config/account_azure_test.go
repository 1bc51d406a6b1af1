package config

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const goodAzureAccount = `version: 1
name: acme
cloud: {provider: azure, region: germanywestcentral, account: "00000000-0000-4000-8000-000000000001", tenant: "00000000-0000-4000-8000-00000000000a"}
tags: {team: platform}
state: {container: "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/state/providers/Microsoft.Storage/storageAccounts/acmestate/blobServices/default/containers/state"}
pipelines:
  host: github
  repository: acme/clusters
`

const (
	previewConnection = "/eid1/c/pub/t/AQID/a/BAUG/sc/00000000-0000-4000-8000-0000000000d1/00000000-0000-4000-8000-0000000000d2"
	applyConnection   = "/eid1/c/pub/t/AQID/a/BAUG/sc/00000000-0000-4000-8000-0000000000d1/00000000-0000-4000-8000-0000000000d3"
	ofConnections     = "host: azure-devops\n  preview: {subject: " + previewConnection + "}\n  apply: {subject: " + applyConnection + "}\n"
)

func connections(text string) string {
	return strings.NewReplacer("host: github\n  repository: acme/clusters\n", text).Replace(goodAzureAccount)
}

func TestLoadAccountInAzure(t *testing.T) {
	a, err := accountOf(t, goodAzureAccount)
	assert.NilError(t, err)
	assert.Equal(t, a.Cloud.ResourceGroup, "acme-pipelines", "a cluster of the account's name has the group acme")
	assert.DeepEqual(t, a.Pipelines, Pipelines{
		Host: GitHub, Repository: "acme/clusters", Issuer: "token.actions.githubusercontent.com",
		Preview: PreviewRole{Environments: []string{"preview", "preview-program", "plan", "drift"}}, Apply: ApplyRole{Environments: []string{"apply"}},
	})
	a, err = accountOf(t, strings.Replace(goodAzureAccount, "host: github", "host: gitlab", 1))
	assert.NilError(t, err)
	assert.DeepEqual(t, a.Pipelines.Preview.Branches, []string{"main"})
	assert.Equal(t, a.Pipelines.Apply.Branch+" "+a.Pipelines.Issuer, "main gitlab.com")
	a, err = accountOf(t, connections(ofConnections))
	assert.NilError(t, err)
	assert.Equal(t, a.Pipelines.Issuer, "login.microsoftonline.com/00000000-0000-4000-8000-00000000000a/v2.0")
	a, err = accountOf(t, connections("host: azure-devops\n  issuer: vstoken.dev.azure.com/00000000-0000-4000-8000-0000000000d1\n"+
		"  preview: {subject: sc://acme/The Platform/tombolo-preview}\n  apply: {subject: sc://acme/The Platform/tombolo-apply}\n"))
	assert.NilError(t, err)
	assert.Equal(t, a.Pipelines.Apply.Subject, "sc://acme/The Platform/tombolo-apply")
}

// TestGitHubsNumbers: repositories made after July 2026 have them in their subjects, on both clouds.
func TestGitHubsNumbers(t *testing.T) {
	for _, file := range []string{goodAccount, goodAzureAccount} {
		a, err := accountOf(t, strings.Replace(file, "acme/clusters", "acme@5544123/clusters@821093847", 1))
		assert.NilError(t, err)
		assert.Equal(t, a.Pipelines.Repository, "acme@5544123/clusters@821093847")
		for host, repository := range map[string]string{"github": "acme@1/clusters", "gitlab": "acme@1/clusters@2"} {
			_, err = accountOf(t, strings.NewReplacer("acme/clusters", repository, "github", host).Replace(file))
			assert.ErrorContains(t, err, `pipelines.repository: "`+repository+`" is no `)
		}
	}
}

func TestLoadBadAccountInAzure(t *testing.T) {
	var many []string
	for i := range 21 {
		many = append(many, fmt.Sprintf("e%d", i))
	}
	with := func(lines ...string) string { return goodAzureAccount + "  " + strings.Join(lines, "\n  ") + "\n" }
	for text, want := range map[string]string{
		with("from: acme"):              "acme.yaml:9:3: pipelines.from: is a key of files for AWS, and this one is for Azure; remove it, and add host and repository",
		with("audience: x"):             "acme.yaml:9:3: pipelines.audience: is a key of files for AWS, and this one is for Azure; remove it: Entra takes tokens for api://AzureADTokenExchange alone",
		with("apply: {policyArns: []}"): "acme.yaml:9:11: pipelines.apply.policyArns: is a key of files for AWS, and this one is for Azure; remove it: the identity is Contributor",
		with("apply: {roles: [Owner]}"): "acme.yaml:9:19: pipelines.apply.roles[0]: Owner lets a job give itself every other role; name the roles that services and systems need",
		with("apply: {roles: [/providers/Microsoft.Authorization/roleDefinitions/18d7d88d-d35e-4fb5-a5c3-7773c20a72d9]}"): "pipelines.apply.roles[0]: User Access Administrator lets",
		with("apply: {roles: [Contributors]}"):                                                                          `pipelines.apply.roles[0]: "Contributors" is not a role that Tombolo knows; did you mean Contributor?`,
		with("apply: {roles: [Reader, Reader]}"):                                                                        `acme.yaml:9:27: pipelines.apply.roles[1]: "Reader" is already used at line 9`,
		with("preview: {environments: [a, a]}"):                                                                         `acme.yaml:9:31: pipelines.preview.environments[1]: "a" is already used at line 9`,
		with("preview: {environments: [" + strings.Join(many, ", ") + "]}"):                                             "acme.yaml:9:13: pipelines.preview.environments: has 21 items, a federated credential each; Azure allows 20 for an identity; remove 1",
		with("preview: {branches: [main]}"):                                                                             "acme.yaml:9:13: pipelines.preview.branches: is for GitLab",
		with("preview: {environments: [apply]}"):                                                                        "acme.yaml:6:1: pipelines.apply.environments[0]: \"apply\" is an environment of pipelines.preview too",
		with("preview: {subject: " + previewConnection + "}"):                                                           "acme.yaml:9:22: pipelines.preview.subject: is for Azure DevOps; remove it; the repository says whose jobs may use the identity",
		strings.Replace(goodAzureAccount, "acme/clusters", "acme", 1):                                                   `acme.yaml:8:15: pipelines.repository: "acme" is not the path of a repository`,
		strings.Replace(goodAzureAccount, "  repository: acme/clusters\n", "", 1):                                       "acme.yaml:6:1: pipelines.repository: is required and missing; add repository: acme/clusters",
		strings.Replace(goodAzureAccount, "container:", "bucketArn:", 1):                                                "acme.yaml:5:9: state.bucketArn: is a key of files for AWS, and this one is for Azure; use container",
		strings.Replace(goodAzureAccount, `tags: {team: platform}`, `tags: {"microsoft:x": y}`, 1):                      `acme.yaml:4:8: tags["microsoft:x"]: the prefix microsoft is reserved by Azure`,
		connections(strings.Replace(ofConnections, applyConnection, previewConnection, 1)):                              "pipelines.apply.subject: is that of pipelines.preview too: jobs that read would apply; make a service connection for each",
		connections(strings.Replace(ofConnections, applyConnection, "sc://acme/platform/tombolo-apply", 1)):             "acme.yaml:9:20: pipelines.apply.subject: is not of the issuer login.microsoftonline.com/",
		connections(strings.Replace(ofConnections, applyConnection, "tombolo-apply", 1)):                                `acme.yaml:9:20: pipelines.apply.subject: "tombolo-apply" is not the subject of a service connection; copy the subject identifier`,
		connections("host: azure-devops\n  repository: acme/clusters\n"):                                                "acme.yaml:8:15: pipelines.repository: is for GitHub and GitLab",
		connections("host: azure-devops\n"):                                                                             "pipelines.preview.subject: is required and missing; add the subject identifier that Azure DevOps shows",
		strings.Replace(goodAccount, "host: github", "host: azure-devops", 1):                                           `acme.yaml:8:9: pipelines.host: "azure-devops" is not a Git host that Tombolo knows in AWS`,
		strings.Replace(goodAccount, "apply: {", "apply: {roles: [Reader], ", 1):                                        "pipelines.apply.roles: is a key of files for Azure, and this one is for AWS; use policyArns",
		strings.Replace(goodAccount, "  apply: {policyArns: [\"arn:aws:iam::111122223333:policy/clusters\"]}\n", "", 1): "acme.yaml:7:1: pipelines.apply: is required and missing; add it, with policyArns",
		strings.Replace(goodAccount, "account: \"111122223333\"", "account: \"111122223333\", tenant: x", 1):            "cloud.tenant: is a key of files for Azure, and this one is for AWS",
	} {
		_, err := accountOf(t, text)
		assert.Check(t, is.ErrorContains(err, want))
	}
}
