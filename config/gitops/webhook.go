package gitops

import (
	"net/url"
	"strings"

	"tombolo/config/check"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/secret"
	"tombolo/config/strict"
	"tombolo/internal/gitaddress"
)

// WebhookType is the kind of the Git host that tells the engine of pushes.
type WebhookType string

// The kinds of hosts.
const (
	// GitHubWebhook signs its events with the secret.
	GitHubWebhook WebhookType = "github"
	// GitLabWebhook sends the secret in a header.
	GitLabWebhook WebhookType = "gitlab"
	// AzureDevOpsWebhook sends the secret as a password. Flux looks at no password: who knows the
	// path of its webhook is heard.
	AzureDevOpsWebhook WebhookType = "azure-devops"
)

// Webhook has the Git host tell the engine of pushes, beside the engine's own interval. It refers to
// the secret that both know, and never holds it.
type Webhook struct {
	// Type of the host: github, gitlab or azure-devops.
	Type WebhookType `yaml:"type"`
	// Secret: where the secret is that the host is given too, at least 20 printable characters
	// of ASCII without spaces.
	Secret *secret.SecretRef `yaml:"secret"`
}

var webhookFields = field.Of[Webhook](map[string]field.Descriptor{
	"Type":   {Rule: strict.Rule{What: "a kind of Git hosts", Allowed: form.Texts(GitHubWebhook, GitLabWebhook, AzureDevOpsWebhook)}, Change: field.Changes("the engine takes events in the new form")},
	"Secret": {Change: field.Changes("the engine takes events with the new secret alone, and Flux's webhook has another path")},
})

// checkWebhook checks the secret, and that the events are those of the repository's host.
func checkWebhook(v *check.File, g GitOps) {
	const at = strict.Path("gitops.webhook")
	w := g.Webhook
	if w == nil || !v.Doc.Sound(at) {
		return
	}
	secret.Check(v, at.Field("secret"), w.Secret)
	u, err := url.Parse(gitaddress.URL(g.URL))
	if err != nil || !v.Doc.Sound("gitops.url", at.Field("type")) {
		return
	}
	host := HostKind(u.Hostname())
	if host != "" && host != w.Type {
		v.Warn(at.Field("type"), "use "+string(host), "is %s, and gitops.url is at %s", w.Type, u.Hostname())
	}
	// Argo CD compares gitops.url with the https URL in the event, whose path has _git:
	// GetWebURLRegex in https://github.com/argoproj/argo-cd/blob/v3.5.7/util/webhook/webhook.go
	if g.Engine == ArgoCD && w.Type == AzureDevOpsWebhook && u.Scheme == "ssh" {
		v.Warn(at, "use the https URL of the repository in gitops.url and in the tree", "has no effect with an SSH URL of Azure DevOps: Argo CD does not find it in the events")
	}
}

// HostKind is the kind of a host that is known by its name; "" for another.
func HostKind(host string) WebhookType {
	host = strings.ToLower(host)
	for suffix, kind := range map[string]WebhookType{
		"github.com": GitHubWebhook, "gitlab.com": GitLabWebhook, "dev.azure.com": AzureDevOpsWebhook, "visualstudio.com": AzureDevOpsWebhook,
	} {
		if host == suffix || strings.HasSuffix(host, "."+suffix) {
			return kind
		}
	}
	return ""
}
