package aws

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/config/addon"
)

// TestOwnProviderComesSecond: a cluster cannot be made with a provider that runs on it.
func TestOwnProviderComesSecond(t *testing.T) {
	c := &config.Cluster{
		Addons:     addon.Selection{"authentik": &addon.AuthentikOptions{Host: "id.example.com"}, "istio": addon.Find("istio").NewOptions()},
		Kubernetes: config.Kubernetes{IdentityProvider: &config.IdentityProvider{IssuerURL: "https://id.example.com/application/o/kubernetes/"}},
	}
	err := refuseOwnProvider(c, made{})
	assert.Check(t, is.ErrorContains(err, "is the addon authentik of this cluster"))
	assert.Check(t, is.ErrorContains(err, "add it with a second up"))
	assert.NilError(t, refuseOwnProvider(c, made{asMade()}))
	c.Kubernetes.IdentityProvider.IssuerURL = "https://id.example.org/"
	assert.NilError(t, refuseOwnProvider(c, made{}))
	c.Kubernetes.IdentityProvider = nil
	assert.NilError(t, refuseOwnProvider(c, made{}))
}
