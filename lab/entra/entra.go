// Package entra is the lab's stand-in for Microsoft Entra ID: one tenant, in which
// applications and managed identities get tokens for a token of another issuer, as
// workload identity federation has it, and people by the Azure CLI. It knows no secrets and has no page
// to sign in at: who the person is, is told.
//
// It serves what the real clients ask for, MSAL's instance discovery and OpenID
// configuration, and signs tokens that an AKS cluster's API server can judge (Review).
package entra

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"tombolo/internal/file"
)

// The hosts of Entra in Azure's public cloud. Source:
// https://learn.microsoft.com/entra/identity-platform/authentication-national-cloud
const (
	LoginHost = "login.microsoftonline.com"
	tokenHost = "sts.windows.net" // of issuers of version 1
)

// Hosts are the host names that a Handler serves, by https.
func Hosts() []string { return []string{LoginHost, tokenHost} }

// Identity is who asks for tokens: an application or a managed identity.
type Identity struct {
	// ClientID names it in requests, ObjectID in the tenant and in tokens.
	ClientID, ObjectID string
	// ResourceID is the ARM id of a managed identity, "" for an application.
	ResourceID string
	// Groups are the object ids of the groups that it is a member of.
	Groups []string
	// Federations are its federated credentials.
	Federations []Federation
}

// Federation trusts the tokens of an issuer for one subject.
type Federation struct {
	Issuer, Subject string
	Audiences       []string
}

// Options of Entra; but for Now, all are required.
type Options struct {
	// KeyFile is the PEM file of the key that signs tokens. It is made the first time.
	KeyFile string
	// Tenant is the id of the tenant.
	Tenant string
	// Identity finds the one with a client id.
	Identity func(clientID string) (Identity, bool)
	// KeyOf is the public key that another issuer signs with, or why it cannot be had.
	KeyOf func(issuer string) (crypto.PublicKey, error)
	// Now is its clock. Default time.Now.
	Now func() time.Time
}

// Entra signs the tokens of a tenant.
type Entra struct {
	o   Options
	key *rsa.PrivateKey
	// keyID names the key in tokens.
	keyID string
}

// Open reads the key, and makes it the first time.
func Open(o Options) (*Entra, error) {
	if o.Tenant == "" || o.Identity == nil || o.KeyOf == nil {
		return nil, errors.New("open Entra: Options has no Tenant, Identity or KeyOf")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	key, err := openKey(o.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("open Entra: %w", err)
	}
	sum := crypto.SHA256.New()
	sum.Write(x509.MarshalPKCS1PublicKey(&key.PublicKey))
	return &Entra{o: o, key: key, keyID: base64.RawURLEncoding.EncodeToString(sum.Sum(nil))}, nil
}

// Issuer of the tokens of a tenant for resources that take tokens of version 1, as Azure
// Resource Manager and the API servers of AKS do. Source:
// https://learn.microsoft.com/entra/identity-platform/access-tokens#token-formats
func Issuer(tenant string) string { return "https://" + tokenHost + "/" + tenant + "/" }

// Sign signs claims as they are, as a token of Entra's.
func (e *Entra) Sign(claims map[string]any) (string, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims(claims))
	token.Header["kid"], token.Header["x5t"] = e.keyID, e.keyID
	return token.SignedString(e.key)
}

// Handler serves Hosts.
func (e *Entra) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /common/discovery/instance", e.serveInstances)
	mux.HandleFunc("GET /{tenant}/.well-known/openid-configuration", e.ofTenant(e.serveConfiguration(Issuer, "oauth2")))
	mux.HandleFunc("GET /{tenant}/v2.0/.well-known/openid-configuration", e.ofTenant(e.serveConfiguration(issuerOfLogin, "oauth2/v2.0")))
	mux.HandleFunc("GET /{tenant}/discovery/keys", e.ofTenant(e.serveKeys))
	mux.HandleFunc("GET /{tenant}/discovery/v2.0/keys", e.ofTenant(e.serveKeys))
	mux.HandleFunc("POST /{tenant}/oauth2/v2.0/token", e.ofTenant(e.serveToken))
	return mux
}

// ofTenant refuses requests for tenants that there are not.
func (e *Entra) ofTenant(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if tenant := r.PathValue("tenant"); !strings.EqualFold(tenant, e.o.Tenant) {
			e.refuse(w, r, &Error{http.StatusBadRequest, "invalid_tenant", 90002, fmt.Sprintf(
				"Tenant '%s' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud. "+
					"Check with your subscription administrator, this may happen if there are no active subscriptions for the tenant.", tenant)})
			return
		}
		next(w, r)
	}
}

// issuerOfLogin is the issuer of tokens of version 2, which nothing in the lab takes.
func issuerOfLogin(tenant string) string { return "https://" + LoginHost + "/" + tenant + "/v2.0" }

// text is a claim that is a text, or "".
func text(claims jwt.MapClaims, name string) string {
	value, _ := claims[name].(string)
	return value
}

// Error is a refusal of Entra's. Codes:
// https://learn.microsoft.com/entra/identity-platform/reference-error-codes
type Error struct {
	// Status is the HTTP status, Name the one of OAuth such as invalid_client.
	Status int
	Name   string
	// Code is the number after AADSTS.
	Code    int
	Message string
}

// Error says it as clients do.
func (e *Error) Error() string { return fmt.Sprintf("%s: AADSTS%d: %s", e.Name, e.Code, e.Message) }

// refuse answers with an error. Source of its form:
// https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow#error-response-1
func (e *Entra) refuse(w http.ResponseWriter, r *http.Request, why *Error) {
	trace, correlation := uuid.NewString(), r.Header.Get("Client-Request-Id")
	if correlation == "" {
		correlation = uuid.NewString()
	}
	at := e.o.Now().UTC().Format("2006-01-02 15:04:05Z")
	answer(w, why.Status, map[string]any{
		"error":             why.Name,
		"error_description": fmt.Sprintf("AADSTS%d: %s Trace ID: %s Correlation ID: %s Timestamp: %s", why.Code, why.Message, trace, correlation, at),
		"error_codes":       []int{why.Code},
		"timestamp":         at, "trace_id": trace, "correlation_id": correlation,
		"error_uri": fmt.Sprintf("https://%s/error?code=%d", LoginHost, why.Code),
	})
}

// badRequest is a refusal of a request that is wrong in itself.
func badRequest(name string, code int, format string, args ...any) *Error {
	return &Error{http.StatusBadRequest, name, code, fmt.Sprintf(format, args...)}
}

// badClient is a refusal of a client that does not prove who it is.
func badClient(code int, format string, args ...any) *Error {
	return &Error{http.StatusUnauthorized, "invalid_client", code, fmt.Sprintf(format, args...)}
}

// keyBits is the size of Entra's own keys.
const keyBits = 2048

// openKey reads the key in a PEM file, and makes it the first time.
func openKey(path string) (*rsa.PrivateKey, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key for tokens: %w", err)
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM(data)
	if err != nil {
		return nil, fmt.Errorf("read the key for tokens in %s: %w", path, err)
	}
	return key, nil
}

func makeKey(path string) (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, fmt.Errorf("make the key for tokens: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the key for tokens: %w", err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := file.Replace(path, block, 0o600); err != nil {
		return nil, fmt.Errorf("keep the key for tokens: %w", err)
	}
	return key, nil
}
