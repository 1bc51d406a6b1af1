package config

import "strings"

// Engine is a GitOps engine.
type Engine string

// The engines of version 1.
const (
	Flux   Engine = "flux"
	ArgoCD Engine = "argocd"
)

// GitOps is the engine and the repository that it follows. A spoke, a cluster
// that another cluster's Argo CD manages, names its hub instead of a repository.
type GitOps struct {
	// Engine is flux or argocd.
	Engine Engine `yaml:"engine"`
	// Hub (argocd) is the cluster whose Argo CD manages this one; its file is
	// <hub>.yaml beside this one. Default: the cluster itself.
	Hub string `yaml:"hub,omitempty"`
	// ExternalHub (argocd) is an Argo CD that others run and that manages this
	// cluster. It does not go with Hub. Default: none.
	ExternalHub *ExternalHub `yaml:"externalHub,omitempty"`
	// URL of the Git repository: https://, http:// or ssh://. Required, except on
	// a spoke.
	URL string `yaml:"url,omitempty"`
	// Branch to follow. Default main.
	Branch string `yaml:"branch,omitempty"`
	// Path in the repository, relative to its root, such as clusters/dev.
	// Required, except on a spoke.
	Path string `yaml:"path,omitempty"`
	// Interval at which the engine fetches the repository, a Go duration of at
	// least 1s such as 1m or 5m. Argo CD reads it only when it starts. Default 1m.
	Interval string `yaml:"interval,omitempty"`
	// Auth names the credentials for the repository. Default: none.
	Auth *Auth `yaml:"auth,omitempty"`
	// Distribution is the engine's install manifest. Required, except on a spoke.
	Distribution Distribution `yaml:"distribution,omitempty"`
	// TakeOver (flux, with kubernetes.existing) has bootstrap take over a Flux that the
	// cluster has already, in the namespace flux-system. A Flux that Git applies stays with
	// Git; any other becomes the distribution, unless it is newer. A destruction leaves it
	// where it is. Default false: a Flux that is there already is refused. A cluster
	// without one gets one, as ever.
	TakeOver bool `yaml:"takeOver,omitempty"`
	// SealedSecrets is the key of the controller of Sealed Secrets. It goes with the addon
	// sealed-secrets. Default: none.
	SealedSecrets *SealedSecrets `yaml:"sealedSecrets,omitempty"`
	// Channel is where the platform team hears of what fails: of Flux, by the tree's folder
	// channel, and of alerts, by the addon kube-prometheus-stack. Default: none.
	Channel *Channel `yaml:"channel,omitempty"`
	// ArgoCD holds options of Argo CD.
	ArgoCD ArgoCDOptions `yaml:"argocd,omitempty"`
}

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

// Distribution is an install manifest, or for Argo CD a packaged Helm chart: a
// URL with a checksum, or a local file.
type Distribution struct {
	// Version of the engine, such as v2.9.3.
	Version string `yaml:"version"`
	// URL of the manifest, or of a chart, which ends in .tgz. Default: the
	// manifest of the engine's release of Version.
	URL string `yaml:"url,omitempty"`
	// SHA256 of the manifest or chart, 64 hexadecimal digits; required unless
	// Path is set.
	SHA256 string `yaml:"sha256,omitempty"`
	// Path of a local manifest or chart, relative to the cluster file: in the
	// project, or in a directory that the environment variable
	// TOMBOLO_SECRET_DIRS names. It does not go with URL.
	Path string `yaml:"path,omitempty"`
	// Values of the chart, as for helm template. A manifest has none.
	Values map[string]any `yaml:"values,omitempty"`
}

// IsChart says that the distribution is a packaged Helm chart, by its name.
func (d Distribution) IsChart() bool {
	return strings.HasSuffix(d.URL, chartSuffix) || strings.HasSuffix(d.Path, chartSuffix)
}

// chartSuffix ends the name of a packaged chart.
const chartSuffix = ".tgz"

// AuthType is how the engine reads the Git repository.
type AuthType string

// The kinds of Git credentials.
const (
	// AuthBasic is a user name and a password or token over HTTPS.
	AuthBasic AuthType = "basic"
	// AuthSSH is a private key and the host's known keys.
	AuthSSH AuthType = "ssh"
)

// Auth refers to the secrets for the Git repository; it never holds them.
type Auth struct {
	// Type is basic or ssh.
	Type AuthType `yaml:"type"`
	// Username for basic. Default git.
	Username string `yaml:"username,omitempty"`
	// Password (basic): where the password or token is.
	Password *SecretRef `yaml:"password,omitempty"`
	// PrivateKey (ssh): where the PEM private key is.
	PrivateKey *SecretRef `yaml:"privateKey,omitempty"`
	// KnownHosts (ssh): the host's public keys, as in a known_hosts file.
	KnownHosts string `yaml:"knownHosts,omitempty"`
}

// SealedSecrets refers to the key that opens SealedSecrets; it never holds it. Bootstrap puts
// it on the cluster before the controller starts, so that a cluster which is made again opens
// what was sealed for the one before.
type SealedSecrets struct {
	// Key: where the private key is: RSA of at least 2048 bits, PEM, without a passphrase.
	Key *SecretRef `yaml:"key"`
	// Certificate: where the certificate of the key is, PEM. It is no secret: people seal
	// with it.
	Certificate *SecretRef `yaml:"certificate"`
}

// ChannelType is the form of the messages that a channel takes.
type ChannelType string

// The types of channels, as systems have them.
const (
	// SlackChannel takes messages of Slack's incoming webhooks.
	SlackChannel ChannelType = "slack"
	// TeamsChannel takes Adaptive Cards, by a Workflow of Microsoft Teams.
	TeamsChannel ChannelType = "msteams"
	// GenericChannel takes JSON, in the sender's own form: Flux's or Alertmanager's.
	GenericChannel ChannelType = "generic"
)

// Notices says which runs of commands a channel is told of.
type Notices string

// The runs that a channel is told of.
const (
	// NoNotices: none.
	NoNotices Notices = "none"
	// FailureNotices: those that did not succeed.
	FailureNotices Notices = "failures"
	// RunNotices: those too that changed something.
	RunNotices Notices = "runs"
)

// Channel refers to the address of the platform team's channel; it never holds it.
type Channel struct {
	// Type is slack, msteams or generic.
	Type ChannelType `yaml:"type"`
	// Address: where the webhook's address is. Who knows it can write to the channel.
	Address *SecretRef `yaml:"address"`
	// Notices says of which runs of up, destroy, rebuild and upgrade tombolo itself tells the
	// channel when they end: none, failures, or runs, which are failures and those that
	// changed something. Default none.
	Notices Notices `yaml:"notices,omitempty"`
}

// SecretRef says where a secret is; exactly one field is set.
type SecretRef struct {
	// Config is a key of the bootstrap stack's encrypted Pulumi config.
	Config string `yaml:"config,omitempty"`
	// Env is an environment variable whose name begins with TOMBOLO_.
	Env string `yaml:"env,omitempty"`
	// File is a file's path, relative to the cluster file: in the project, or in a
	// directory that the environment variable TOMBOLO_SECRET_DIRS names.
	File string `yaml:"file,omitempty"`
}
