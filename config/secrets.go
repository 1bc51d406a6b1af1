package config

import (
	"strings"

	"tombolo/config/secret"
)

// SecretUse says where a secret comes from and where it goes, and not what it is.
type SecretUse struct {
	// Setting that refers to it, such as gitops.auth.password.
	Setting string
	// Source is what has it, for people.
	Source string
	// For is what gets it, by its URL where it has one.
	For string
}

// SecretUses are the secrets that the cluster file refers to.
func (c *Cluster) SecretUses() []SecretUse {
	var out []SecretUse
	add := func(setting, target string, ref *secret.SecretRef) {
		if ref == nil {
			return
		}
		source := "file " + ref.File
		switch {
		case ref.Config != "":
			source = "stack config " + ref.Config
		case ref.Env != "":
			source = "environment variable " + ref.Env
		}
		out = append(out, SecretUse{Setting: setting, Source: source, For: target})
	}
	if h := c.GitOps.ExternalHub; h != nil {
		add("gitops.externalHub.token", h.Endpoint, h.Token)
	}
	if s := c.Egress.Images.PullSecret; s != nil {
		add("egress.images.pullSecret.password", strings.Join(c.Egress.Images.MirrorHosts(), ", "), s.Password)
	}
	if a := c.GitOps.Auth; a != nil {
		add("gitops.auth.password", c.GitOps.URL, a.Password)
		add("gitops.auth.privateKey", c.GitOps.URL, a.PrivateKey)
	}
	if s := c.GitOps.SealedSecrets; s != nil {
		add("gitops.sealedSecrets.key", "the controller of Sealed Secrets", s.Key)
	}
	if channel := c.GitOps.Channel; channel != nil {
		add("gitops.channel.address", "what writes to the platform's channel", channel.Address)
	}
	if w := c.GitOps.Webhook; w != nil {
		add("gitops.webhook.secret", "the engine's webhook", w.Secret)
	}
	return out
}
