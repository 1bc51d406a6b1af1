package entra

import (
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/url"
	"strings"
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
