package addon

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/field"
	"tombolo/config/strict"
)

// AuthentikOptions are the options of authentik.
type AuthentikOptions struct {
	// SecretPath is the name of the secret in Secrets Manager, or in the key vault on Azure,
	// with the keys secret_key, host, dbname, username and password: authentik's own key
	// and its PostgreSQL database. In Secrets Manager the name must begin with a prefix
	// that external-secrets may read.
	SecretPath string `yaml:"secretPath"`
	// Host under which people sign in, by istio's Gateway. Default: none; then only
	// kubectl port-forward reaches it.
	Host string `yaml:"host,omitempty"`
}

var authentikOptionsFields = field.Of[AuthentikOptions](map[string]field.Descriptor{
	"SecretPath": {
		Rule: strict.Rule{What: "the name of a secret in Secrets Manager", Example: "demo/authentik", Pattern: regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]+$`), MaxLength: 512},
		// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftkeyvault
		AzureRule: &strict.Rule{What: "the name of a secret in a key vault", Example: "authentik", Pattern: regexp.MustCompile(`^[0-9A-Za-z-]+$`), MaxLength: 127},
		Change:    field.Changes("authentik starts anew with the other secret"),
	},
	"Host": {Rule: hosts, Change: field.Changes("the engine follows the values: the route has the other name, and external-dns makes its record")},
})

var _ = register(Addon{
	Name:            "authentik",
	Summary:         "Signs users in to applications, with OAuth2, OIDC, SAML or LDAP.",
	Namespace:       "authentik",
	NamespaceLabels: podSecurity("baseline"),
	Stage:           Others,
	Requires:        []string{"external-secrets"},
}, definition[AuthentikOptions]{
	Fields: authentikOptionsFields,
	Keys: []key[AuthentikOptions]{{
		"authentik_secret_path", "Name of authentik's secret in Secrets Manager, or in the key vault on Azure.", "demo/authentik",
		func(in Input[AuthentikOptions], _ Outputs) string { return in.Options.SecretPath },
	}},
	Values: func(in Input[AuthentikOptions], _ Outputs) map[string]any {
		host := in.Options.Host
		if !in.routed(host) {
			return map[string]any{}
		}
		// authentik writes its own addresses by these headers:
		// https://docs.goauthentik.io/install-config/reverse-proxy/
		route := map[string]any{"enabled": true, "hostnames": []any{host}, "parentRefs": gatewayRefs(), "filters": overHTTPS()}
		return map[string]any{"server": map[string]any{"route": map[string]any{"main": route}}}
	},
	Check: func(o AuthentikOptions, all Selection) []Problem {
		problems := checkHost("authentik", o.Host, false, all)
		secrets, on := all["external-secrets"].(*SecretsOptions)
		if !on || len(secrets.Prefixes) == 0 || slices.ContainsFunc(secrets.Prefixes, func(p string) bool { return strings.HasPrefix(o.SecretPath, p) }) {
			return problems
		}
		return append(problems, Problem{
			Path:    "secretPath",
			Message: fmt.Sprintf("%q begins with no prefix that external-secrets may read: %s", o.SecretPath, strings.Join(secrets.Prefixes, ", ")),
			Remedy:  "begin it with one of them, or add its own to addons.external-secrets.prefixes",
		})
	},
})
