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
	namespaces := channelNamespaces(p.c)
	if len(namespaces) == 0 {
		return nil, nil // only notices go there
	}
	made, err := channel.NewChannel(p.ctx, p.c.Name, &channel.Args{Namespaces: namespaces, Address: address}, p.own.provider, inside)
	if err != nil {
		return nil, err
	}
	return made.Resources, nil
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

// ChannelAddress reads the address of the platform's channel, for who writes to it besides the
// cluster; kept reads a key of the bootstrap stack's encrypted config. No error holds any of it.
func ChannelAddress(c *config.Cluster, env map[string]string, kept func(key string) (string, error)) (string, error) {
	if c.GitOps.Channel == nil {
		return "", fmt.Errorf("%s has no gitops.channel", c.Name)
	}
	address, err := secrets{cluster: c, env: env}.plain(channelAddressPath, c.GitOps.Channel.Address, kept)
	if err != nil {
		return "", err
	}
	if err := names.CheckChannel(address); err != nil {
		return "", fmt.Errorf("%s: %w", channelAddressPath, err)
	}
	return address, nil
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
