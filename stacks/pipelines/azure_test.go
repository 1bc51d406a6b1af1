package pipelines

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/config/azurefacts"
	"tombolo/stacks/owner"
)

const azureFile = `version: 1
name: acme
cloud: {provider: azure, region: germanywestcentral, account: "00000000-0000-4000-8000-000000000001", tenant: "00000000-0000-4000-8000-00000000000a"}
tags: {team: platform}
state:
  container: /subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/state/providers/Microsoft.Storage/storageAccounts/acmestate/blobServices/default/containers/state
  key: /subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/state/providers/Microsoft.KeyVault/vaults/acme-state/keys/state
pipelines:
  host: github
  repository: acme/clusters
  apply: {roles: [Key Vault Secrets User, Contributor]}
`

const (
	identityType   = "azure-native:managedidentity/v20230131:UserAssignedIdentity"
	credentialType = "azure-native:managedidentity/v20230131:FederatedIdentityCredential"
	assignmentType = "azure-native:authorization/v20220401:RoleAssignment"
)

func runInAzure(t *testing.T, text, tenant string, o ...pulumi.RunOption) (*recorder.Recorder, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "acme.yaml")
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	a, err := config.LoadAccount(path)
	assert.NilError(t, err)
	r := &recorder.Recorder{Invokes: map[string]recorder.Answer{
		"azure-native:authorization:getClientConfig": func(resource.PropertyMap) (resource.PropertyMap, error) {
			return resource.PropertyMap{
				"tenantId": resource.NewProperty(tenant), "subscriptionId": resource.NewProperty("00000000-0000-4000-8000-000000000001"),
			}, nil
		},
	}}
	return r, r.Run("acme-pipelines", func(ctx *pulumi.Context) error { return Run(ctx, a, "file:///state") }, o...)
}

const tenant = "00000000-0000-4000-8000-00000000000a"

// TestIdentitiesOfGitHub has all that is made, by a preview: an up makes another owner each time.
func TestIdentitiesOfGitHub(t *testing.T) {
	r, err := runInAzure(t, azureFile, tenant, recorder.Preview)
	assert.NilError(t, err)
	r.GoldenRegistrations(t, "azure-native:", "azure.json")
}

// TestIdentitiesOfHosts: the issuer and the subjects by which jobs sign in.
func TestIdentitiesOfHosts(t *testing.T) {
	for text, want := range map[string][]string{
		"host: gitlab\n  repository: acme/platform/clusters\n  preview: {branches: [main, release/2.x]}\n": {
			"branch-main https://gitlab.com project_path:acme/platform/clusters:ref_type:branch:ref:main",
			"branch-release-2-x-6dbf78ae https://gitlab.com project_path:acme/platform/clusters:ref_type:branch:ref:release/2.x",
			"branch-main https://gitlab.com project_path:acme/platform/clusters:ref_type:branch:ref:main",
		},
		"host: github\n  repository: acme@5544123/clusters@821093847\n  preview: {environments: [preview]}\n": {
			"environment-preview https://token.actions.githubusercontent.com repo:acme@5544123/clusters@821093847:environment:preview",
			"environment-apply https://token.actions.githubusercontent.com repo:acme@5544123/clusters@821093847:environment:apply",
		},
		"host: azure-devops\n  preview: {subject: /eid1/a/sc/00000000-0000-4000-8000-0000000000d1/00000000-0000-4000-8000-0000000000d2}\n" +
			"  apply: {subject: /eid1/a/sc/00000000-0000-4000-8000-0000000000d1/00000000-0000-4000-8000-0000000000d3}\n": {
			"service-connection https://login.microsoftonline.com/" + tenant + "/v2.0 /eid1/a/sc/00000000-0000-4000-8000-0000000000d1/00000000-0000-4000-8000-0000000000d2",
			"service-connection https://login.microsoftonline.com/" + tenant + "/v2.0 /eid1/a/sc/00000000-0000-4000-8000-0000000000d1/00000000-0000-4000-8000-0000000000d3",
		},
	} {
		head, _, _ := strings.Cut(azureFile, "  host:")
		r, err := runInAzure(t, head+"  "+text, tenant)
		assert.NilError(t, err)
		var got []string
		for _, c := range r.OfType(credentialType) {
			got = append(got, c.String("federatedIdentityCredentialResourceName")+" "+c.String("issuer")+" "+c.String("subject"))
		}
		slices.Sort(got)
		slices.Sort(want)
		assert.DeepEqual(t, got, want)
	}
}

// TestCredentialNames: Azure takes letters, digits, dashes and underscores, and 120 of them.
func TestCredentialNames(t *testing.T) {
	long := strings.Repeat("l", azurefacts.MaxCredentialName)
	names := map[string]bool{}
	for _, of := range []string{"a-b", "a.b", "a/b", "preview", long, long + "l"} {
		name := credentialName("environment", of)
		assert.Check(t, is.Regexp(`^[A-Za-z0-9][-\w]{2,119}$`, name))
		assert.Check(t, !names[name], "two have the name %s", name)
		names[name] = true
	}
	assert.Check(t, names["environment-preview"])
}

// TestApplyGivesFewRoles: those that core gives to what it makes are those of the condition, and no
// role is among them that gives others.
func TestApplyGivesFewRoles(t *testing.T) {
	r, err := runInAzure(t, strings.Replace(azureFile, "  apply: {roles: [Key Vault Secrets User, Contributor]}\n", "", 1), tenant)
	assert.NilError(t, err)
	var conditions []string
	for _, a := range r.OfType(assignmentType) {
		if condition := a.String("condition"); condition != "" {
			conditions = append(conditions, condition)
			assert.Check(t, is.Contains(a.String("roleDefinitionId"), accessAdministrator))
			assert.Equal(t, a.String("conditionVersion"), "2.0")
		}
	}
	assert.Equal(t, len(conditions), 1)
	ids := regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).FindAllString(conditions[0], -1)
	assert.Equal(t, len(ids), 2*len(azurefacts.CoreRoles()))
	for _, id := range ids {
		assert.Check(t, azurefacts.GivesRoles(id) == "" && id != given([]string{azurefacts.Contributor})[len(azurefacts.CoreRoles())], "a job may give %s", id)
	}
}

func TestAnotherTenant(t *testing.T) {
	r, err := runInAzure(t, azureFile, "00000000-0000-4000-8000-00000000000b")
	assert.ErrorContains(t, err, "pipelines of acme: the Azure credentials are of tenant 00000000-0000-4000-8000-00000000000b, but the account file allows "+tenant+" only")
	for _, res := range r.All() {
		assert.Check(t, res.Type == "pulumi:providers:azure-native" || res.Type == owner.Type, "%s %s was registered", res.Type, res.Name)
	}
	assert.Check(t, is.Len(r.OfType(identityType), 0))
}
