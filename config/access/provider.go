package access

import (
	"regexp"

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
		Rule:   strict.Rule{What: "the https URL of an issuer", Example: "https://auth.example.com/application/o/kubernetes/", Pattern: regexp.MustCompile(`^https://\S+$`), Secret: true},
		Change: field.Changes(providerWords),
	},
	"ClientID": {Rule: strict.Rule{What: "the id of a client", Example: "kubernetes", Pattern: regexp.MustCompile(`^\S+$`)}, Change: field.Changes(providerWords)},
	"UsernameClaim": {
		Rule: strict.Rule{What: "the name of a claim", Example: "preferred_username", Pattern: regexp.MustCompile(`^\S+$`), Default: DefaultUsernameClaim}, Change: field.Changes(providerWords),
	},
	"UsernamePrefix": {
		Rule:   strict.Rule{What: "a prefix that ends with a colon", Example: "oidc:", Pattern: claimPrefix, Advice: claimPrefixAdvice, Default: DefaultClaimPrefix},
		Change: field.Changes(providerWords + "; bindings of users name them with the new prefix"),
	},
	"GroupsClaim": {Rule: strict.Rule{What: "the name of a claim", Example: "groups", Pattern: regexp.MustCompile(`^\S+$`), Default: DefaultGroupsClaim}, Change: field.Changes(providerWords)},
	"GroupsPrefix": {
		Rule:   strict.Rule{What: "a prefix that ends with a colon", Example: "oidc:", Pattern: claimPrefix, Advice: claimPrefixAdvice, Default: DefaultClaimPrefix},
		Change: field.Changes(providerWords + "; bindings of groups name them with the new prefix"),
	},
	"RequiredClaims": {Change: field.Changes(providerWords)},
})

// What a change does that several keys share.
const (
	providerWords = "EKS takes the provider from the control plane and gives it anew, each within half an hour: until then its tokens are refused"
)

// The defaults of an identity provider. The claim of the name is EKS's default; EKS would
// read no groups, and put no prefix before them.
const (
	DefaultUsernameClaim = "sub"
	DefaultGroupsClaim   = "groups"
	DefaultClaimPrefix   = "oidc:"
)

// claimPrefix is a prefix of users and groups. It ends with a colon, so that no claim makes a
// reserved name of it: EKS only refuses prefixes that contain system:, and with the prefix
// "system" a provider could name the group ":masters".
// https://docs.aws.amazon.com/eks/latest/APIReference/API_OidcIdentityProviderConfigRequest.html
var claimPrefix = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*:$`)

func claimPrefixAdvice(s string) string {
	if s == "-" {
		return "write a prefix such as oidc: - without one, the provider could name reserved users and groups"
	}
	return "end it with a colon, such as oidc:, so that no claim makes a reserved name of it"
}
