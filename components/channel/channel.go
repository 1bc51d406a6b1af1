// Package channel puts the address of the platform team's channel on a cluster, for what
// writes to it.
package channel

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/object"
	"tombolo/internal/names"
)

const channelType = "tombolo:channel:Channel"

// Args of a Channel.
type Args struct {
	// Namespaces of what writes to the channel.
	Namespaces []string
	// Address of the channel's webhook. It must be a Pulumi secret.
	Address pulumi.StringInput
}

// Channel is the Secrets with the address.
type Channel struct {
	pulumi.ResourceState

	// Resources are all that it is made of, to depend on (distribution.Engine says why).
	Resources []pulumi.Resource
}

// NewChannel makes a Secret names.ChannelSecret in each namespace. The provider in opts is the
// cluster's. An address that names.CheckChannel refuses is an error, which does not hold it.
func NewChannel(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Channel, error) {
	c := &Channel{}
	if err := ctx.RegisterComponentResourceV2(channelType, name, pulumi.Map{}, c, opts...); err != nil {
		return nil, fmt.Errorf("register channel %s: %w", name, err)
	}
	address := args.Address.ToStringOutput().ApplyT(func(address string) (string, error) {
		if err := names.CheckChannel(address); err != nil {
			return "", fmt.Errorf("gitops.channel.address: %w", err)
		}
		return address, nil
	}).(pulumi.StringOutput)
	for _, namespace := range args.Namespaces {
		secret := object.Secret(object.Meta{Name: names.ChannelSecret, Namespace: namespace}, "",
			map[string]pulumi.StringInput{names.ChannelAddress: address})
		made, err := object.New(ctx, name+"-channel-"+namespace, secret, pulumi.Parent(c))
		if err != nil {
			return nil, fmt.Errorf("channel %s in namespace %s: %w", name, namespace, err)
		}
		c.Resources = append(c.Resources, made)
	}
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{})
}
