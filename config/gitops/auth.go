package gitops

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"tombolo/config/check"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/secret"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// AuthType is how the engine reads the Git repository.
type AuthType string

// The kinds of Git credentials.
const (
	// AuthBasic is a user name and a password or token over HTTPS.
	AuthBasic AuthType = "basic"
	// AuthSSH is a private key and the host's known keys.
	AuthSSH AuthType = "ssh"
	// AuthGitHubApp is a GitHub App, whose private key gets tokens of an hour for the
	// repositories that it is installed in, from the API of the host in gitops.url.
	AuthGitHubApp AuthType = "github-app"
	// AuthWorkloadIdentity is an identity of Microsoft Entra that core makes for the engine's pods,
	// which get tokens for Azure DevOps by it. Nothing is secret.
	AuthWorkloadIdentity AuthType = "workload-identity"
)

// Auth refers to the secrets for the Git repository; it never holds them.
type Auth struct {
	// Type is basic, ssh, github-app or workload-identity, which is for a cluster in Azure with a
	// repository at Azure DevOps and takes no other key.
	Type AuthType `yaml:"type"`
	// Username for basic. Default git.
	Username string `yaml:"username,omitempty"`
	// Password (basic): where the password or token is.
	Password *secret.SecretRef `yaml:"password,omitempty"`
	// PrivateKey (ssh, github-app): where the PEM private key is; that of a GitHub App is
	// RSA, as GitHub makes it, without a passphrase.
	PrivateKey *secret.SecretRef `yaml:"privateKey,omitempty"`
	// KnownHosts (ssh): the host's public keys, as in a known_hosts file.
	KnownHosts string `yaml:"knownHosts,omitempty"`
	// AppID (github-app) is the number of the App, which its settings show as App ID.
	AppID int `yaml:"appId,omitempty"`
	// InstallationID (github-app) is the number of the App's installation in the
	// organisation that has the repository: the end of the address of its settings.
	InstallationID int `yaml:"installationId,omitempty"`
}

const authWords = "the engine's Secret for the repository changes"

var authFields = field.Of[Auth](map[string]field.Descriptor{
	"Type":           {Rule: strict.Rule{What: "a kind of Git credentials", Allowed: form.Texts(AuthBasic, AuthSSH, AuthGitHubApp, AuthWorkloadIdentity)}, Change: field.Changes(authWords + "; with workload-identity core makes an identity, or deletes it")},
	"Username":       {Rule: strict.Rule{Default: defaultUsername}, Change: field.Changes(authWords)},
	"Password":       {Change: field.Changes(authWords)},
	"PrivateKey":     {Change: field.Changes(authWords)},
	"KnownHosts":     {Change: field.Changes(authWords)},
	"AppID":          {Rule: strict.Rule{Least: new(1)}, Change: field.Changes(authWords)},
	"InstallationID": {Rule: strict.Rule{Least: new(1)}, Change: field.Changes(authWords)},
})

// checkAccess checks that the credentials fit the URL's scheme.
func checkAccess(v *check.File, u *url.URL, g GitOps) {
	auth := g.Auth
	at := strict.Path("gitops.auth")
	if !v.Doc.Sound(at, at.Field("type")) {
		return
	}
	switch {
	case u.Scheme == "ssh" && auth == nil:
		v.Problem(at, "add auth with type: ssh, privateKey and knownHosts", "is required with an ssh:// URL")
	case auth == nil:
	case u.Scheme == "ssh" && auth.Type != AuthSSH:
		v.Problem(at.Field("type"), "use ssh, or an https:// URL", "%s does not go with an ssh:// URL", auth.Type)
	case u.Scheme != "ssh" && auth.Type == AuthSSH:
		v.Problem(at.Field("type"), "use another type, or an ssh:// URL", "ssh does not go with an %s:// URL", u.Scheme)
	case auth.Type == AuthWorkloadIdentity:
		checkIdentity(v, u, g)
	case u.Scheme == "http" && !local(u.Hostname()):
		v.Problem("gitops.url", "use https://", "http:// would send the credentials in the clear")
	case auth.Type == AuthGitHubApp && elsewhere(u.Hostname()):
		v.Problem(at.Field("type"), "use basic or ssh", "github-app is for repositories at GitHub, and gitops.url has the host %s", u.Hostname())
	}
}

// checkIdentity wants what the identity's tokens are for. Flux that Git has already is changed by nobody
// but Git, and its pods need a label.
func checkIdentity(v *check.File, u *url.URL, g GitOps) {
	const at, another = strict.Path("gitops.auth.type"), "use basic"
	switch {
	case !v.OnAzure():
		v.Problem(at, another, "workload-identity is for clusters in Azure")
	case u.Scheme != "https" || HostKind(u.Hostname()) != AzureDevOpsWebhook:
		v.Problem(at, another+", or the address of a repository at https://dev.azure.com", "workload-identity is for repositories at Azure DevOps by https, and gitops.url is at %s://%s", u.Scheme, u.Hostname())
	case g.TakeOver:
		v.Problem(at, another+", or remove gitops.takeOver", "does not go with gitops.takeOver: who has installed Flux decides about its pods, which need a label for it")
	}
}

// ByIdentity says that the engine reads the repository by an identity that core makes.
func (g GitOps) ByIdentity() bool { return g.Auth != nil && g.Auth.Type == AuthWorkloadIdentity }

