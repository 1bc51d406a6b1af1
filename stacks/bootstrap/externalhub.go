package bootstrap

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/object"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks/handoff"
)

// hubTokenPath is where the cluster file refers to the token of an external hub.
const hubTokenPath = "gitops.externalHub.token"

// connectExternalHub reaches a hub that others run. The kubeconfig is a secret: it holds
// the token. The hub's identity is its name in the file, so that neither another token
// nor another address replaces the registration.
func (p *program) connectExternalHub() (connection, error) {
	h := p.c.GitOps.ExternalHub
	token, err := p.secrets().resolve(hubTokenPath, h.Token)
	if err != nil {
		return connection{}, err
	}
	text := token.ToStringOutput().ApplyT(func(token string) (string, error) {
		kubeconfig, err := handoff.TokenKubeconfig(h.Name, h.Endpoint, h.CertificateAuthority, token)
		return string(kubeconfig), err
	}).(pulumi.StringOutput)
	kubeconfig, err := object.Known(p.ctx, pulumi.ToSecret(text))
	if err != nil {
		return connection{}, err
	}
	return provide(p.ctx, "hub", kubeconfig.(pulumi.StringOutput), pulumi.String(names.ExternalHub+h.Name))
}

// HubKubeconfig is a kubeconfig for the cluster's external hub, with the token in plain
// text. kept reads a key of the bootstrap stack's encrypted config. No error holds the
// token.
func HubKubeconfig(c *config.Cluster, env map[string]string, kept func(key string) (string, error)) ([]byte, error) {
	h := c.GitOps.ExternalHub
	token, err := secrets{cluster: c, env: env}.plain(hubTokenPath, h.Token, kept)
	if err != nil {
		return nil, fmt.Errorf("reach hub %s: %w", h.Name, err)
	}
	return handoff.TokenKubeconfig(h.Name, h.Endpoint, h.CertificateAuthority, token)
}
