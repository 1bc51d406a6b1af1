// Package azuregroup makes the resource group in which everything of a cluster is that core
// makes on Azure.
package azuregroup

import (
	"errors"
	"fmt"

	"github.com/pulumi/pulumi-azure-native-sdk/resources/v2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/ready"
)

const groupType = "tombolo:azuregroup:Group"

// GroupArgs are the arguments of a Group.
type GroupArgs struct {
	// Name of the resource group in Azure, and Location, a region. Azure changes neither.
	Name, Location string
	Tags           map[string]string
	// Protect has Pulumi refuse to delete the group, and with it all that is in it.
	Protect bool
}

// Group is a resource group.
type Group struct {
	pulumi.ResourceState

	// Name of the group, once it is there. It is known in every preview.
	Name pulumi.StringOutput
}

// Resource is the name of the resource that is the group, in the component of a name.
func Resource(component string) string { return component + "-group" }

// NewGroup makes a resource group. Azure takes a group that is there for the same; the
// provider refuses it.
func NewGroup(ctx *pulumi.Context, name string, args *GroupArgs, opts ...pulumi.ResourceOption) (*Group, error) {
	if args.Name == "" || args.Location == "" {
		return nil, fmt.Errorf("resource group %s: %w", name, errors.New("name and location are required"))
	}
	c := &Group{}
	if err := ctx.RegisterComponentResourceV2(groupType, name, pulumi.Map{"name": pulumi.String(args.Name)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register resource group %s: %w", name, err)
	}
	made, err := resources.NewResourceGroup(ctx, Resource(name), &resources.ResourceGroupArgs{
		ResourceGroupName: pulumi.String(args.Name), Location: pulumi.String(args.Location), Tags: pulumi.ToStringMap(args.Tags),
	}, pulumi.Parent(c), pulumi.Protect(args.Protect))
	if err != nil {
		return nil, fmt.Errorf("resource group %s: %w", name, err)
	}
	c.Name = ready.After(pulumi.String(args.Name).ToStringOutput(), made)
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"name": c.Name})
}
