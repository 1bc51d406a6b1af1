package config

import (
	"net/url"
	"regexp"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/field"
	"tombolo/config/strict"
)

// IdentityProvider is an OpenID Connect provider whose tokens the Kubernetes API takes, for
// people: by Headlamp, or by kubectl with a plugin. EKS has one for a cluster, and changes no
// key of it: with another value core takes the provider away and gives it anew, each within half
// an hour, and until then its tokens are refused. Nodes and IAM's access stay. EKS reads the
// provider's keys over the internet, and takes no certificate that the provider has signed
// itself: https://docs.aws.amazon.com/eks/latest/userguide/authenticate-oidc-identity-provider.html
type IdentityProvider struct {
	// IssuerURL of the provider, as its tokens have it in iss, a slash at the end included:
	// https://, without a query. EKS has to reach it over the internet.
	IssuerURL string `yaml:"issuerUrl"`
	// ClientID is the audience of the tokens, aud: the client of Headlamp at the provider.
	ClientID string `yaml:"clientId"`
	// UsernameClaim is the claim of a token with the user's name. Default sub.
	UsernameClaim string `yaml:"usernameClaim,omitempty"`
	// UsernamePrefix is put before each name, so that it is nobody else's: it ends with a
	// colon. Default oidc:.
	UsernamePrefix string `yaml:"usernamePrefix,omitempty"`
	// GroupsClaim is the claim of a token with the user's groups. Default groups.
	GroupsClaim string `yaml:"groupsClaim,omitempty"`
	// GroupsPrefix is put before each group, and RoleBindings name the groups with it: it
	// ends with a colon. Default oidc:.
	GroupsPrefix string `yaml:"groupsPrefix,omitempty"`
	// RequiredClaims that a token has to have, with their values. Default: none.
	RequiredClaims map[string]string `yaml:"requiredClaims,omitempty"`
}

var identityProviderFields = field.Of[IdentityProvider](map[string]field.Descriptor{
	"IssuerURL": {
		Rule: strict.Rule{
			What: "the https URL of an issuer", Example: "https://auth.example.com/application/o/kubernetes/",
			Pattern: regexp.MustCompile(`^https://\S+$`), Secret: true,
		},
		Change: field.Changes(providerWords),
	},
	"ClientID": {
		Rule: strict.Rule{
			What: "the id of a client", Example: "kubernetes", Pattern: regexp.MustCompile(`^\S+$`),
		},
		Change: field.Changes(providerWords),
	},
	"UsernameClaim": {
		Rule: strict.Rule{
			What: "the name of a claim", Example: "preferred_username", Pattern: regexp.MustCompile(`^\S+$`), Default: defaultUsernameClaim,
		},
		Change: field.Changes(providerWords),
	},
	"UsernamePrefix": {
		Rule: strict.Rule{
			What: "a prefix that ends with a colon", Example: "oidc:", Pattern: claimPrefix, Advice: claimPrefixAdvice, Default: defaultClaimPrefix,
		},
		Change: field.Changes(providerWords + "; bindings of users name them with the new prefix"),
	},
	"GroupsClaim": {
		Rule: strict.Rule{
			What: "the name of a claim", Example: "groups", Pattern: regexp.MustCompile(`^\S+$`), Default: defaultGroupsClaim,
		},
		Change: field.Changes(providerWords),
	},
	"GroupsPrefix": {
		Rule: strict.Rule{
			What: "a prefix that ends with a colon", Example: "oidc:", Pattern: claimPrefix, Advice: claimPrefixAdvice, Default: defaultClaimPrefix,
		},
		Change: field.Changes(providerWords + "; bindings of groups name them with the new prefix"),
	},
	"RequiredClaims": {Change: field.Changes(providerWords)},
})

// The defaults of an identity provider. The claim of the name is EKS's default; EKS would
// read no groups, and put no prefix before them.
const (
	defaultUsernameClaim = "sub"
	defaultGroupsClaim   = "groups"
	defaultClaimPrefix   = "oidc:"
)

// OwnProvider is the addon of this cluster that is its identity provider, by its host; "" when the
// provider is elsewhere. Git brings an addon after the cluster is made, and EKS would ask a name
// that nobody answers: such a provider is given to a cluster that lives.
func (k Kubernetes) OwnProvider(addons addon.Selection) string {
	if k.IdentityProvider == nil {
		return ""
	}
	issuer, err := url.Parse(k.IdentityProvider.IssuerURL)
	if err != nil {
		return ""
	}
	for _, a := range addons.Enabled() {
		if host := addon.HostOf(a.Options); host != "" && host == hostIn(issuer) {
			return a.Name
		}
	}
	return ""
}

// hostIn is the host of a URL as hosts are written elsewhere in the file: names of hosts have no
// capitals, and may end with a dot.
func hostIn(u *url.URL) string { return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) }
