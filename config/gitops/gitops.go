// Package gitops has the engine, the repository that it follows, and its hub.
package gitops

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/secret"
	"tombolo/config/strict"
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
	// URL of the Git repository: https://, http:// or ssh://, and for Argo CD user@host:path,
	// too. Required, except on a spoke.
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
	// Webhook has the Git host tell the engine of pushes. Default: none; the engine finds them
	// at its next interval.
	Webhook *Webhook `yaml:"webhook,omitempty"`
	// ArgoCD holds options of Argo CD.
	ArgoCD ArgoCDOptions `yaml:"argocd,omitempty"`
}

var gitOpsFields = field.Of[GitOps](map[string]field.Descriptor{
	"Engine": {
		Rule: strict.Rule{What: "a supported GitOps engine", Allowed: form.Texts(Flux, ArgoCD)},
		Change: []field.Case{
			{
				Effect: field.NeedsRebuild, Words: "one engine does not take over the objects of another",
				Remedy: "take the engine back, or make bootstrap anew: `tombolo destroy <cluster> --only bootstrap` with the old file, then `tombolo up` with the new one; core stays",
			},
		},
	},
	"Hub": {Rule: form.Label("mgmt"), Change: field.Changes("the registration moves to the other hub; refused while the old hub has applications of the cluster")},
	"ExternalHub": {Change: []field.Case{
		{
			Effect: field.NeedsRebuild, When: "removed", Words: "the hub that others run has to forget the cluster first, with the credentials of the file", Remedy: externalHubRemedy,
			Applies: field.Change.TakesAway,
		},
		{Effect: field.InPlace, Words: "the registration moves to that hub; refused while the old hub has applications of the cluster"},
	}},
	"URL": {
		Rule:   strict.Rule{What: "a Git URL", Example: "https://git.example.com/platform.git", Pattern: regexp.MustCompile(`^((https?|ssh)://\S+|[^\s/:@]+@[^\s/:@]+:\S+)$`), Advice: form.URLAdvice, Secret: true},
		Change: field.Changes(gitWords),
	},
	"Branch":        {Rule: strict.Rule{Default: defaultBranch}, Change: field.Changes(gitWords)},
	"Path":          {Own: true, Rule: strict.Rule{Example: "clusters/dev"}, Change: field.Changes("the engine follows another directory, and deletes what is not in it")},
	"Interval":      {Rule: strict.Rule{Default: defaultInterval}, Change: field.Changes(gitWords)},
	"Auth":          {Change: field.Changes("the engine's Secret for the repository changes")},
	"Distribution":  {},
	"TakeOver":      {Rule: strict.Rule{Default: false}, Change: field.Changes("it counts when bootstrap meets the engine for the first time; without it, verify looks at the owner's objects of Flux, too")},
	"SealedSecrets": {Change: field.Changes("the Secret with the key is made, or goes: what was sealed for a key opens as long as the key is there")},
	"Channel":       {Change: field.Changes("the Secrets with the address are made, or go; Flux and Alertmanager write to it")},
	"Webhook":       {Change: field.ComesAndGoes("the engine's webhook is made, and its secret", "the engine's webhook goes, and its secret: Git is read at the interval")},
	"ArgoCD":        {},
})

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

var distributionFields = field.Of[Distribution](map[string]field.Descriptor{
	"Version": {
		Rule:   strict.Rule{What: "a version", Example: "v2.9.3", Pattern: form.Semver, Advice: form.VersionAdvice},
		Change: field.Changes("the engine is installed in the new release; once Git has its own files, Git decides"),
	},
	"URL": {
		Rule:   strict.Rule{What: "the URL of a manifest", Example: "https://example.com/flux/v2.9.3/install.yaml", Pattern: regexp.MustCompile(`^https?://\S+$`), Secret: true},
		Change: field.Changes("the engine is installed from there; once Git has its own files, Git decides"),
	},
	"SHA256": {
		Rule:   strict.Rule{What: "a SHA-256 sum in 64 lower-case hexadecimal digits", Pattern: regexp.MustCompile(`^[0-9a-f]{64}$`), Advice: form.SumAdvice},
		Change: field.Changes("it is checked before the install; nothing in the cluster changes by itself"),
	},
	"Path":   {Change: field.Changes("the engine is installed from there; once Git has its own files, Git decides")},
	"Values": {Change: field.Changes("the engine is installed with the values; once Git has its own files, Git decides")},
})

// IsChart says that the distribution is a packaged Helm chart, by its name.
func (d Distribution) IsChart() bool {
	return strings.HasSuffix(d.URL, chartSuffix) || strings.HasSuffix(d.Path, chartSuffix)
}

