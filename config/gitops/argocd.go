package gitops

import (
	"cmp"
	"regexp"

	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/secret"
	"tombolo/config/strict"
)

func (o *ArgoCDOptions) setSpokeDefaults(p field.Provider) {
	o.Applications = cmp.Or(o.Applications, LeavingRemove)
	o.setCredentialsDefaults(p)
}

func (o *ArgoCDOptions) setCredentialsDefaults(p field.Provider) {
	credentials := CredentialsAWS
	if p == field.Azure {
		credentials = CredentialsServiceAccount
	}
	o.Credentials = cmp.Or(o.Credentials, credentials)
	if o.Credentials == CredentialsServiceAccount {
		o.Rotation = cmp.Or(o.Rotation, defaultRotation)
	}
}

// SecretTypeLabel is the label by which Argo CD finds its Secrets.
const SecretTypeLabel = "argocd.argoproj.io/secret-type"

// ArgoCDRoleName is the name of the IAM role of a hub's Argo CD.
func ArgoCDRoleName(hub string) string { return hub + "-argocd" }

// SpokeRoleEnd ends the names of spokes' roles. A hub may assume no others.
const SpokeRoleEnd = "-argocd-spoke"

// SpokeRoleName is the name of the IAM role by which the hub reaches a spoke.
func SpokeRoleName(spoke string) string { return spoke + SpokeRoleEnd }

// ArgoCDOptions are options of Argo CD, each for a hub or for a spoke.
type ArgoCDOptions struct {
	// HighAvailability (hub) installs the release's manifest for several
	// replicas. It chooses the default URL of the distribution, and does not go
	// with another URL or a path. Default false.
	HighAvailability bool `yaml:"highAvailability,omitempty"`
	// Accounts (hub) are the AWS accounts of spokes, other than the hub's own.
	// The hub's Argo CD may assume the spokes' roles in them. Default: none.
	Accounts []string `yaml:"accounts,omitempty" cloud:"aws"`
	// OIDC (hub) signs people in to Argo CD's page and API by a provider. Default: none;
	// then only Argo CD's own account admin does.
	OIDC *ArgoCDOIDC `yaml:"oidc,omitempty"`
	// Credentials (spoke) by which the hub reaches this cluster: aws or
	// service-account. Default aws; on Azure service-account.
	Credentials Credentials `yaml:"credentials,omitempty"`
	// Rotation (spoke, with service-account) is the number of the token. A new
	// number makes a new token, and then deletes the old one. Default 1.
	Rotation int `yaml:"rotation,omitempty"`
	// Applications (spoke) says what happens to the objects of the cluster's
	// applications when the cluster is destroyed: remove or keep. Default remove.
	Applications Leaving `yaml:"applications,omitempty"`
}

var argoCDOptionsFields = field.Of[ArgoCDOptions](map[string]field.Descriptor{
	"HighAvailability": {Rule: strict.Rule{Default: false}, Change: field.Changes("the engine is installed by another manifest; once Git has its own files, Git decides")},
	"Accounts": {
		Rule:   strict.Rule{What: "an AWS account", Noun: "account", Example: `"111122223333"`, Pattern: regexp.MustCompile(`^[0-9]{12}$`), Advice: form.AccountAdvice},
		Change: field.Changes("the policy of the hub's role changes"), Remedy: "remove it: a hub in Azure has no IAM role; spokes in AWS use credentials: service-account",
	},
	"OIDC": {Change: field.ComesAndGoes("Argo CD's settings change, and its server reads them", "Argo CD takes no more tokens of the provider; its account admin stays")},
	"Credentials": {
		Rule: strict.Rule{What: "a kind of credentials", Allowed: form.Texts(CredentialsAWS, CredentialsServiceAccount)},
		AzureRule: &strict.Rule{
			What: "a kind of credentials on Azure", Allowed: form.Texts(CredentialsServiceAccount),
			Advice: func(string) string {
				return "use service-account, or remove it: aws is an IAM role, and this cluster has none"
			},
		},
		Change: field.Changes("the registration gets other credentials"),
	},
	"Rotation":     {Rule: strict.Rule{Least: new(1), Most: new(999999)}, Change: field.Changes("the token is made anew, and the old one deleted")},
	"Applications": {Rule: strict.Rule{What: "an option for applications", Allowed: form.Texts(LeavingRemove, LeavingKeep)}, Change: field.Changes("it counts when the cluster is destroyed")},
})

