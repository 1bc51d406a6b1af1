// Package webhook puts what the Git host and the engine both know on a cluster, and says where the
// engine hears of pushes.
package webhook

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/object"
	"tombolo/internal/names"
)

const webhookType = "tombolo:webhook:Webhook"

// Args of a Webhook.
type Args struct {
	// Flux says that the engine is Flux, and not Argo CD.
	Flux bool
	// Type of the Git host, as gitops.webhook.type has it.
	Type string
	// Token is what the host knows, too. It must be a Pulumi secret.
	Token pulumi.StringInput
}

// Webhook is the Secret of an engine's webhook.
type Webhook struct {
	pulumi.ResourceState

	// Path of the engine's webhook, a Pulumi secret where nothing else is asked of who calls it.
	Path pulumi.StringOutput
	// Resources are all that it is made of, to depend on (distribution.Engine says why).
	Resources []pulumi.Resource
}

// NewWebhook makes the Secret names.PlatformWebhook. The provider in opts is the cluster's. A
// token that names.CheckWebhookToken refuses is an error, which does not hold it.
func NewWebhook(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Webhook, error) {
	c := &Webhook{}
	if err := ctx.RegisterComponentResourceV2(webhookType, name, pulumi.Map{"type": pulumi.String(args.Type)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register webhook %s: %w", name, err)
	}
	token := args.Token.ToStringOutput().ApplyT(func(token string) (string, error) {
		if err := names.CheckWebhookToken(token); err != nil {
			return "", fmt.Errorf("gitops.webhook.secret: %w", err)
		}
		return token, nil
	}).(pulumi.StringOutput)
	secret := object.Secret(args.meta(), "", map[string]pulumi.StringInput{names.WebhookToken: token})
	made, err := object.New(ctx, name+"-webhook", secret, pulumi.Parent(c))
	if err != nil {
		return nil, fmt.Errorf("secret of webhook %s: %w", name, err)
	}
	c.Path, c.Resources = args.path(token), []pulumi.Resource{made}
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"path": c.Path})
}

// meta has the label of Secrets that Argo CD reads:
// https://argo-cd.readthedocs.io/en/stable/operator-manual/webhook/#alternative
func (a *Args) meta() object.Meta {
	if a.Flux {
		return object.Meta{Name: names.PlatformWebhook, Namespace: names.FluxNamespace}
	}
	return object.Meta{
		Name: names.PlatformWebhook, Namespace: names.ArgoCDNamespace,
		Labels: pulumi.StringMap{"app.kubernetes.io/part-of": pulumi.String("argocd")},
	}
}

// path is made from the token by Flux. It does not tell it, but with the type generic it is all that
// Flux asks for.
func (a *Args) path(token pulumi.StringOutput) pulumi.StringOutput {
	if !a.Flux {
		return pulumi.String(names.ArgoCDWebhook).ToStringOutput()
	}
	path := token.ApplyT(names.FluxWebhook).(pulumi.StringOutput)
	if kind, _ := ReceiverOf(a.Type); kind == generic {
		return path
	}
	return pulumi.Unsecret(path).(pulumi.StringOutput)
}

// generic is the type of Flux's Receivers that take any request.
const generic = "generic"

// ReceiverOf is the type of Flux's Receiver for a type of Git hosts, and the events that it takes, none for
// all. Flux has none for Azure DevOps, which signs nothing: it sends a password. Sources:
// https://fluxcd.io/flux/components/notification/receivers/#supported-receiver-types and
// https://learn.microsoft.com/azure/devops/service-hooks/services/webhooks.
func ReceiverOf(host string) (kind string, events []any) {
	switch host {
	case "github":
		return host, []any{"ping", "push"}
	case "gitlab":
		return host, []any{"Push Hook"}
	}
	return generic, nil
}
