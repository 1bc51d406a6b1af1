package entra

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

const (
	// ExchangeAudience is the audience of tokens of other issuers. Source:
	// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
	ExchangeAudience = "api://AzureADTokenExchange"
	// ServerID is the application of AKS's API servers, the same in every tenant. Source:
	// https://azure.github.io/kubelogin/concepts/aks.html#azure-kubernetes-service-aad-server
	ServerID = "6dae42f8-4368-4678-94ff-3960e28e3630"

	// DevOpsID is the application of Azure DevOps, the same in every tenant. Source:
	// https://learn.microsoft.com/azure/devops/integrate/get-started/authentication/service-principal-managed-identity
	DevOpsID = "499b84ac-1321-427f-aa17-267ca6975798"

	// assertionType is that of a token of another issuer, by RFC 7523.
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// lifetime of tokens. The default is between 60 and 90 minutes. Source:
	// https://learn.microsoft.com/entra/identity-platform/access-tokens#token-lifetime
	lifetime = time.Hour
	// largestForm of a request, in bytes.
	largestForm = 64 << 10
)

// resources are those that tokens can be got for, each with the audience of its tokens.
var resources = map[string]string{
	ServerID:                        ServerID,
	DevOpsID:                        DevOpsID,
	"https://management.azure.com":  "https://management.azure.com",
	"https://management.azure.com/": "https://management.azure.com/",
	"https://vault.azure.net":       "https://vault.azure.net",
	"https://storage.azure.com":     "https://storage.azure.com",
}

// serveToken answers the grant client_credentials with a federated credential, and no other.
// Source: the third case in
// https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow#get-a-token
func (e *Entra) serveToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, largestForm)
	if err := r.ParseForm(); err != nil {
		e.refuse(w, r, badRequest("invalid_request", 900144, "The request body cannot be read: %v.", err))
		return
	}
	token, err := e.Token(r.PostForm)
	if err != nil {
		var refused *Error
		if !errors.As(err, &refused) {
			refused = &Error{http.StatusInternalServerError, "server_error", 90033, err.Error()}
		}
		e.refuse(w, r, refused)
		return
	}
	seconds := int(lifetime / time.Second)
	answer(w, http.StatusOK, map[string]any{
		"token_type": "Bearer", "expires_in": seconds, "ext_expires_in": seconds, "access_token": token,
	})
}

// Federated is the form by which a client gets a token for a resource, such as
// https://vault.azure.net, with a token of another issuer that it trusts.
func Federated(client, assertion, resource string) url.Values {
	return url.Values{
		"grant_type": {"client_credentials"}, "client_id": {client}, "scope": {resource + "/.default"},
		"client_assertion_type": {assertionType}, "client_assertion": {assertion},
	}
}

// Token is the token that a request for one gets; an Error says why it gets none.
func (e *Entra) Token(form url.Values) (string, error) {
	if grant := form.Get("grant_type"); grant != "client_credentials" {
		return "", badRequest("unsupported_grant_type", 70003, "The app requested an unsupported grant type '%s'.", grant)
	}
	who, known := e.o.Identity(form.Get("client_id"))
	if !known {
		return "", badRequest("unauthorized_client", 700016, "Application with identifier '%s' was not found in the directory '%s'. "+
			"This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant. "+
			"You may have sent your authentication request to the wrong tenant.", form.Get("client_id"), e.o.Tenant)
	}
	if err := e.prove(who, form); err != nil {
		return "", err
	}
	audience, err := e.audience(form.Get("scope"))
	if err != nil {
		return "", err
	}
	return e.Sign(e.claims(who, audience))
}

// reserved are scopes of OpenID Connect, which mean nothing to an application. Microsoft's
// library asks for them with every token: apps/internal/oauth/ops/accesstokens of
// https://github.com/AzureAD/microsoft-authentication-library-for-go
var reserved = []string{"openid", "offline_access", "profile"}

// audience of a token for a scope, which is a resource and /.default for applications.
func (e *Entra) audience(scope string) (string, error) {
	asked := slices.DeleteFunc(strings.Fields(scope), func(s string) bool { return slices.Contains(reserved, s) })
	resource, isDefault := strings.CutSuffix(strings.Join(asked, " "), "/.default")
	if !isDefault {
		return "", badRequest("invalid_scope", 1002012, "The provided value for scope %s is not valid. "+
			"Client credential flows must have a scope value with /.default suffixed to the resource identifier (application ID URI).", scope)
	}
	audience, known := resources[resource]
	if !known {
		return "", badRequest("invalid_resource", 500011, "The resource principal named %s was not found in the tenant named %s. "+
			"This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant. "+
			"You might have sent your authentication request to the wrong tenant.", resource, e.o.Tenant)
	}
	return audience, nil
}

// claims of a token for an application. Source:
// https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference
func (e *Entra) claims(who Identity, audience string) map[string]any {
	claims := e.claimsOf(who.ObjectID, who.Groups, audience)
	claims["appid"], claims["appidacr"], claims["idtyp"] = who.ClientID, "2", "app"
	if who.ResourceID != "" {
		claims["xms_mirid"] = who.ResourceID
	}
	return claims
}

