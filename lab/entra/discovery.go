package entra

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// serveInstances tells MSAL which hosts are one cloud's. It asks for the tenant that it is
// going to use. Source: AADInstanceDiscovery in apps/internal/oauth/ops/authority of
// https://github.com/AzureAD/microsoft-authentication-library-for-go
func (e *Entra) serveInstances(w http.ResponseWriter, r *http.Request) {
	tenant := "common"
	if asked, err := url.Parse(r.URL.Query().Get("authorization_endpoint")); err == nil {
		if first, _, _ := strings.Cut(strings.TrimPrefix(asked.Path, "/"), "/"); first != "" {
			tenant = first
		}
	}
	answer(w, http.StatusOK, map[string]any{
		"tenant_discovery_endpoint": "https://" + LoginHost + "/" + tenant + "/v2.0/.well-known/openid-configuration",
		"api-version":               "1.1",
		"metadata": []map[string]any{{
			"preferred_network": LoginHost, "preferred_cache": "login.windows.net",
			"aliases": []string{LoginHost, "login.windows.net", "login.microsoft.com", tokenHost},
		}},
	})
}

// serveConfiguration tells where what is. Source:
// https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc#sample-response
func (e *Entra) serveConfiguration(issuer func(tenant string) string, oauth string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		at := "https://" + LoginHost + "/" + e.o.Tenant + "/"
		answer(w, http.StatusOK, map[string]any{
			"issuer":                                issuer(e.o.Tenant),
			"authorization_endpoint":                at + oauth + "/authorize",
			"token_endpoint":                        at + "oauth2/v2.0/token",
			"jwks_uri":                              at + "discovery/v2.0/keys",
			"token_endpoint_auth_methods_supported": []string{"private_key_jwt"},
			"id_token_signing_alg_values_supported": []string{"RS256"},
			"response_types_supported":              []string{"code"},
			"subject_types_supported":               []string{"pairwise"},
			"cloud_instance_name":                   "microsoftonline.com",
		})
	}
}

func (e *Entra) serveKeys(w http.ResponseWriter, _ *http.Request) {
	public := e.key.PublicKey
	answer(w, http.StatusOK, map[string]any{"keys": []map[string]any{{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": e.keyID, "x5t": e.keyID,
		"n": base64.RawURLEncoding.EncodeToString(public.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(public.E)).Bytes()),
	}}})
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client went away
}

// Holder is who a token of Entra's was given to, and for what.
type Holder struct{ ObjectID, ClientID, Audience string }

// Holder reads a token of version 1 of the tenant, for any resource.
func (e *Entra) Holder(token string) (Holder, error) {
	claims, err := e.verified(token, jwt.WithIssuer(Issuer(e.o.Tenant)))
	if err != nil {
		return Holder{}, err
	}
	return Holder{ObjectID: text(claims, "oid"), ClientID: text(claims, "appid"), Audience: text(claims, "aud")}, nil
}

// verified are the claims of a token that Entra has signed, and that is valid still.
func (e *Entra) verified(token string, rules ...jwt.ParserOption) (jwt.MapClaims, error) {
	claims := jwt.MapClaims{}
	rules = append(rules, jwt.WithValidMethods([]string{"RS256"}), jwt.WithTimeFunc(e.o.Now), jwt.WithExpirationRequired())
	if _, err := jwt.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return &e.key.PublicKey, nil }, rules...); err != nil {
		return nil, fmt.Errorf("verify the token of Entra: %w", err)
	}
	return claims, nil
}

// Review finds the user of a token in an AKS cluster of a tenant: what AKS has its webhook
// for. It takes tokens for the API servers of AKS alone, of the cluster's tenant. The user's
// name is the claim upn, or the object id where there is none, as for applications; groups
// are object ids. Source: getUserInfo in auth/providers/azure of
// https://github.com/kubeguard/guard, and
// https://learn.microsoft.com/azure/aks/concepts-identity#microsoft-entra-integration
func (e *Entra) Review(tenant, token string) (username string, groups []string, err error) {
	claims, err := e.verified(token, jwt.WithAudience(ServerID), jwt.WithIssuer(Issuer(tenant)))
	if err != nil {
		return "", nil, err
	}
	if text(claims, "tid") != tenant {
		return "", nil, fmt.Errorf("verify the token of Entra: it is of tenant %s, and the cluster of tenant %s", text(claims, "tid"), tenant)
	}
	for _, claim := range []string{"upn", "oid"} {
		if username = text(claims, claim); username != "" {
			break
		}
	}
	if username == "" {
		return "", nil, errors.New("verify the token of Entra: it has neither the claim upn nor oid")
	}
	listed, _ := claims["groups"].([]any)
	for _, group := range listed {
		if id, isText := group.(string); isText {
			groups = append(groups, id)
		}
	}
	return username, groups, nil
}
