// Package channel puts the address of the platform team's channel on a cluster, for what
// writes to it.
package channel

import (
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/distribution"
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
		made, err := corev1.NewSecret(ctx, name+"-channel-"+namespace, &corev1.SecretArgs{
			Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(names.ChannelSecret), Namespace: pulumi.String(namespace)},
			Data:     distribution.SecretData(map[string]pulumi.StringInput{names.ChannelAddress: address}),
		}, pulumi.Parent(c))
		if err != nil {
			return nil, fmt.Errorf("channel %s in namespace %s: %w", name, namespace, err)
		}
		c.Resources = append(c.Resources, made)
	}
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{})
}