// ArgoCDOIDC is how people sign in to Argo CD, and what their groups may do. Who is in none of
// the groups may sign in, and sees nothing but what a project gives his groups.
type ArgoCDOIDC struct {
	// URL under which people reach Argo CD, such as https://argocd.example.com. The
	// provider sends them back to /auth/callback there.
	URL string `yaml:"url"`
	// IssuerURL of the provider, as its tokens have it in iss, a slash at the end included.
	// Argo CD has to reach it.
	IssuerURL string `yaml:"issuerUrl"`
	// ClientID of Argo CD at the provider.
	ClientID string `yaml:"clientId"`
	// Secret is the name of the Secret in the namespace argocd with the key clientSecret and
	// the label app.kubernetes.io/part-of: argocd, which the platform tree brings.
	Secret string `yaml:"secret"`
	// Scopes that Argo CD asks for. Default: openid, profile, email and groups.
	Scopes []string `yaml:"scopes,omitempty"`
	// AdminGroups are groups of the provider whose members may do everything in Argo CD.
	// Default: none.
	AdminGroups []string `yaml:"adminGroups,omitempty"`
	// ReaderGroups are groups of the provider whose members see everything in Argo CD, and
	// change nothing. Default: none.
	ReaderGroups []string `yaml:"readerGroups,omitempty"`
}

var argoCDOIDCFields = field.Of[ArgoCDOIDC](map[string]field.Descriptor{
	"URL": {Rule: strict.Rule{What: "the https URL of a page", Example: "https://argocd.example.com", Pattern: regexp.MustCompile(`^https://\S+$`), Secret: true}, Change: field.Changes(argocdWords)},
	"IssuerURL": {
		Rule:   strict.Rule{What: "the https URL of an issuer", Example: "https://auth.example.com/application/o/argocd/", Pattern: regexp.MustCompile(`^https://\S+$`), Secret: true},
		Change: field.Changes(argocdWords),
	},
	"ClientID":     {Rule: strict.Rule{What: "the id of a client", Example: "argocd", Pattern: notAReference}, Change: field.Changes(argocdWords)},
	"Secret":       {Rule: strict.Rule{What: "the name of a Secret", Example: "argocd-oidc", Pattern: form.Subdomain, MaxLength: 253}, Change: field.Changes(argocdWords)},
	"Scopes":       {Rule: strict.Rule{What: "a scope", Noun: "scope", Example: "groups", Pattern: regexp.MustCompile(`^[!#%-\[\]-~][!#-\[\]-~]*$`)}, Change: field.Changes(argocdWords)},
	"AdminGroups":  {Rule: argocdGroups("platform"), Change: field.Changes("Argo CD's policy changes: who is in a group that is gone has lost the rights")},
	"ReaderGroups": {Rule: argocdGroups("auditors"), Change: field.Changes("Argo CD's policy changes: who is in a group that is gone has lost the rights")},
})

// Credentials are how a hub reaches a spoke's Kubernetes API.
type Credentials string

// The kinds of credentials.
const (
	// CredentialsAWS is an IAM role of the spoke's that the hub's Argo CD
	// assumes; nothing secret is kept anywhere.
	CredentialsAWS Credentials = "aws"
	// CredentialsServiceAccount is the token of a service account on the spoke,
	// for hubs without a cloud identity.
	CredentialsServiceAccount Credentials = "service-account"
)

// Leaving is what happens to the objects of a cluster's Applications when the
// cluster is destroyed.
type Leaving string

// The choices.
const (
	// LeavingRemove deletes them before the cluster.
	LeavingRemove Leaving = "remove"
	// LeavingKeep leaves them on the cluster.
	LeavingKeep Leaving = "keep"
)

