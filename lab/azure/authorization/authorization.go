// Package authorization is Azure's role assignments in the stand-in, and what azure-native
// tells of its own credentials.
package authorization

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	authorization "github.com/pulumi/pulumi-azure-native-sdk/authorization/v2"
	"github.com/pulumi/pulumi-azure-native-sdk/authorization/v2/v20220401"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

var guid = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

var assignment = arm.Kind{
	Token: rbac.AssignmentType, ARM: "Microsoft.Authorization/roleAssignments", Free: true,
	Path: "/{scope}/providers/Microsoft.Authorization/roleAssignments/{roleAssignmentName}",
	Made: randomUUID,
}

// randomUUID is how azure-native names a role assignment.
func randomUUID(seed []byte, _ string) (string, error) {
	digits, err := resource.NewUniqueName(seed, "", 32, 0, nil)
	if err != nil {
		return "", err
	}
	return strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-"), nil
}

// Types are role assignments.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		rbac.AssignmentType: assignment.Type(standin.Type{
			Constructor: v20220401.NewRoleAssignment,
			// forceNewMap in provider/pkg/gen/replacement.go of azure-native
			ForceNew: []string{"principalId"},
			Put:      checkWrite,
			Remove:   checkDelete,
			Create:   createAssignment,
			Update:   updateAssignment,
			Takes:    standin.Timing{Create: 2 * time.Second, Update: time.Second, Remove: 2 * time.Second},
		}),
	}
}

// Functions tell who calls. getClientToken answers with a token that works nowhere outside
// of the lab.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"azure-native:authorization:getClientConfig": {SDK: authorization.GetClientConfig, Run: func(q *standin.Query) (standin.Props, error) {
			return standin.Props{
				"clientId": arm.ClientFor(q.Call), "objectId": arm.CallerFor(q.Call), "subscriptionId": arm.SubscriptionFor(q.Call), "tenantId": arm.Tenant,
			}, nil
		}},
		"azure-native:authorization:getClientToken": {SDK: authorization.GetClientToken, Run: func(q *standin.Query) (standin.Props, error) {
			endpoint := q.Args.Str("endpoint")
			if endpoint == "" {
				endpoint = "https://management.azure.com/"
			}
			token, err := Token(q.Cloud, arm.CallerFor(q.Call), arm.ClientFor(q.Call), endpoint)
			return standin.Props{"token": token}, err
		}},
	}
}

// checkWrite refuses a condition that cannot be read, and a caller whose own condition does not hold.
// Source: https://learn.microsoft.com/en-us/azure/role-based-access-control/conditions-troubleshoot
func checkWrite(c *standin.Call) error {
	in := c.In()
	if condition := in.Str("condition"); condition != "" {
		if _, err := rbac.ParseCondition(condition); err != nil || in.Str("conditionVersion") != "2.0" {
			return c.Refusef("BadRequest", "The given role assignment condition is invalid.")
		}
	}
	return checkCondition(c, rbac.Asked{Action: assignment.ARM + "/write", Request: attributes(c, in)})
}

// checkDelete refuses a caller whose condition does not hold for what is there.
func checkDelete(c *standin.Call) error {
	return checkCondition(c, rbac.Asked{Action: assignment.ARM + "/delete", Resource: attributes(c, c.Record.Outputs)})
}

// attributes of an assignment that a condition can ask for.
func attributes(c *standin.Call, of standin.Props) map[string]string {
	return map[string]string{
		rbac.RoleDefinitionID: armid.NameOf(of.Str("roleDefinitionId")),
		rbac.PrincipalType:    cmp.Or(of.Str("principalType"), principalType(c.Cloud, of.Str("principalId"))),
	}
}

// checkCondition refuses what the caller's roles allow under conditions alone that do not hold. The
// words are those in https://github.com/Azure/enterprise-azure-policy-as-code/issues/787
func checkCondition(c *standin.Call, asked rbac.Asked) error {
	if slices.ContainsFunc(arm.RolesOf(c.Cloud, arm.CallerFor(c), c.Record.ID), func(role rbac.Role) bool { return role.Permits(asked) }) {
		return nil
	}
	return c.Refuse(standin.Refusal{Code: "AuthorizationFailed", Status: 403, Message: fmt.Sprintf(
		"The client '%s' with object id '%s' has an authorization with ABAC condition that is not fulfilled to perform action '%s' over scope '%s' or the scope is invalid. "+
			"If access was recently granted, please refresh your credentials.", arm.ClientFor(c), arm.CallerFor(c), asked.Action, c.Record.ID)})
}

