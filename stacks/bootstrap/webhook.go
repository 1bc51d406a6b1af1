package bootstrap

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/webhook"
	"tombolo/config"
)

const (
	// webhookSecretPath is where the cluster file refers to the secret of the engine's webhook.
	webhookSecretPath = "gitops.webhook.secret"
	// webhookOutput is the output with the path of the engine's webhook.
	webhookOutput = "webhookPath"
)

// webhookType is the kind of the Git host that tells the engine of pushes, "" for none.
func webhookType(c *config.Cluster) string {
	if c.GitOps.Webhook == nil {
		return ""
	}
	return string(c.GitOps.Webhook.Type)
}

// webhook makes the Secret of the engine's webhook, if the file has one, before the engine reads it.
func (p *program) webhook(inside pulumi.ResourceOption) ([]pulumi.Resource, error) {
	w := p.c.GitOps.Webhook
	if w == nil {
		return nil, nil
	}
	token, err := p.secrets().resolve(webhookSecretPath, w.Secret)
	if err != nil {
		return nil, err
	}
	args := &webhook.Args{Flux: p.c.GitOps.Engine == config.Flux, Type: webhookType(p.c), Token: token}
	made, err := webhook.NewWebhook(p.ctx, p.c.Name, args, p.own.provider, inside)
	if err != nil {
		return nil, err
	}
	p.ctx.Export(webhookOutput, made.Path)
	return made.Resources, nil
}
