package entra

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const (
	tenant = "00000000-0000-4000-8000-00000000000a"
	issuer = "https://id.test/"
	client = "00000000-0000-4000-8000-0000000000c1"
	object = "00000000-0000-4000-8000-0000000000d1"
	group  = "00000000-0000-4000-8000-0000000000a1"
)

// world is Entra with one application that trusts one issuer, and what can be changed of it.
type world struct {
	*Entra
	key *ecdsa.PrivateKey
	now time.Time
	who Identity
}

func newWorld(t *testing.T) *world {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	w := &world{key: key, now: time.Now(), who: Identity{
		ClientID: client, ObjectID: object, Groups: []string{group},
		Federations: []Federation{{Issuer: issuer, Subject: "job", Audiences: []string{ExchangeAudience}}},
	}}
	w.Entra, err = Open(Options{
		KeyFile: filepath.Join(t.TempDir(), "pki", "entra.key"), Tenant: tenant, Now: func() time.Time { return w.now },
		Identity: func(id string) (Identity, bool) { return w.who, id == w.who.ClientID },
		KeyOf: func(asked string) (crypto.PublicKey, error) {
			if asked != issuer {
				return nil, errors.New("no such host")
			}
			return w.key.Public(), nil
		},
	})
	assert.NilError(t, err)
	return w
}

// assertion is the issuer's token, with these claims in place of its own.
func (w *world) assertion(t *testing.T, other map[string]any) string {
	t.Helper()
	claims := jwt.MapClaims{"iss": issuer, "sub": "job", "aud": ExchangeAudience, "exp": w.now.Add(time.Minute).Unix()}
	maps.Copy(claims, other)
	signed, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(w.key)
	assert.NilError(t, err)
	return signed
}

// form is a request for a token for AKS, with these values in place of its own.
func (w *world) form(t *testing.T, other map[string]string) url.Values {
	t.Helper()
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {client}, "scope": {ServerID + "/.default openid offline_access profile"},
		"client_assertion_type": {assertionType}, "client_assertion": {w.assertion(t, nil)},
	}
	for key, value := range other {
		form.Set(key, value)
	}
	return form
}

func TestToken(t *testing.T) {
	w := newWorld(t)
	server := httptest.NewServer(w.Handler())
	t.Cleanup(server.Close)
	var given struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
	}
	resp, err := http.PostForm(server.URL+"/"+tenant+"/oauth2/v2.0/token", w.form(t, nil))
	assert.NilError(t, err)
	defer resp.Body.Close()
	assert.NilError(t, json.NewDecoder(resp.Body).Decode(&given))
	assert.Equal(t, fmt.Sprint(resp.StatusCode, given.TokenType, given.ExpiresIn), "200Bearer3600")
	claims := jwt.MapClaims{}
	_, err = jwt.ParseWithClaims(given.AccessToken, claims, func(token *jwt.Token) (any, error) {
		return published(t, server.URL, fmt.Sprint(token.Header["kid"])), nil
	})
	assert.NilError(t, err)
	for claim, want := range map[string]string{
		"aud": ServerID, "iss": "https://sts.windows.net/" + tenant + "/", "tid": tenant, "oid": object, "sub": object,
		"appid": client, "groups": "[" + group + "]", "ver": "1.0",
	} {
		assert.Check(t, is.Equal(fmt.Sprint(claims[claim]), want), claim)
	}
	name, groups, err := w.Review(tenant, given.AccessToken)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(name, object))
	assert.Check(t, is.DeepEqual(groups, []string{group}))
}

// published is the key that a client finds by way of the discovery.
func published(t *testing.T, at, id string) *rsa.PublicKey {
	t.Helper()
	endpoint := "https://" + LoginHost + "/" + tenant + "/oauth2/v2.0/authorize"
	instance := get(t, at, "https://"+LoginHost+"/common/discovery/instance?api-version=1.1&authorization_endpoint="+url.QueryEscape(endpoint))
	configuration := get(t, at, instance["tenant_discovery_endpoint"].(string))
	assert.Equal(t, configuration["issuer"], "https://"+LoginHost+"/"+tenant+"/v2.0")
	assert.Equal(t, configuration["token_endpoint"], "https://"+LoginHost+"/"+tenant+"/oauth2/v2.0/token")
	key := get(t, at, configuration["jwks_uri"].(string))["keys"].([]any)[0].(map[string]any)
	assert.Equal(t, key["kid"], id)
	number := func(name string) *big.Int {
		data, err := base64.RawURLEncoding.DecodeString(key[name].(string))
		assert.NilError(t, err)
		return new(big.Int).SetBytes(data)
	}
	return &rsa.PublicKey{N: number("n"), E: int(number("e").Int64())}
}

