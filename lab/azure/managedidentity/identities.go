// Package managedidentity is Azure's user-assigned identities and their federated
// credentials in the stand-in.
package managedidentity

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	managedidentity "github.com/pulumi/pulumi-azure-native-sdk/managedidentity/v2/v20230131"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

// The types of identities and of their federated credentials.
const (
	IdentityType   = "azure-native:managedidentity/v20230131:UserAssignedIdentity"
	CredentialType = "azure-native:managedidentity/v20230131:FederatedIdentityCredential"
)

// namespace of the resource provider, and the path of what it has in a group; it answers
// with resourcegroups in lower case.
const (
	namespace = "Microsoft.ManagedIdentity"
	asked     = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{resourceName}"
	answered  = "/subscriptions/{subscriptionId}/resourcegroups/{resourceGroupName}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{resourceName}"
)

// Names are by
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules
var (
	identity = arm.Kind{
		Token: IdentityType, ARM: namespace + "/userAssignedIdentities", Path: asked, Answered: answered, Provider: namespace,
		Name:     regexp.MustCompile(`^[A-Za-z0-9][-\w]{2,127}$`),
		NameRule: "The name must begin with a letter or number, contain only letters, numbers, hyphens and underscores, and be 3 to 128 characters long.",
	}
	credential = arm.Kind{
		Token: CredentialType, ARM: namespace + "/userAssignedIdentities/federatedIdentityCredentials", Provider: namespace,
		Path:     asked + "/federatedIdentityCredentials/{federatedIdentityCredentialResourceName}",
		Answered: answered + "/federatedIdentityCredentials/{federatedIdentityCredentialResourceName}",
		Parent:   IdentityType, ParentPath: answered,
	}
)

// Types are identities and their federated credentials.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		IdentityType: identity.Type(standin.Type{
			Constructor: managedidentity.NewUserAssignedIdentity,
			// x-ms-mutability in the API's specification
			ForceNew: []string{"location"},
			Create: func(c *standin.Call) (string, error) {
				c.Out()["principalId"], c.Out()["clientId"], c.Out()["tenantId"] = arm.UUID(), arm.UUID(), arm.Tenant
				return "", nil
			},
			Takes: standin.Timing{Create: 2 * time.Second, Update: time.Second, Remove: 2 * time.Second},
		}),
		CredentialType: credential.Type(standin.Type{
			Constructor: managedidentity.NewFederatedIdentityCredential,
			Validate:    validateCredential,
			Put:         checkCredential,
			Remove:      checkAlone,
			// A write takes seconds, in which no other one of the identity may begin.
			Settle:   func(context.Context, *standin.Cloud, *standin.Record) error { return nil },
			Teardown: func(context.Context, *standin.Cloud, *standin.Record) error { return nil },
			Takes:    standin.Timing{Create: 3 * time.Second, Update: 3 * time.Second, Remove: 2 * time.Second},
		}),
	}
}

// audience is the only one: "The value must be" it, by
// https://learn.microsoft.com/en-us/entra/workload-id/workload-identity-federation-considerations
const audience = "api://AzureADTokenExchange"

// mostCredentials of an identity:
// https://learn.microsoft.com/en-us/entra/workload-id/workload-identity-federation-considerations
const mostCredentials = 20

func validateCredential(in standin.Props) []standin.Problem {
	if audiences, given := in["audiences"].([]any); given && len(audiences) == 0 {
		return []standin.Problem{{Path: "audiences", Reason: "missing required property 'audiences'"}}
	}
	return nil
}

