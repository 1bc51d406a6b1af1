package azureidentity

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

const (
	subscription = "00000000-0000-4000-8000-000000000001"
	vault        = "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/secrets/providers/Microsoft.KeyVault/vaults/shop"
	secretsUser  = "4633458b-17de-408a-b874-0445c86b69e6"
)

func identityArgs() *IdentityArgs {
	return &IdentityArgs{
		Name: "demo-shop", Subscription: subscription, Location: "germanywestcentral", GroupName: "demo", ResourceGroup: pulumi.String("demo"),
		Issuer:      pulumi.String("https://issuer.example/1/"),
		Credentials: []Credential{ServiceAccount("shop", "web"), ServiceAccount("shop", "jobs.nightly")},
		Grants:      []Grant{{Role: secretsUser, Scope: vault}, {Role: "/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/own", Scope: "/subscriptions/s"}},
		Tags:        map[string]string{"tombolo:cluster": "demo"},
	}
}

func run(t *testing.T, r *recorder.Recorder, o ...pulumi.RunOption) *recorder.Recorder {
	t.Helper()
	return r.Sound(t, r.Run("demo-core", recorder.Probing("demo-service-shop", NewIdentity, identityArgs(), func(i *Identity) pulumi.Map {
		return pulumi.Map{"id": pulumi.String(i.ID), "client": i.ClientID, "principal": i.PrincipalID}
	}), o...))
}

func known() *recorder.Recorder {
	return &recorder.Recorder{Outputs: map[string]resource.PropertyMap{
		"azure-native:managedidentity/v20230131:UserAssignedIdentity": {
			"clientId": resource.NewProperty("c0"), "principalId": resource.NewProperty("p0"),
		},
	}}
}

// TestIdentity: credentials are made one after another, and who uses the identity waits for all
// of it.
func TestIdentity(t *testing.T) {
	r := run(t, known())
	r.GoldenRegistrations(t, "azure-native:", "identity.json")
	r.Probed().Expect(t, map[string]string{
		"id":     "/subscriptions/" + subscription + "/resourceGroups/demo/providers/Microsoft.ManagedIdentity/userAssignedIdentities/demo-shop",
		"client": "c0", "principal": "p0",
	})
	r.Probed().ExpectAfter(t, "client", "demo-service-shop-credential-shop_web", "demo-service-shop-credential-shop_jobs__nightly")
}

// TestPreview: names of role assignments are known before the identity.
func TestPreview(t *testing.T) {
	r := run(t, &recorder.Recorder{Unborn: true}, recorder.Preview)
	r.GoldenRegistrations(t, "azure-native:authorization", "preview.json")
}

func TestAssignmentName(t *testing.T) {
	name := AssignmentName("/subscriptions/S", "/subscriptions/s/identity", "role")
	assert.Check(t, is.Equal(name, AssignmentName("/subscriptions/s", "/subscriptions/s/Identity", "role")))
	for _, other := range []string{AssignmentName("/subscriptions/t", "/subscriptions/s/identity", "role"), AssignmentName("/subscriptions/s", "/subscriptions/s/identity", "other")} {
		assert.Check(t, other != name)
	}
	parsed, err := uuid.Parse(name)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(parsed.Version(), uuid.Version(5)))
}

func TestRoleDefinitionID(t *testing.T) {
	assert.Check(t, is.Equal(RoleDefinitionID(vault, secretsUser), "/subscriptions/00000000-0000-4000-8000-000000000002/providers/Microsoft.Authorization/roleDefinitions/"+secretsUser))
	assert.Check(t, is.Equal(RoleDefinitionID(vault, "/providers/x"), "/providers/x"))
}

// TestGivingOnly has the text of Azure's own example, in one line.
func TestGivingOnly(t *testing.T) {
	assert.Equal(t, GivingOnly([]string{"5e467623-bb1f-42f4-a55d-6e525e11384b", "a795c7a0-d4a2-40c1-ae25-d81f01202912"}),
		"((!(ActionMatches{'Microsoft.Authorization/roleAssignments/write'})) OR "+
			"(@Request[Microsoft.Authorization/roleAssignments:RoleDefinitionId] ForAnyOfAnyValues:GuidEquals {5e467623-bb1f-42f4-a55d-6e525e11384b, a795c7a0-d4a2-40c1-ae25-d81f01202912}"+
			" AND @Request[Microsoft.Authorization/roleAssignments:PrincipalType] ForAnyOfAnyValues:StringEqualsIgnoreCase {'ServicePrincipal'})) AND "+
			"((!(ActionMatches{'Microsoft.Authorization/roleAssignments/delete'})) OR "+
			"(@Resource[Microsoft.Authorization/roleAssignments:RoleDefinitionId] ForAnyOfAnyValues:GuidEquals {5e467623-bb1f-42f4-a55d-6e525e11384b, a795c7a0-d4a2-40c1-ae25-d81f01202912}"+
			" AND @Resource[Microsoft.Authorization/roleAssignments:PrincipalType] ForAnyOfAnyValues:StringEqualsIgnoreCase {'ServicePrincipal'}))")
}

func TestIdentityRefuses(t *testing.T) {
	var many []Credential
	for i := range maxCredentials + 1 {
		many = append(many, ServiceAccount("n", fmt.Sprint(i)))
	}
	recorder.Refuses(t, "demo", NewIdentity, "identity demo: ", identityArgs, map[string]func(*IdentityArgs){
		"name, subscription, location, resource group and issuer are required": func(a *IdentityArgs) { a.Issuer = nil },
		"0 credentials are given; an identity takes 1 to 20":                   func(a *IdentityArgs) { a.Credentials = nil },
		"21 credentials are given; an identity takes 1 to 20":                  func(a *IdentityArgs) { a.Credentials = many },
		"a credential needs a name, and a subject in full":                     func(a *IdentityArgs) { a.Credentials[0].Subject = "repo:acme/*" },
		`credential "shop_web" of subject "system:serviceaccount:shop:web" is`: func(a *IdentityArgs) { a.Credentials[1] = a.Credentials[0] },
		`role "Reader" on scope "rg": a role, and the id of a resource`:        func(a *IdentityArgs) { a.Grants[0] = Grant{Role: "Reader", Scope: "rg"} },
		"role " + secretsUser + " on " + vault + " is given twice":             func(a *IdentityArgs) { a.Grants[1] = a.Grants[0] },
	})
}
