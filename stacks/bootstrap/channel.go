package bootstrap

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/channel"
	"tombolo/config"
	"tombolo/internal/names"
)

// channelAddressPath is where the cluster file refers to the address of the platform's channel.
const channelAddressPath = "gitops.channel.address"

// channel makes the Secrets with the address of the platform's channel, if the file has one.
func (p *program) channel(inside pulumi.ResourceOption) ([]pulumi.Resource, error) {
	c := p.c.GitOps.Channel
	if c == nil {
		return nil, nil
	}
	address, err := p.secrets().resolve(channelAddressPath, c.Address)
	if err != nil {
		return nil, err
	}
	made, err := channel.NewChannel(p.ctx, p.c.Name, &channel.Args{Namespaces: channelNamespaces(p.c), Address: address}, p.own.provider, inside)
	if err != nil {
		return nil, err
	}
	return []pulumi.Resource{made}, nil
}

// channelNamespaces are those of Flux's notification-controller and of Alertmanager.
func channelNamespaces(c *config.Cluster) []string {
	var out []string
	if c.GitOps.Engine == config.Flux {
		out = append(out, names.FluxNamespace)
	}
	for _, a := range c.Addons.Enabled() {
		if a.Name == config.PrometheusAddon {
			out = append(out, a.Namespace)
		}
	}
	return out
}

// checkChannel reads an address that is kept outside of Pulumi.
func (s secrets) checkChannel() error {
	c := s.cluster.GitOps.Channel
	if c == nil || c.Address.Config != "" {
		return nil
	}
	address, err := s.read(channelAddressPath, c.Address)
	if err != nil {
		return err
	}
	if err := names.CheckChannel(address); err != nil {
		return fmt.Errorf("%s: %w", channelAddressPath, err)
	}
	return nil
}
