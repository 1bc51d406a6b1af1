package aws

import (
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/aws/eks"
	"tombolo/lab/standin"
)

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
