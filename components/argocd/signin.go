package argocd

import (
	"encoding/json"
	"errors"
	"strings"
)

// SignIn is how people sign in to Argo CD by an OpenID Connect provider, and what their
// groups may do.
type SignIn struct {
	// URL under which people reach Argo CD.
	URL string
	// IssuerURL of the provider, and ClientID of Argo CD there.
	IssuerURL, ClientID string
	// Secret is the name of a Secret in Argo CD's namespace, with the key ClientSecretKey and
	// the label app.kubernetes.io/part-of: argocd. It need not be there: until it is, nobody
	// signs in by the provider.
	Secret string
	// Scopes to ask for; none for those that Argo CD asks for by itself.
	Scopes []string
	// AdminGroups may do everything, ReaderGroups see everything. They are the provider's
	// names, without commas and quotes.
	AdminGroups, ReaderGroups []string
}

// ClientSecretKey is the key of the client's secret in its Secret.
const ClientSecretKey = "clientSecret"

func (s *SignIn) problems() []error {
	if s == nil {
		return nil
	}
	var out []error
	if s.URL == "" || s.IssuerURL == "" || s.ClientID == "" || s.Secret == "" {
		out = append(out, errors.New("a sign-in needs URL, issuer, client and Secret"))
	}
	for _, group := range append(append([]string{}, s.AdminGroups...), s.ReaderGroups...) {
		if group == "" || strings.ContainsAny(group, ",\"\n") || strings.HasPrefix(group, "role:") || strings.HasPrefix(group, "proj:") {
			out = append(out, errors.New("a group of the sign-in is empty, no text of a policy, or the name of a role"))
		}
	}
	return out
}

// settings are those of argocd-cm. The client's secret is named only, in Argo CD's own way:
// https://argo-cd.readthedocs.io/en/stable/operator-manual/user-management/#alternative.
// It reads YAML, of which JSON is a part.
func (s *SignIn) settings() map[string]string {
	config := map[string]any{
		"name": "OIDC", "issuer": s.IssuerURL, "clientID": s.ClientID, "clientSecret": "$" + s.Secret + ":" + ClientSecretKey,
	}
	if len(s.Scopes) > 0 {
		config["requestedScopes"] = s.Scopes
	}
	text, _ := json.Marshal(config) // texts alone
	return map[string]string{"url": s.URL, "oidc.config": string(text)}
}

// policy is a key of its own in argocd-rbac-cm, which Argo CD adds to policy.csv: that one and
// policy.default stay Git's, and without them who is in no group sees nothing.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/rbac/#policy-csv-composition
func (s *SignIn) policy() map[string]string {
	var lines strings.Builder
	for _, of := range []struct {
		role   string
		groups []string
	}{{"role:admin", s.AdminGroups}, {"role:readonly", s.ReaderGroups}} {
		for _, group := range of.groups {
			lines.WriteString("g, " + group + ", " + of.role + "\n")
		}
	}
	return map[string]string{"policy.tombolo.csv": lines.String()}
}
