package keyvault

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

const (
	// AnyHost is the host of any vault, as certificates have it.
	AnyHost = "*" + hostSuffix
	// hostSuffix ends the hosts of vaults in Azure's public cloud.
	hostSuffix = ".vault.azure.net"
	// Resource is what tokens for vaults are for.
	Resource = "https://vault.azure.net"
)

// HostOf is the host of a vault.
func HostOf(vault string) string { return strings.ToLower(vault) + hostSuffix }

// IsHost says that a host is a vault's, whether there is such a vault or not.
func IsHost(host string) bool { return strings.HasSuffix(strings.ToLower(host), hostSuffix) }

// Answers says that there is a vault of a host. The host of a deleted vault is not known: its
// name is not resolved.
func Answers(c *standin.Cloud, host string) bool {
	defer c.Lock()()
	return vaultOf(c, host) != nil
}

// vaultOf is the vault of a host, or nil. The account is locked.
func vaultOf(c *standin.Cloud, host string) *standin.Record {
	name, ofVault := strings.CutSuffix(strings.ToLower(host), hostSuffix)
	if !ofVault {
		return nil
	}
	for r := range c.Each(VaultType, standin.Global) {
		if nameOf(r.ID) == name && !r.Gone() {
			return r
		}
	}
	return nil
}

// Caller is who a token was given to, and for what.
type Caller struct{ Object, Application, Audience string }

// Options of Secrets. Both are required.
type Options struct {
	// Caller reads a token of Entra's.
	Caller func(token string) (Caller, error)
	// Address is where people ask from.
	Address string
}

// secrets answers for all vaults of a tenant.
type secrets struct {
	cloud *standin.Cloud
	o     Options
}

// question is a request to a vault, and who asks.
type question struct {
	*http.Request
	vault  *standin.Record
	caller Caller
}

// Secrets is the API by which the secrets of vaults are kept and read:
// https://learn.microsoft.com/en-us/rest/api/keyvault/secrets/operation-groups
func Secrets(c *standin.Cloud, o Options) http.Handler {
	s := &secrets{c, o}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /secrets", s.answer(s.list))
	mux.HandleFunc("GET /secrets/{name}", s.answer(s.get))
	mux.HandleFunc("GET /secrets/{name}/{version}", s.answer(s.get))
	mux.HandleFunc("PUT /secrets/{name}", s.answer(s.set))
	mux.HandleFunc("/", s.answer(func(q *question) (any, error) {
		return nil, &refusal{400, "BadParameter", "Method " + q.Method + " does not allow operation '" + strings.Trim(q.URL.Path, "/") + "'", ""}
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Names are the same in any case of their letters, and clients may end a path with a slash.
		plain := r.Clone(r.Context())
		plain.URL.Path, plain.URL.RawPath = strings.TrimSuffix(r.URL.Path, "/"), ""
		mux.ServeHTTP(w, plain)
	})
}

// answer answers a request by a function, with the account locked.
func (s *secrets) answer(by func(q *question) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		unlock := s.cloud.Lock()
		q, err := s.admit(r)
		var found any
		if err == nil {
			found, err = by(q)
		}
		unlock()
		if errors.Is(err, errNoVault) {
			panic(http.ErrAbortHandler) // there is nobody to answer
		}
		if err != nil {
			s.refuse(w, err)
			return
		}
		reply(w, http.StatusOK, found)
	}
}

// errNoVault is of a request on a connection that is older than the vault's deletion.
var errNoVault = errors.New("there is no such vault")

// unauthorized tells where tokens come from. Sources:
// https://learn.microsoft.com/en-us/azure/key-vault/general/authentication-requests-and-responses and
// https://github.com/Azure/azure-sdk-for-js/tree/main/sdk/keyvault/keyvault-secrets (its recordings)
func unauthorized(message string) error { return &refusal{401, "Unauthorized", message, ""} }

