package aws

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/authenticator"
	"tombolo/lab/aws/eks"
	"tombolo/lab/people"
	"tombolo/lab/pki"
	"tombolo/lab/standin"
)

const labIssuer = "https://" + people.Host + "/application/o/kubernetes/"

// provider is an OpenID Connect provider like the lab's, with a key of its own.
func provider(t *testing.T) *people.Provider {
	t.Helper()
	authority, err := pki.Open(t.TempDir(), "test")
	assert.NilError(t, err)
	assert.NilError(t, authority.IssueKey(people.KeyName))
	p, err := people.Open(authority.KeyFile(people.KeyName))
	assert.NilError(t, err)
	return p
}

// ada is what a token of hers says, with changes; a nil takes a claim out.
func ada(changes props) map[string]any {
	claims := map[string]any{
		"iss": labIssuer, "aud": "kubernetes", "sub": "1234", "preferred_username": "ada", "groups": []string{"platform", "all"},
		"email": "ada@example.com", "email_verified": false, "tenant": "acme", "exp": time.Now().Add(time.Hour).Unix(),
	}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return claims
}

func TestPeople(t *testing.T) {
	keys := provider(t)
	for name, test := range map[string]struct {
		oidc, claims props
		user         string
		groups       []string
	}{
		"as core has it":   {nil, nil, "oidc:ada", []string{"oidc:platform", "oidc:all"}},
		"one group":        {nil, props{"groups": "platform"}, "oidc:ada", []string{"oidc:platform"}},
		"no group":         {nil, props{"groups": nil}, "oidc:ada", nil},
		"audiences":        {nil, props{"aud": []string{"other", "kubernetes"}}, "oidc:ada", []string{"oidc:platform", "oidc:all"}},
		"no prefix in EKS": {props{"usernameClaim": nil, "usernamePrefix": nil, "groupsPrefix": nil}, nil, labIssuer + "#1234", []string{"platform", "all"}},
		"address": {
			props{"usernameClaim": "email"},
			props{"email_verified": true},
			"oidc:ada@example.com",
			[]string{"oidc:platform", "oidc:all"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Make(eks.IdentityProviderType, "people", labPeople(test.oidc))
			token, err := keys.Token(ada(test.claims))
			assert.NilError(t, err)
			assert.Check(t, authenticator.IsPerson(token))
			user, groups, err := authenticator.Person(w.Cloud, keys.Key, "demo", token)
			assert.NilError(t, err)
			assert.Check(t, is.Equal(user, test.user))
			assert.Check(t, slices.Equal(groups, test.groups), "%v", groups)
		})
	}
}

// labPeople is the lab's provider as one of the cluster demo, with changes; a nil takes a setting out.
func labPeople(change props) props {
	in := identityProvider(standin.Merged(props{"issuerUrl": labIssuer, "usernameClaim": "preferred_username", "requiredClaims": map[string]any{"tenant": "acme"}}, change))
	maps.DeleteFunc(in.Sub("oidc"), func(_ string, v any) bool { return v == nil })
	return in
}

func TestPeopleRefusals(t *testing.T) {
	keys, w := provider(t), newWorld(t)
	token, err := keys.Token(ada(nil))
	assert.NilError(t, err)
	_, _, err = authenticator.Person(w.Cloud, keys.Key, "demo", token)
	assert.Check(t, is.ErrorContains(err, "authenticate with cluster demo: the cluster has no identity provider"))
	made := w.Make(eks.IdentityProviderType, "people", labPeople(nil))
	for name, test := range map[string]struct {
		claims props
		want   string
	}{
		"audience":           {props{"aud": "argocd"}, "token has invalid audience"},
		"no audience":        {props{"aud": nil}, "aud claim is required"},
		"issuer":             {props{"iss": "https://" + people.Host + "/application/o/argocd/"}, "token has invalid issuer"},
		"issuer by a letter": {props{"iss": strings.TrimSuffix(labIssuer, "/")}, "token has invalid issuer"},
		"expired":            {props{"exp": time.Now().Add(-time.Minute).Unix()}, "token is expired"},
		"for ever":           {props{"exp": nil}, "exp claim is required"},
		"not yet":            {props{"nbf": time.Now().Add(time.Hour).Unix()}, "token is not valid yet"},
		"tenant":             {props{"tenant": "other"}, "the required claim tenant is not acme"},
		"no tenant":          {props{"tenant": nil}, "the required claim tenant is not acme"},
		"no name":            {props{"preferred_username": nil}, "the token has no claim preferred_username"},
		"groups":             {props{"groups": []any{1}}, "the claim groups has groups that are no text"},
	} {
		token, err := keys.Token(ada(test.claims))
		assert.NilError(t, err)
		_, _, err = authenticator.Person(w.Cloud, keys.Key, "demo", token)
		assert.Check(t, is.ErrorContains(err, test.want), name)
	}
	forged, err := provider(t).Token(ada(nil))
	assert.NilError(t, err)
	_, _, err = authenticator.Person(w.Cloud, keys.Key, "demo", forged)
	assert.Check(t, is.ErrorContains(err, "signature is invalid"))
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims(ada(nil))).SignedString(jwt.UnsafeAllowNoneSignatureType)
	assert.NilError(t, err)
	_, _, err = authenticator.Person(w.Cloud, keys.Key, "demo", unsigned)
	assert.Check(t, is.ErrorContains(err, "signing method none is invalid"))
	_, _, err = authenticator.Person(w.Cloud, keys.Key, "other", token)
	assert.Check(t, is.ErrorContains(err, "the cluster has no identity provider"))
	assert.NilError(t, w.Delete(made))
	_, _, err = authenticator.Person(w.Cloud, keys.Key, "demo", token)
	assert.Check(t, is.ErrorContains(err, "the cluster has no identity provider"), "it was taken away")

	w.Make(eks.IdentityProviderType, "mail", labPeople(props{"usernameClaim": "email"}))
	_, _, err = authenticator.Person(w.Cloud, keys.Key, "demo", token)
	assert.Check(t, is.ErrorContains(err, "the token says that its address is not verified"))
}