// elsewhere says that a host is of others than GitHub. A server of GitHub Enterprise has any name.
func elsewhere(host string) bool {
	return slices.Contains([]string{"gitlab.com", "bitbucket.org", "dev.azure.com"}, host) || strings.HasSuffix(host, ".visualstudio.com")
}

// authKeys are the keys of each kind of credentials that it needs, and those that it takes.
var authKeys = map[AuthType]struct{ needs, takes []string }{
	AuthBasic:            {needs: []string{"password"}, takes: []string{"username"}},
	AuthSSH:              {needs: []string{"privateKey", "knownHosts"}},
	AuthGitHubApp:        {needs: []string{"appId", "installationId", "privateKey"}},
	AuthWorkloadIdentity: {},
}

// checkAuth checks that each kind of credentials has its own keys, and no others.
func checkAuth(v *check.File, a Auth) {
	at := strict.Path("gitops.auth")
	if !v.Doc.Sound(at.Field("type")) {
		return
	}
	keys := authKeys[a.Type]
	for _, key := range keys.needs {
		if !v.Doc.Has(at.Field(key)) {
			v.Problem(at.Field(key), authRemedy(key), "is required with type %s", a.Type)
		}
	}
	for _, key := range []string{"username", "password", "privateKey", "knownHosts", "appId", "installationId"} {
		if v.Doc.Has(at.Field(key)) && !slices.Contains(keys.needs, key) && !slices.Contains(keys.takes, key) {
			v.Problem(at.Field(key), "remove it", "has no effect with type %s", a.Type)
		}
	}
	secret.Check(v, at.Field("password"), a.Password)
	secret.Check(v, at.Field("privateKey"), a.PrivateKey)
	if a.Type == AuthSSH && v.Doc.Has(at.Field("knownHosts")) {
		checkKnownHosts(v, at.Field("knownHosts"), a.KnownHosts)
	}
}

func authRemedy(key string) string {
	switch key {
	case "knownHosts":
		return "add the lines that ssh-keyscan prints for the host, once you have checked them"
	case "appId":
		return "add the App ID that the App's settings show"
	case "installationId":
		return "add the number at the end of the address of the App's installation"
	}
	return fmt.Sprintf("add %s with config, env or file, which says where the secret is", key)
}

// checkKnownHosts has lines of a host, a key type and a key.
func checkKnownHosts(v *check.File, at strict.Path, text string) {
	found := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		found = true
		if !knownHost(line) {
			v.Problem(at, authRemedy("knownHosts"), "%s is not a line of a known_hosts file", wording.Quote(line))
			return
		}
	}
	if !found {
		v.Problem(at, authRemedy("knownHosts"), "names no host")
	}
}

func knownHost(line string) bool {
	words := strings.Fields(line)
	if strings.HasPrefix(line, "@") {
		words = words[1:]
	}
	if len(words) < 3 {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(words[2])
	return err == nil && strings.Contains(words[1], "-")
}

// authSince are the first releases of engines that take some kinds of credentials. Flux: GitHub Apps
// since source-controller 1.5.0, Azure's workload identity since 1.4.0, by
// https://github.com/fluxcd/source-controller/blob/v1.9.3/CHANGELOG.md,
// https://fluxcd.io/blog/2025/02/flux-v2.5.0 and https://fluxcd.io/blog/2024/09/flux-v2.4.0.
// Argo CD: Apps since before 3.0, workload identity since
// https://github.com/argoproj/argo-cd/pull/21118, which v2.14.21 has not and v3.0.0 has.
var authSince = map[Engine]map[AuthType]string{
	Flux:   {AuthGitHubApp: "v2.5.0", AuthWorkloadIdentity: "v2.4.0"},
	ArgoCD: {AuthWorkloadIdentity: "v3.0.0"},
}

// checkSince refuses an engine that does not know the kind of credentials.
func checkSince(v *check.File, g GitOps) {
	const at = strict.Path("gitops.distribution.version")
	if g.Auth == nil || !v.Doc.Sound(at) || !semver.IsValid(g.Distribution.Version) {
		return
	}
	if first := authSince[g.Engine][g.Auth.Type]; first != "" && semver.Compare(g.Distribution.Version, first) < 0 {
		v.Problem(at, "use "+first+" or later, or another gitops.auth", "%s has no credentials of type %s", g.Distribution.Version, g.Auth.Type)
	}
}

// GitHubAPI is the address of the API of the GitHub that has the repository; "" for github.com,
// which engines know. A server's is below its own address, that of a company's subdomain of
// ghe.com at a host of its own: https://docs.github.com/en/enterprise-server@3.22/rest/using-the-rest-api/getting-started-with-the-rest-api
// and https://docs.github.com/en/enterprise-cloud@latest/graphql/guides/managing-enterprise-accounts.
// It is no key of the file: so no change of the file sends what the App signs to another host.
func (g GitOps) GitHubAPI() string {
	u, err := url.Parse(g.URL)
	if err != nil || strings.EqualFold(u.Host, "github.com") {
		return ""
	}
	if strings.HasSuffix(strings.ToLower(u.Hostname()), ".ghe.com") {
		return u.Scheme + "://api." + u.Host
	}
	return u.Scheme + "://" + u.Host + "/api/v3"
}