// get is what the server at an address answers for a URL of Entra's.
func get(t *testing.T, at, asked string) map[string]any {
	t.Helper()
	resp, err := http.Get(at + strings.TrimPrefix(asked, "https://"+LoginHost))
	assert.NilError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, resp.StatusCode, http.StatusOK)
	var answered map[string]any
	assert.NilError(t, json.NewDecoder(resp.Body).Decode(&answered))
	return answered
}

func TestRefusals(t *testing.T) {
	w := newWorld(t)
	assertion := func(claims map[string]any) map[string]string {
		return map[string]string{"client_assertion": w.assertion(t, claims)}
	}
	stranger := newWorld(t)
	for name, c := range map[string]struct {
		form map[string]string
		want string
	}{
		"another grant":         {map[string]string{"grant_type": "password"}, "unsupported_grant_type: AADSTS70003: The app requested an unsupported grant type 'password'"},
		"an unknown client":     {map[string]string{"client_id": "x"}, "unauthorized_client: AADSTS700016: Application with identifier 'x' was not found in the directory '" + tenant},
		"a secret":              {map[string]string{"client_secret": "x"}, "invalid_client: AADSTS7000215: Invalid client secret provided"},
		"no assertion":          {map[string]string{"client_assertion": ""}, "invalid_client: AADSTS7000218: The request body must contain"},
		"an assertion of X.509": {map[string]string{"client_assertion_type": "x509"}, "invalid_client: AADSTS7000218: The request body must contain"},
		"no JWT":                {map[string]string{"client_assertion": "x"}, "invalid_client: AADSTS50027: JWT token is invalid or malformed"},
		"another issuer":        {assertion(map[string]any{"iss": "https://id.test"}), "invalid_client: AADSTS700211: No matching federated identity record found for presented assertion issuer 'https://id.test'"},
		"another audience":      {assertion(map[string]any{"aud": "sts.amazonaws.com"}), "invalid_client: AADSTS700212: No matching federated identity record found for presented assertion audience 'sts.amazonaws.com'"},
		"another subject":       {assertion(map[string]any{"sub": "Job"}), "invalid_client: AADSTS700213: No matching federated identity record found for presented assertion subject 'Job'"},
		"an expired assertion":  {assertion(map[string]any{"exp": w.now.Add(-time.Minute).Unix()}), "invalid_client: AADSTS700024: Client assertion is not within its valid time range"},
		"another's signature":   {map[string]string{"client_assertion": stranger.assertion(t, nil)}, "invalid_client: AADSTS50013: Assertion failed signature validation"},
		"an unknown resource":   {map[string]string{"scope": "https://other.test/.default"}, "invalid_resource: AADSTS500011: The resource principal named https://other.test was not found"},
		"a delegated scope":     {map[string]string{"scope": ServerID + "/user.read"}, "invalid_scope: AADSTS1002012: The provided value for scope " + ServerID + "/user.read is not valid"},
	} {
		_, err := w.Token(w.form(t, c.form))
		assert.Check(t, is.ErrorContains(err, c.want), name)
	}
	w.who.Federations[0].Issuer = "https://gone.test/"
	_, err := w.Token(w.form(t, assertion(map[string]any{"iss": "https://gone.test/"})))
	assert.Check(t, is.ErrorContains(err, "invalid_client: AADSTS50166: Request to External OIDC endpoint failed: no such host"))
}

// TestRefusalsInTheirForm: clients read the code, and other tenants do not exist.
func TestRefusalsInTheirForm(t *testing.T) {
	w := newWorld(t)
	for path, want := range map[string]string{
		"/other/oauth2/v2.0/token":           "400 invalid_tenant AADSTS90002: Tenant 'other' not found.",
		"/" + tenant + "/oauth2/v2.0/token":  "400 unsupported_grant_type AADSTS70003: The app requested",
		"/" + tenant + "/oauth2/v2.0/token?": "400 unsupported_grant_type AADSTS70003: The app requested",
	} {
		recorded := httptest.NewRecorder()
		w.Handler().ServeHTTP(recorded, httptest.NewRequest(http.MethodPost, path, nil))
		var body struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
			Codes       []int  `json:"error_codes"`
		}
		assert.NilError(t, json.Unmarshal(recorded.Body.Bytes(), &body))
		got := fmt.Sprint(recorded.Code, " ", body.Error, " ", body.Description)
		assert.Check(t, strings.HasPrefix(got, want), got)
		assert.Check(t, is.Len(body.Codes, 1))
	}
}