// admit refuses who asks without a good token, from elsewhere than the vault lets in, and
// without a version of the API, in this order:
// https://learn.microsoft.com/en-us/azure/key-vault/general/authentication#the-key-vault-request-operation-flow-with-authentication
func (s *secrets) admit(r *http.Request) (*question, error) {
	q := &question{Request: r, vault: vaultOf(s.cloud, r.Host)}
	if q.vault == nil {
		return nil, errNoVault
	}
	token, has := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !has {
		return nil, unauthorized("AKV10000: Request is missing a Bearer or PoP token.")
	}
	var err error
	if q.caller, err = s.o.Caller(token); err != nil {
		return nil, unauthorized("Error validating token: " + err.Error())
	}
	if strings.TrimSuffix(q.caller.Audience, "/") != Resource {
		// https://azure.github.io/hack/identity/rest/
		return nil, unauthorized("AKV10022: Invalid audience. Expected " + Resource + ", found: " + q.caller.Audience + ".")
	}
	if err := s.fromWhere(q); err != nil {
		return nil, err
	}
	if r.URL.Query().Get("api-version") == "" {
		return nil, &refusal{400, "BadParameter", "api-version must be specified", ""}
	}
	return q, nil
}

// nameForm is that of secrets:
// https://learn.microsoft.com/en-us/azure/key-vault/general/about-keys-secrets-certificates#object-identifiers
var nameForm = regexp.MustCompile(`^[0-9A-Za-z-]{1,127}$`)

// may refuses a caller without a role that allows an action on the secret; the lab's own
// credentials are those of people who write secrets. Source of the words:
// https://github.com/piyushsachdeva/Terraform_AKS/issues/2
func (s *secrets) may(q *question, action, within string) error {
	const on = "Microsoft.KeyVault/vaults/secrets/"
	if rbacOnly, _ := q.vault.Outputs.Sub("properties")["enableRbacAuthorization"].(bool); !rbacOnly {
		// https://learn.microsoft.com/en-us/azure/key-vault/general/rest-error-codes#http-403-insufficient-permissions
		return &refusal{403, "Forbidden", "The user, group or application '" + q.who() + "' does not have secrets permission on key vault '" + q.where() +
			"'. For help resolving this issue, please see https://go.microsoft.com/fwlink/?linkid=2125287", "AccessDenied"}
	}
	id := q.vault.ID + within
	roles := rbac.Of(s.cloud, q.caller.Object, id)
	if q.caller.Object == arm.ClientObject && arm.Same(armid.SubscriptionOf(id), s.cloud.Account) {
		officer, _ := rbac.ByID(rbac.SecretsOfficer)
		roles = append(roles, officer)
	}
	for _, role := range roles {
		if role.AllowsData(on + action) {
			return nil
		}
	}
	return &refusal{403, "Forbidden", "Caller is not authorized to perform action on resource.\r\n" +
		"If role assignments, deny assignments or role definitions were changed recently, please observe propagation time.\r\n" +
		"Caller: " + q.who() + "\r\nAction: '" + on + action + "'\r\nResource: '" + strings.ToLower(id) + "'\r\nAssignment: (not found)\r\nDenyAssignmentId: null\r\n" +
		"DecisionReason: 'DeniedWithNoValidRBAC' \r\nVault: " + q.where() + "\r\n", "ForbiddenByRbac"}
}

// who asks, as refusals say it.
func (q *question) who() string {
	return "appid=" + q.caller.Application + ";oid=" + q.caller.Object + ";iss=https://sts.windows.net/" + arm.Tenant + "/"
}

// where the vault is, as refusals say it.
func (q *question) where() string {
	return nameOf(q.vault.ID) + ";location=" + q.vault.Outputs.Str("location")
}

// refusal is an error in the form of
// https://learn.microsoft.com/en-us/azure/key-vault/general/authentication-requests-and-responses#error-responses
type refusal struct {
	status               int
	code, message, inner string
}

func (r *refusal) Error() string { return r.code + ": " + r.message }

func (s *secrets) refuse(w http.ResponseWriter, err error) {
	r := &refusal{500, "InternalServerError", err.Error(), ""}
	errors.As(err, &r)
	if r.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer authorization="https://login.windows.net/`+arm.Tenant+`", resource="`+Resource+`"`)
	}
	said := map[string]any{"code": r.code, "message": r.message}
	if r.inner != "" {
		said["innererror"] = map[string]any{"code": r.inner}
	}
	reply(w, r.status, map[string]any{"error": said})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // to somebody who may be gone
}