// argocdGroups are groups of a provider in a policy of Argo CD, which is CSV:
// https://argo-cd.readthedocs.io/en/stable/operator-manual/rbac/
func argocdGroups(example string) strict.Rule {
	return strict.Rule{
		What: "the name of a group of the provider", Noun: "group", Example: example,
		Pattern: regexp.MustCompile(`^[^\s,"#]([^,"\n]*[^\s,"])?$`), Advice: func(string) string {
			return "write it as the provider does, such as " + example + ", without commas and quotes"
		},
	}
}

// notAReference is a text of Argo CD's settings. One that begins with $ would be read from a
// Secret: https://argo-cd.readthedocs.io/en/stable/operator-manual/user-management/
var notAReference = regexp.MustCompile(`^[^\s$]\S*$`)

// What a change does that several keys share.
const (
	gitWords    = "the engine's source in the cluster changes"
	argocdWords = "Argo CD's settings change, and its server reads them"
)

// Engine is a GitOps engine.
type Engine string

// The engines of version 1.
const (
	Flux   Engine = "flux"
	ArgoCD Engine = "argocd"
)

// Title is the engine's name for people.
func (e Engine) Title() string {
	if e == ArgoCD {
		return "Argo CD"
	}
	return "Flux"
}

// ExternalHub is an Argo CD that others run, on any Kubernetes, in the namespace argocd
// of its cluster. Bootstrap registers the cluster there, and reads and writes nothing
// else.
//
// It is an endpoint, a certificate and a token, and no kubeconfig: a kubeconfig can
// start any program of the machine (client-go's exec credentials), and has keys that a
// file under review does not show. The owners of the hub give out a service account
// with the rights on one Secret. A new token replaces nothing: the hub is known by its
// name.
type ExternalHub struct {
	// Name of the hub, by which state, outputs and messages know it. Another hub
	// needs another name. No cluster file beside this one has it.
	Name string `yaml:"name"`
	// Endpoint of the hub's Kubernetes API, such as https://hub.example.com:6443.
	// A hub that moves to another address keeps its name.
	Endpoint string `yaml:"endpoint"`
	// CertificateAuthority of the endpoint, base64 of PEM, as in a kubeconfig's
	// certificate-authority-data.
	CertificateAuthority string `yaml:"certificateAuthority"`
	// Token is where the token of a service account on the hub is.
	Token *secret.SecretRef `yaml:"token"`
	// RoleARN is the IAM role that the hub's Argo CD runs with, which may assume this
	// cluster's role. Required with the credentials aws, and only there.
	RoleARN string `yaml:"roleArn,omitempty" cloud:"aws"`
}

var externalHubFields = field.Of[ExternalHub](map[string]field.Descriptor{
	"Name": {
		Rule: form.Label("company-hub"),
		Change: []field.Case{
			{Effect: field.NeedsRebuild, Words: "the name is the hub's identity: the old hub has to forget the cluster first, with its own credentials", Remedy: externalHubRemedy},
		},
	},
	"Endpoint": {
		Rule:   strict.Rule{What: "the address of a Kubernetes API", Example: "https://hub.example.com:6443", Pattern: regexp.MustCompile(`^https://\S+$`), Secret: true},
		Change: field.Changes("the same hub is reached at the new address; another hub needs another name"),
	},
	"CertificateAuthority": {Rule: strict.Rule{Secret: true}, Change: field.Changes("the hub's certificate is checked with it; the registration stays")},
	"Token":                {Change: field.Changes("the hub is reached with it; the registration stays")},
	"RoleARN": {
		Rule: strict.Rule{
			What: "the ARN of an IAM role", Example: "arn:aws:iam::111122223333:role/company-hub-argocd",
			Pattern: regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+$`),
		},
		Change: field.Changes("the cluster's role trusts the new role of the hub's Argo CD instead of the old one"),
		Remedy: "remove it: the hub reaches the cluster by the token of a service account",
	},
})

// externalHubRemedy is the way from a hub that others run to another one.
const externalHubRemedy = "take the old hub back, and move in two steps: `tombolo destroy <cluster> --only bootstrap` with the old file, then `tombolo up` with the new one; core stays"

// HubPath is the key that names the hub.
const HubPath = strict.Path("gitops.hub")