func TestReviewRefuses(t *testing.T) {
	w := newWorld(t)
	const other = "00000000-0000-4000-8000-00000000000b"
	for name, c := range map[string]struct {
		claims map[string]any
		want   string
	}{
		"another audience":            {map[string]any{"aud": "https://management.azure.com"}, "token has invalid audience"},
		"an expired token":            {map[string]any{"exp": w.now.Add(-time.Second).Unix()}, "token is expired"},
		"no expiry":                   {map[string]any{"exp": nil}, "exp claim is required"},
		"another tenant's issuer":     {map[string]any{"iss": Issuer(other), "tid": other}, "token has invalid issuer"},
		"another tenant":              {map[string]any{"tid": other}, "it is of tenant " + other + ", and the cluster of tenant " + tenant},
		"nobody":                      {map[string]any{"oid": nil}, "it has neither the claim upn nor oid"},
		"a token of version 2's form": {map[string]any{"iss": issuerOfLogin(tenant)}, "token has invalid issuer"},
	} {
		claims := w.claims(w.who, ServerID)
		maps.Copy(claims, c.claims)
		maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
		token, err := w.Sign(claims)
		assert.NilError(t, err)
		_, _, err = w.Review(tenant, token)
		assert.Check(t, is.ErrorContains(err, c.want), name)
	}
	forged, err := newWorld(t).Sign(w.claims(w.who, ServerID))
	assert.NilError(t, err)
	_, _, err = w.Review(tenant, forged)
	assert.Check(t, is.ErrorContains(err, "signature is invalid"))
}

// TestReviewOfAPerson: people have names, and applications have none. Groups are as in any token.
func TestReviewOfAPerson(t *testing.T) {
	w := newWorld(t)
	ada := Person{Name: "ada@lab.test", ObjectID: object, Groups: []string{group}}
	token, until, err := w.PersonToken(ada, ServerID)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(until, w.now.Add(lifetime)))
	name, groups, err := w.Review(tenant, token)
	assert.NilError(t, err)
	assert.Equal(t, name, "ada@lab.test")
	assert.DeepEqual(t, groups, []string{group})
	_, _, err = w.PersonToken(ada, "x")
	assert.Check(t, is.ErrorContains(err, "invalid_resource: AADSTS500011"))
}

// TestKeyIsKept: tokens outlive a lab that is started anew.
func TestKeyIsKept(t *testing.T) {
	w := newWorld(t)
	again, err := Open(w.o)
	assert.NilError(t, err)
	token, err := w.Token(w.form(t, nil))
	assert.NilError(t, err)
	_, _, err = again.Review(tenant, token)
	assert.NilError(t, err)
	_, err = Open(Options{Tenant: tenant})
	assert.Check(t, is.Error(err, "open Entra: Options has no Tenant, Identity or KeyOf"))
}

// TestHolder: a token tells who has it and what it is for, whatever that is; another's does not.
func TestHolder(t *testing.T) {
	w := newWorld(t)
	token, err := w.Token(w.form(t, map[string]string{"scope": "https://vault.azure.net/.default"}))
	assert.NilError(t, err)
	who, err := w.Holder(token)
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(who, Holder{ObjectID: object, ClientID: client, Audience: "https://vault.azure.net"}))
	token, err = w.Token(w.form(t, map[string]string{"scope": DevOpsID + "/.default"}))
	assert.NilError(t, err)
	who, err = w.Holder(token)
	assert.Check(t, err == nil && who.Audience == DevOpsID, "%v %v", who, err)
	_, err = w.Holder(w.assertion(t, nil))
	assert.ErrorContains(t, err, "verify the token of Entra")
	old, err := w.Sign(map[string]any{"iss": Issuer(tenant), "oid": object, "exp": w.now.Add(-time.Minute).Unix()})
	assert.NilError(t, err)
	_, err = w.Holder(old)
	assert.ErrorContains(t, err, "token is expired")
}