// claimsOf are those of a token for any object of the tenant.
func (e *Entra) claimsOf(object string, groups []string, audience string) map[string]any {
	now := e.o.Now()
	claims := map[string]any{
		"aud": audience, "iss": Issuer(e.o.Tenant), "idp": Issuer(e.o.Tenant), "tid": e.o.Tenant,
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(lifetime).Unix(),
		"oid": object, "sub": object, "uti": uuid.NewString(), "ver": "1.0",
	}
	if len(groups) > 0 {
		claims["groups"] = groups
	}
	return claims
}

// azureCLI is the application that the Azure CLI signs people in by, the same in every tenant. Source:
// https://learn.microsoft.com/troubleshoot/entra/entra-id/governance/verify-first-party-apps-sign-in
const azureCLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"

// Person is somebody of the tenant.
type Person struct {
	// Name is the user principal name, such as ada@lab.test, ObjectID the one of the tenant and in tokens.
	Name, ObjectID string
	// Groups are the object ids of the groups that the person is a member of.
	Groups []string
}

// PersonToken is the token that the Azure CLI gets for somebody who has signed in by it, for a
// resource such as ServerID, and its end.
func (e *Entra) PersonToken(who Person, resource string) (token string, until time.Time, err error) {
	audience, err := e.audience(resource + "/.default")
	if err != nil {
		return "", time.Time{}, err
	}
	claims := e.claimsOf(who.ObjectID, who.Groups, audience)
	claims["appid"], claims["appidacr"], claims["idtyp"], claims["scp"] = azureCLI, "0", "user", "user_impersonation"
	claims["upn"], claims["unique_name"] = who.Name, who.Name
	token, err = e.Sign(claims)
	return token, e.o.Now().Add(lifetime), err
}

// prove fails for a request that does not show a token of a federated credential.
func (e *Entra) prove(who Identity, form url.Values) error {
	switch {
	case form.Get("client_secret") != "":
		return badClient(7000215, "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, "+
			"not the client secret ID, for a secret added to app '%s'.", who.ClientID)
	case form.Get("client_assertion") == "" || form.Get("client_assertion_type") != assertionType:
		return badClient(7000218, "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.")
	}
	assertion := form.Get("client_assertion")
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(assertion, claims); err != nil {
		return badClient(50027, "JWT token is invalid or malformed.")
	}
	if err := matches(who.Federations, claims); err != nil {
		return err
	}
	return e.verify(assertion, claims)
}

// matches fails where no federated credential is of the issuer, the audience and the subject
// of a token. Each is compared by case. Source of the messages:
// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-error-codes
func matches(federations []Federation, claims jwt.MapClaims) error {
	const refused = "No matching federated identity record found for presented assertion %s '%s'. " +
		"Check your federated identity credential Subject, Audience and Issuer against the presented assertion. " +
		"https://learn.microsoft.com/entra/workload-id/workload-identity-federation"
	issuer, subject := text(claims, "iss"), text(claims, "sub")
	audiences, _ := claims.GetAudience()
	ofIssuer := slices.DeleteFunc(slices.Clone(federations), func(f Federation) bool { return f.Issuer != issuer })
	if len(ofIssuer) == 0 {
		return badClient(700211, refused, "issuer", issuer)
	}
	forIt := slices.DeleteFunc(ofIssuer, func(f Federation) bool {
		return !slices.ContainsFunc(f.Audiences, func(a string) bool { return slices.Contains(audiences, a) })
	})
	if len(forIt) == 0 {
		return badClient(700212, refused, "audience", strings.Join(audiences, ","))
	}
	if !slices.ContainsFunc(forIt, func(f Federation) bool { return f.Subject == subject }) {
		return badClient(700213, refused, "subject", subject)
	}
	return nil
}

// verify checks the signature and the time of a token of another issuer. Entra is sure of
// RS256 alone; "exchanging tokens signed with other algorithms may work", and does here:
// the lab's clusters sign with ES256. Source:
// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations#unsupported-scenarios-federated-identity-credentials
func (e *Entra) verify(assertion string, claims jwt.MapClaims) error {
	key, err := e.o.KeyOf(text(claims, "iss"))
	if err != nil {
		return badClient(50166, "Request to External OIDC endpoint failed: %v.", err)
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256", "ES256"}), jwt.WithTimeFunc(e.o.Now), jwt.WithExpirationRequired())
	_, err = parser.ParseWithClaims(assertion, jwt.MapClaims{}, func(*jwt.Token) (any, error) { return key, nil })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrTokenExpired), errors.Is(err, jwt.ErrTokenNotValidYet):
		from, _ := claims.GetNotBefore()
		until, _ := claims.GetExpirationTime()
		return badClient(700024, "Client assertion is not within its valid time range. Current time: %s, assertion valid from %s, expiry time of assertion %s.",
			moment(e.o.Now()), ofDate(from), ofDate(until))
	}
	return badClient(50013, "Assertion failed signature validation. [Reason - %v.]", err)
}

func ofDate(d *jwt.NumericDate) string {
	if d == nil {
		return "unknown"
	}
	return moment(d.Time)
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.0000000Z") }