// chartSuffix ends the name of a packaged chart.
const chartSuffix = ".tgz"

// SealedSecrets refers to the key that opens SealedSecrets; it never holds it. Bootstrap puts
// it on the cluster before the controller starts, so that a cluster which is made again opens
// what was sealed for the one before.
type SealedSecrets struct {
	// Key: where the private key is: RSA of at least 2048 bits, PEM, without a passphrase.
	Key *secret.SecretRef `yaml:"key"`
	// Certificate: where the certificate of the key is, PEM. It is no secret: people seal
	// with it.
	Certificate *secret.SecretRef `yaml:"certificate"`
}

var sealedSecretsFields = field.Of[SealedSecrets](map[string]field.Descriptor{
	"Key":         {Change: field.Changes("the Secret with the key changes, and the controller takes the new one up: what was sealed for the old key has to be sealed anew")},
	"Certificate": {Change: field.Changes("the Secret with the key changes")},
})

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
	Address *secret.SecretRef `yaml:"address"`
	// Notices says of which runs of up, destroy, rebuild and upgrade tombolo itself tells the
	// channel when they end: none, failures, or runs, which are failures and those that
	// changed something. Default none.
	Notices Notices `yaml:"notices,omitempty"`
}

var channelFields = field.Of[Channel](map[string]field.Descriptor{
	"Type":    {Rule: strict.Rule{What: "a type of channels", Allowed: form.Texts(SlackChannel, TeamsChannel, GenericChannel)}, Change: field.Changes("Flux and Alertmanager write in the new form")},
	"Address": {Change: field.Changes("the Secrets with the address change, and the next message goes to the new one")},
	"Notices": {Rule: strict.Rule{What: "a choice of runs that a channel is told of", Allowed: form.Texts(NoNotices, FailureNotices, RunNotices), Default: NoNotices}, Change: field.Changes(field.Outside)},
})

// The defaults that are the same in each file.
const (
	defaultBranch   = "main"
	defaultInterval = "1m"
	defaultUsername = "git"
	defaultRotation = 1
)

// Host is the host of Argo CD's page; "" when nobody signs in there.
func (g GitOps) Host() string {
	o := g.ArgoCD.OIDC
	if g.Engine != ArgoCD || o == nil {
		return ""
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return "" // which validation refuses
	}
	return form.HostIn(u)
}

// HasExternalHub says whether an Argo CD that others run manages the cluster.
func (g GitOps) HasExternalHub() bool { return g.Engine == ArgoCD && g.ExternalHub != nil }

// SetDefaults fills in what the file of a cluster leaves out: a spoke has no repository of its own.
func (g *GitOps) SetDefaults(cluster string, p field.Provider) {
	if g.Engine == ArgoCD && g.ExternalHub != nil {
		g.ArgoCD.setCredentialsDefaults(p)
		return
	}
	if g.Engine == ArgoCD {
		g.Hub = cmp.Or(g.Hub, cluster)
	}
	if g.Engine == ArgoCD && g.Hub != cluster {
		g.ArgoCD.setSpokeDefaults(p)
		return
	}
	Fields.SetDefaults(p, g)
	if g.Auth != nil && g.Auth.Type == AuthBasic {
		g.Auth.Username = cmp.Or(g.Auth.Username, defaultUsername)
	}
	if d := &g.Distribution; d.Path == "" && d.Version != "" {
		d.URL = cmp.Or(d.URL, g.release())
	}
}

// IsReleased says that the engine is installed from the manifest that its makers release.
func (g *GitOps) IsReleased() bool {
	return g.Distribution.Path == "" && g.Distribution.Version != "" && g.Distribution.URL == g.release()
}

// release is the address of the manifest that the engine's makers release.
func (g *GitOps) release() string {
	switch {
	case g.Engine == Flux:
		return fmt.Sprintf("https://github.com/fluxcd/flux2/releases/download/%s/install.yaml", g.Distribution.Version)
	case g.Engine == ArgoCD && g.ArgoCD.HighAvailability:
		return fmt.Sprintf("https://raw.githubusercontent.com/argoproj/argo-cd/%s/manifests/ha/install.yaml", g.Distribution.Version)
	case g.Engine == ArgoCD:
		return fmt.Sprintf("https://raw.githubusercontent.com/argoproj/argo-cd/%s/manifests/install.yaml", g.Distribution.Version)
	}
	return ""
}

// Fields are the descriptors of the package.
var Fields = field.Join(gitOpsFields, argoCDOptionsFields, argoCDOIDCFields, externalHubFields, distributionFields, authFields, sealedSecretsFields, channelFields, webhookFields)
