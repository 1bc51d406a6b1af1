package policy

import (
	"strings"
	"testing"
)

// TestAllow has the examples of Vault's documentation, and the paths of two systems.
func TestAllow(t *testing.T) {
	const policy = `
path "secret/data/dev/shop/*" { capabilities = ["read"] }
path "secret/data/dev/shop/own" { capabilities = ["read", "update"] }
path "secret/data/dev/shop/hidden" { capabilities = ["read", "deny"] }
path "secret/+/teamb" { capabilities = ["list"] }
path "secret/*" { capabilities = ["list"] }
path "team*" { capabilities = ["read"] }
`
	rules, err := Parse(policy)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		capability, path string
		want             bool
	}{
		{"read", "secret/data/dev/shop/database", true},
		{"read", "secret/data/dev/shop/a/b", true},
		{"update", "secret/data/dev/shop/database", false},
		{"update", "secret/data/dev/shop/own", true},
		{"read", "secret/data/dev/shop/hidden", false},
		{"read", "secret/data/dev/shop", false},
		{"read", "secret/data/dev/shop-eu/database", false},
		{"list", "secret/data/dev/shop-eu/database", true},
		{"list", "secret/data/dev/shop/database", false}, // the nearer rule counts alone
		{"list", "secret/a/teamb", true},
		{"read", "secret/a/teamb", false},
		{"read", "teams/any/path", true},
		{"read", "tea", false},
		{"read", "", false},
	} {
		if got := Allow(rules, c.capability, c.path); got != c.want {
			t.Errorf("%s on %q: %v", c.capability, c.path, got)
		}
	}
}

// TestParse: what is not known is refused.
func TestParse(t *testing.T) {
	for policy, want := range map[string]string{
		`path "a" { capabilities = ["reed"] }`:                        `invalid capability "reed"`,
		`path "a" { policy = "write" }`:                               `invalid key "policy"`,
		`path "a/{{identity.entity.id}}" { capabilities = ["read"] }`: "this server has no templates",
		`path "a/+*" { capabilities = ["read"] }`:                     "invalid use of wildcards",
		`name = "a"`: `invalid key "name"`,
		`path "a" { capabilities = ["read"], allowed_parameters = {"a" = [] } }`: "failed to parse policy",
		`path "a`: "failed to parse policy",
	} {
		if _, err := Parse(policy); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", policy, err)
		}
	}
}