// checkCredential refuses what Azure refuses of a federated credential. Sources:
// https://learn.microsoft.com/en-us/entra/workload-id/workload-identity-federation-considerations and
// https://learn.microsoft.com/en-us/entra/workload-id/workload-identity-federation-create-trust-user-assigned-managed-identity
func checkCredential(c *standin.Call) error {
	if err := checkAlone(c); err != nil {
		return err
	}
	in := c.In()
	switch audiences := in.List("audiences"); {
	case len(audiences) != 1:
		return c.Refusef("BadRequest", "Federated identity credentials must have exactly one audience.")
	case audiences[0] == "" || len(audiences[0]) > 600:
		return c.Refusef("BadRequest", "The audience of the federated identity credential must have 1 to 600 characters.")
	case audiences[0] != audience:
		return c.Refusef("BadRequest", "The audience of the federated identity credential must be %s.", audience)
	}
	issuer := in.Str("issuer")
	if !strings.HasPrefix(issuer, "https://") || len(issuer) > 600 {
		return c.Refusef("BadRequest", "The issuer '%s' of the federated identity credential is not a valid https URL of at most 600 characters.", issuer)
	}
	if subject := in.Str("subject"); subject == "" {
		return c.Refusef("BadRequest", "Federated Identity Credential from HTTP body has empty properties")
	} else if len(subject) > 600 {
		return c.Refusef("BadRequest", "The subject '%s' of the federated identity credential must have 1 to 600 characters.", subject)
	}
	count := 1
	for r := range siblings(c) {
		count++
		if r.Inputs.Str("issuer") == issuer && r.Inputs.Str("subject") == in.Str("subject") {
			return c.Refusef("BadRequest", "Issuer and subject combination already exists for this Managed Identity.")
		}
	}
	if count > mostCredentials {
		return c.Refusef("BadRequest", "Only up to %d federated identity credentials are allowed on a user-assigned managed identity.", mostCredentials)
	}
	return nil
}

// checkAlone refuses a write while another one of the same identity is under way. Source:
// https://github.com/Azure/bicep-registry-modules/issues/1447
func checkAlone(c *standin.Call) error {
	for r := range siblings(c) {
		if r.Status != "" && r.Status != standin.StatusActive {
			return c.Refuse(standin.Refusal{Code: "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity", Status: 409, Message: fmt.Sprintf(
				"Too many Federated Identity Credentials are written concurrently for the managed identity '%s'. "+
					"Concurrent Federated Identity Credentials writes under the same managed identity are not supported.", identityOf(c.Record.ID))})
		}
	}
	return nil
}

// siblings are the other credentials of the call's identity.
func siblings(c *standin.Call) func(func(*standin.Record) bool) {
	return func(yield func(*standin.Record) bool) {
		for r := range c.Others() {
			if !arm.Same(r.ID, c.Record.ID) && arm.Same(identityOf(r.ID), identityOf(c.Record.ID)) && !yield(r) {
				return
			}
		}
	}
}

// identityOf is the identity that a credential's id is within.
func identityOf(credential string) string {
	before, _, _ := strings.Cut(credential, "/federatedIdentityCredentials/")
	return before
}

// Federation is a token that Entra takes for an identity.
type Federation struct {
	Issuer, Subject string
	Audiences       []string
}

// Federations are the federated credentials of an identity. The account is locked.
func Federations(c *standin.Cloud, identity *standin.Record) []Federation {
	var list []Federation
	for r := range c.Each(CredentialType, standin.Global) {
		if arm.Same(identityOf(r.ID), identity.ID) {
			list = append(list, Federation{r.Outputs.Str("issuer"), r.Outputs.Str("subject"), r.Outputs.List("audiences")})
		}
	}
	return list
}

// ByPrincipal is the identity with a principal, or nil. The account is locked.
func ByPrincipal(c *standin.Cloud, principal string) *standin.Record {
	return byOutput(c, "principalId", principal)
}

// ByClient is the identity with a client id, or nil. The account is locked.
func ByClient(c *standin.Cloud, client string) *standin.Record {
	return byOutput(c, "clientId", client)
}

func byOutput(c *standin.Cloud, output, value string) *standin.Record {
	for r := range c.Each(IdentityType, standin.Global) {
		if strings.EqualFold(r.Outputs.Str(output), value) {
			return r
		}
	}
	return nil
}

// Replication is how long Entra takes to know a new principal everywhere. Source:
// https://learn.microsoft.com/en-us/azure/role-based-access-control/troubleshooting
const Replication = 20 * time.Second

// Replicated says that a principal's identity is known everywhere by now.
func Replicated(c *standin.Cloud, identity *standin.Record) bool {
	return rbac.Counts(c, identity.Created, Replication)
}