// createAssignment refuses what
// https://learn.microsoft.com/en-us/azure/role-based-access-control/troubleshooting tells of.
func createAssignment(c *standin.Call) (string, error) {
	in := c.In()
	if name := in.Str("roleAssignmentName"); !guid.MatchString(name) {
		return "", c.Refusef("InvalidRoleAssignmentId", "The role assignment ID '%s' is not valid. The role assignment ID must be a GUID.", name)
	}
	scope := "/" + strings.Trim(in.Str("scope"), "/")
	if err := checkScope(c, scope); err != nil {
		return "", err
	}
	role, known := rbac.ByID(in.Str("roleDefinitionId"))
	if !known {
		return "", c.Refusef("RoleDefinitionDoesNotExist", "The specified role definition with ID '%s' does not exist.", plainGUID(in.Str("roleDefinitionId")))
	}
	if err := checkPrincipal(c); err != nil {
		return "", err
	}
	definition := rbac.Definition(armid.SubscriptionOf(scope), role.ID)
	for r := range c.Others() {
		same := strings.EqualFold(r.Outputs.Str("principalId"), in.Str("principalId")) && arm.Same(r.Outputs.Str("scope"), scope)
		if same && arm.Same(r.Outputs.Str("roleDefinitionId"), definition) {
			return "", c.Refuse(standin.Refusal{Code: "RoleAssignmentExists", Status: 409, Message: "The role assignment already exists. The ID of the existing role assignment is " + plainGUID(r.ID) + "."})
		}
	}
	describeAssignment(c, scope, definition)
	return "", nil
}

func describeAssignment(c *standin.Call, scope, definition string) {
	out, now := c.Out(), c.Record.Created.UTC().Format(time.RFC3339Nano)
	out["scope"], out["roleDefinitionId"] = scope, definition
	out.SetDefault("principalType", principalType(c.Cloud, out.Str("principalId")))
	out["createdBy"], out["updatedBy"], out["createdOn"], out["updatedOn"] = arm.CallerFor(c), arm.CallerFor(c), now, now
}

// plainGUID is the last part of an id without dashes, as refusals print it.
func plainGUID(id string) string { return strings.ReplaceAll(armid.NameOf(id), "-", "") }

// checkScope refuses to assign on what does not exist.
func checkScope(c *standin.Call, scope string) error {
	group := armid.GroupOf(scope)
	if group == "" {
		return nil // a subscription
	}
	if arm.ByID(c.Cloud, arm.GroupType, group) == nil {
		return c.Refuse(standin.Refusal{Code: "ResourceGroupNotFound", Status: 404, Message: "Resource group '" + armid.NameOf(group) + "' could not be found."})
	}
	_, kind, _ := strings.Cut(scope, "/providers/")
	of, _ := armid.Parse(scope)
	known := false
	for _, r := range c.Cloud.All() {
		if arm.Same(r.ID, scope) {
			return nil
		}
		known = known || armid.Is(r.ID, of.Type)
	}
	if !known {
		return nil // of a type that the stand-in may not have: nobody can tell
	}
	return arm.NotFound(kind, scope)
}

// checkPrincipal refuses a principal that Entra does not know, or not everywhere yet: then
// an assignment that tells the principal's type is not checked against the replica that
// lags. Sources:
// https://learn.microsoft.com/en-us/azure/role-based-access-control/troubleshooting and
// https://learn.microsoft.com/en-us/azure/role-based-access-control/role-assignments-template#new-service-principal
func checkPrincipal(c *standin.Call) error {
	principal, given := c.In().Str("principalId"), c.In().Str("principalType")
	identity := managedidentity.ByPrincipal(c.Cloud, principal)
	actual := principalType(c.Cloud, principal)
	lags := identity != nil && !managedidentity.Replicated(c.Cloud, identity)
	if actual == "" || lags && given == "" {
		return c.Refusef("PrincipalNotFound", "Principal %s does not exist in the directory %s. Check that you have the correct principal ID. "+
			"If you are creating this principal and then immediately assigning a role, this error might be related to a replication delay. "+
			"In this case, set the role assignment principalType property to a value, such as ServicePrincipal, User, or Group.  See https://aka.ms/docs-principaltype",
			strings.ReplaceAll(principal, "-", ""), arm.Tenant)
	}
	if given != "" && given != actual {
		return c.Refusef("UnmatchedPrincipalType", "The PrincipalId '%s' has type '%s' , which is different from specified PrinciaplType '%s'.", strings.ReplaceAll(principal, "-", ""), actual, given)
	}
	return nil
}