// TestIssuersThatDoNotAnswer: EKS takes a provider that it cannot ask, and refuses its tokens.
func TestIssuersThatDoNotAnswer(t *testing.T) {
	keys, w := provider(t), newWorld(t)
	w.Make(eks.IdentityProviderType, "people", labPeople(props{"issuerUrl": "https://auth.example.com/"}))
	token, err := keys.Token(ada(props{"iss": "https://auth.example.com/"}))
	assert.NilError(t, err)
	_, _, err = authenticator.Person(w.Cloud, keys.Key, "demo", token)
	assert.Check(t, is.ErrorContains(err, "https://auth.example.com/ does not answer"))
	_, err = people.Open(filepath.Join(t.TempDir(), "none.key"))
	assert.Check(t, is.ErrorContains(err, "read the key of the lab's provider"))
}

// identityProvider is one of the cluster demo, with changes.
func identityProvider(change props) props {
	return props{"clusterName": "demo", "oidc": standin.Merged(props{
		"identityProviderConfigName": "people", "issuerUrl": "https://auth.example.com/application/o/kubernetes/", "clientId": "kubernetes",
		"usernamePrefix": "oidc:", "groupsClaim": "groups", "groupsPrefix": "oidc:",
	}, change)}
}

func TestIdentityProviderRefusals(t *testing.T) {
	provider := func(change props) func(*world) props { return func(*world) props { return identityProvider(change) } }
	refused(t, newWorld, []attempt{
		{"without TLS", eks.IdentityProviderType, provider(props{"issuerUrl": "http://auth.example.com"}), `to have a url with schema of: "https", got http://auth.example.com`},
		{"query", eks.IdentityProviderType, provider(props{"issuerUrl": "https://auth.example.com/?tenant=acme"}), "InvalidParameterException: The issuer URL https://auth.example.com/?tenant=acme is not valid"},
		{"reserved users", eks.IdentityProviderType, provider(props{"usernamePrefix": "system:"}), "InvalidParameterException: The usernamePrefix cannot contain system:"},
		{"reserved groups", eks.IdentityProviderType, provider(props{"groupsPrefix": "x-system:"}), "InvalidParameterException: The groupsPrefix cannot contain system:"},
		{"claim without a value", eks.IdentityProviderType, provider(props{"requiredClaims": map[string]any{"tenant": ""}}), "expected length of oidc.requiredClaims.tenant to be in the range (1 - 253)"},
		{"no cluster", eks.IdentityProviderType, func(*world) props {
			return standin.Merged(identityProvider(nil), props{"clusterName": "other"})
		}, "ResourceNotFoundException: No cluster found for name: other."},
		{"the cluster's own issuer", eks.IdentityProviderType, func(w *world) props {
			return identityProvider(props{"issuerUrl": eks.Issuer(eks.ClusterNamed(w.Cloud, "demo"))})
		}, "InvalidParameterException: Incorrect Identity Provider URL configuration. The Identity Provider URL cannot be same as OpenID Connect (OIDC) issuer URL"},
		{"a second one", eks.IdentityProviderType, func(w *world) props {
			w.Make(eks.IdentityProviderType, "people", identityProvider(nil))
			return identityProvider(props{"identityProviderConfigName": "others"})
		}, "InvalidRequestException: Cluster demo already has an identity provider config associated: people"},
	})
}

func TestIdentityProvider(t *testing.T) {
	w := newWorld(t)
	made := w.Make(eks.IdentityProviderType, "people", identityProvider(nil))
	assert.Equal(t, made.ID, "demo:people")
	assert.Equal(t, made.Out.Str("status"), "ACTIVE")
	assert.NilError(t, w.Update(made, props{"tags": map[string]any{"a": "b"}}))
	diff := w.Diff(made, identityProvider(props{"clientId": "headlamp"}))
	assert.DeepEqual(t, diff.Replaces, []string{"oidc"})
	assert.NilError(t, w.Delete(made))
	w.Make(eks.IdentityProviderType, "others", identityProvider(props{"identityProviderConfigName": "others"}))
}
