package addon

import (
	"regexp"
	"strings"

	"tombolo/config/field"
	"tombolo/config/strict"
)

// HeadlampOptions are the options of headlamp.
type HeadlampOptions struct {
	// Host under which people reach it, by istio's Gateway. Default: none; then only
	// kubectl port-forward does.
	Host string `yaml:"host,omitempty"`
	// OIDCSecret is the name of the Secret in the namespace headlamp with the key
	// OIDC_CLIENT_SECRET, which the platform tree brings: Headlamp then signs people in by
	// kubernetes.identityProvider, as its client. Default: none; people sign in with tokens
	// of their own.
	OIDCSecret string `yaml:"oidcSecret,omitempty"`
	// OIDCScopes that Headlamp asks the provider for beside openid, so that the token has
	// name and groups. They go with oidcSecret. Default: profile and email.
	OIDCScopes []string `yaml:"oidcScopes,omitempty"`
}

var headlampOptionsFields = field.Of[HeadlampOptions](map[string]field.Descriptor{
	"Host": {Rule: hosts, Change: field.Changes("the engine follows the values: the route has the other name, and external-dns makes its record")},
	"OIDCSecret": {
		Rule:   strict.Rule{What: "the name of a Secret", Example: "headlamp-oidc", MaxLength: 253, Pattern: regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)},
		Change: field.Changes("the engine follows the values: Headlamp starts anew, and signs people in by the provider or takes their own tokens"),
	},
	"OIDCScopes": {
		Rule:   strict.Rule{What: "a scope", Noun: "scope", Example: "groups", Pattern: regexp.MustCompile(`^[!#-+.-\[\]-~]+$`)},
		Change: field.Changes("the engine follows the values: Headlamp starts anew and asks the provider for the other scopes"),
	},
})

var _ = register(Addon{
	Name:            "headlamp",
	Summary:         "Shows the cluster in a browser.",
	Namespace:       "headlamp",
	NamespaceLabels: podSecurity("baseline"),
	Stage:           Others,
}, definition[HeadlampOptions]{
	Fields: headlampOptionsFields,
	Values: func(in Input[HeadlampOptions], _ Outputs) map[string]any {
		values, host := map[string]any{}, in.Options.Host
		if in.routed(host) {
			values["httpRoute"] = map[string]any{"enabled": true, "hostnames": []any{host}, "parentRefs": gatewayRefs()}
		}
		if in.Options.OIDCSecret != "" {
			signIn(in, values)
		}
		return values
	},
	Check: func(o HeadlampOptions, all Selection) []Problem {
		problems := checkHost("headlamp", o.Host, false, all)
		if len(o.OIDCScopes) > 0 && o.OIDCSecret == "" {
			problems = append(problems, Problem{Path: "oidcScopes", Message: "has no effect without oidcSecret", Remedy: "add oidcSecret, or remove it"})
		}
		return problems
	},
})

// signIn has Headlamp sign people in. The chart takes the client's secret by the name of a
// Secret only together with all else, as variables of the container; what is no secret is
// beside it, so that the file has it once. The callback is written down where there is a
// host: Headlamp would take http from a Gateway that does not say that TLS ended before it.
// https://github.com/kubernetes-sigs/headlamp/blob/headlamp-helm-0.43.0/charts/headlamp/templates/deployment.yaml
// https://github.com/kubernetes-sigs/headlamp/blob/headlamp-helm-0.43.0/docs/installation/in-cluster/oidc.md
func signIn(in Input[HeadlampOptions], values map[string]any) {
	values["config"] = map[string]any{"oidc": map[string]any{
		"secret":         map[string]any{"create": false},
		"externalSecret": map[string]any{"enabled": true, "name": in.Options.OIDCSecret, "hasScopes": true},
	}}
	variable := func(name, value string) map[string]any { return map[string]any{"name": name, "value": value} }
	scopes := in.Options.OIDCScopes
	if len(scopes) == 0 {
		scopes = []string{"profile", "email"} // as Headlamp has it
	}
	env := []any{
		variable("OIDC_CLIENT_ID", in.ClientID), variable("OIDC_ISSUER_URL", in.IssuerURL), variable("OIDC_SCOPES", strings.Join(scopes, ",")),
	}
	if in.routed(in.Options.Host) {
		env = append(env, variable("OIDC_CALLBACK_URL", "https://"+in.Options.Host+"/oidc-callback"))
	}
	values["env"] = env
}