// labObject is an object of the lab's directory that is no identity: a group, or a person.
var labObject = regexp.MustCompile(`(?i)^00000000-0000-4000-8000-0000000000([a-f])[0-9a-f]$`)

// principalType is what a principal is; empty where there is none.
func principalType(c *standin.Cloud, principal string) string {
	if managedidentity.ByPrincipal(c, principal) != nil || principal == arm.ClientObject {
		return "ServicePrincipal"
	}
	switch match := labObject.FindStringSubmatch(principal); {
	case match == nil:
		return ""
	case strings.EqualFold(match[1], "a"):
		return "Group"
	case strings.EqualFold(match[1], "c"):
		return "ServicePrincipal"
	}
	return "User"
}

// updateAssignment lets only what is said about an assignment change. Source:
// https://learn.microsoft.com/en-us/azure/role-based-access-control/troubleshooting
func updateAssignment(c *standin.Call) error {
	old := c.Old.Outputs
	if plainGUID(c.In().Str("roleDefinitionId")) != plainGUID(old.Str("roleDefinitionId")) {
		return c.Refusef("RoleAssignmentUpdateNotPermitted", "Tenant ID, application ID, principal ID, and scope are not allowed to be updated.")
	}
	for _, kept := range []string{"scope", "roleDefinitionId", "createdBy", "createdOn"} {
		c.Out()[kept] = old[kept]
	}
	c.Out().SetDefault("principalType", old["principalType"])
	c.Out()["updatedBy"], c.Out()["updatedOn"] = arm.CallerFor(c), c.Cloud.Now().UTC().Format(time.RFC3339Nano)
	return nil
}

// Assign gives a principal a role on a scope, as a person with the right to do so does. An
// assignment that there is already is no error.
func Assign(c *standin.Cloud, principal, role, scope string) error {
	defer c.Lock()()
	for r := range c.Each(rbac.AssignmentType, standin.Global) {
		if strings.EqualFold(r.Outputs.Str("principalId"), principal) && arm.Same(r.Outputs.Str("scope"), scope) && strings.HasSuffix(r.Outputs.Str("roleDefinitionId"), role) {
			return nil
		}
	}
	if _, known := rbac.ByID(role); !known {
		return fmt.Errorf("the Azure stand-in does not know the role %s", role)
	}
	name := arm.UUID()
	in := standin.Props{
		"principalId": principal, "principalType": principalType(c, principal), "scope": scope, "roleAssignmentName": name,
		"roleDefinitionId": rbac.Definition(armid.SubscriptionOf(scope), role),
	}
	out := standin.Merged(in, standin.Props{"name": name, "type": assignment.ARM})
	delete(out, "roleAssignmentName")
	return c.Put(&standin.Record{
		Type: rbac.AssignmentType, ID: scope + "/providers/Microsoft.Authorization/roleAssignments/" + name, Region: standin.Global,
		Created: c.Now(), Implied: true, Inputs: in, Outputs: out,
	})
}

// tokenLife is the default of access tokens:
// https://learn.microsoft.com/en-us/entra/identity-platform/access-tokens#token-lifetime
const tokenLife = time.Hour

// Claims are what a token of the lab's Entra tells.
type Claims struct {
	// Object is the id of who it was given to, Client that of the application.
	Object string `json:"oid"`
	Client string `json:"appid"`
	Tenant string `json:"tid"`
	jwt.RegisteredClaims
}

// Token is a token for an API, such as https://management.azure.com/, of a principal. Only
// the lab takes it: its own key signs it.
func Token(c *standin.Cloud, object, client, audience string) (string, error) {
	now := c.Now()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, Claims{
		Object: object, Client: client, Tenant: arm.Tenant,
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: "https://sts.windows.net/" + arm.Tenant + "/", Subject: object, Audience: jwt.ClaimStrings{audience},
			IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(tokenLife)),
		},
	})
	signed, err := token.SignedString(key(c))
	if err != nil {
		return "", fmt.Errorf("sign a token for %s: %w", audience, err)
	}
	return signed, nil
}

// Verify reads a token for an API that Token has made and that is valid still.
func Verify(c *standin.Cloud, token, audience string) (Claims, error) {
	var claims Claims
	_, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return key(c), nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithAudience(audience), jwt.WithExpirationRequired(), jwt.WithTimeFunc(c.Now))
	if err != nil {
		return Claims{}, fmt.Errorf("verify a token for %s: %w", audience, err)
	}
	return claims, nil
}

func key(c *standin.Cloud) []byte { return c.Sign("azure token", nil) }
