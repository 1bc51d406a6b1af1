// Package azurestorage makes storage accounts of Azure with a blob container, and reads containers
// that others made.
package azurestorage

import (
	"errors"
	"fmt"

	storage "github.com/pulumi/pulumi-azure-native-sdk/storage/v2/v20230501"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/ready"
	"tombolo/internal/armid"
)

const containerType = "tombolo:azurestorage:Container"

// ContainerArgs are the arguments of a Container.
type ContainerArgs struct {
	// Account is the name of the storage account in the world, 3 to 24 lower-case letters and
	// digits, and Name that of the container in it.
	Account, Name string
	// Subscription and Location of the account.
	Subscription, Location string
	// GroupName is the name of the resource group, and ResourceGroup the same once it is
	// there.
	GroupName     string
	ResourceGroup pulumi.StringInput
	// SubnetID is the subnet that reaches the account, by a service endpoint; nil for none.
	SubnetID pulumi.StringInput
	// ExpireDays is the age at which blobs are deleted, in days; 0 keeps them.
	ExpireDays int
	// Tags of the account; a container has none.
	Tags map[string]string
	// Protect has Pulumi refuse to delete the account and the container.
	Protect bool
}

// Container is a blob container, in a storage account that has nothing else, for who has a role
// on it. Whoever deletes the account deletes what is in it.
type Container struct {
	pulumi.ResourceState

	// ID in Azure's Resource Manager, known in every preview, and Ready the same once it is
	// there.
	ID    string
	Ready pulumi.StringOutput
	// Account and Name, once the container is there. They are known in every preview.
	Account, Name pulumi.StringOutput
}

// NewContainer makes a storage account and a container in it. What was not deleted by its user is
// deleted by age; parts of uploads that were never completed Azure deletes by itself, after a week:
// https://learn.microsoft.com/rest/api/storageservices/put-block#remarks
func NewContainer(ctx *pulumi.Context, name string, args *ContainerArgs, opts ...pulumi.ResourceOption) (*Container, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("container %s: %w", name, err)
	}
	c := &Container{ID: armid.Container(args.Subscription, args.GroupName, args.Account, args.Name)}
	inputs := pulumi.Map{"account": pulumi.String(args.Account), "name": pulumi.String(args.Name)}
	if err := ctx.RegisterComponentResourceV2(containerType, name, inputs, c, opts...); err != nil {
		return nil, fmt.Errorf("register container %s: %w", name, err)
	}
	b := &builder{ctx: ctx, name: name, args: args, parent: pulumi.Parent(c)}
	for _, step := range []func() error{b.makeAccount, b.makeContainer, b.makeLifecycle} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("container %s: %w", name, err)
		}
	}
	known := func(text string) pulumi.StringOutput {
		return ready.After(pulumi.String(text).ToStringOutput(), b.container)
	}
	c.Ready, c.Account, c.Name = known(c.ID), known(args.Account), known(args.Name)
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"resourceId": pulumi.String(c.ID), "account": c.Account, "name": c.Name})
}

func (a *ContainerArgs) validate() error {
	switch {
	case a.Account == "" || a.Name == "" || a.Subscription == "" || a.Location == "" || a.GroupName == "" || a.ResourceGroup == nil:
		return errors.New("account, name, subscription, location and resource group are required")
	case a.ExpireDays < 0:
		return fmt.Errorf("blobs cannot expire after %d days; 0 keeps them", a.ExpireDays)
	}
	return nil
}

// builder holds what the steps of making a container hand to each other.
type builder struct {
	ctx    *pulumi.Context
	name   string
	args   *ContainerArgs
	parent pulumi.ResourceOption

	account   *storage.StorageAccount
	container *storage.BlobContainer
}

// makeAccount says all of what Azure decides otherwise: roles open the account, and no key of its
// own; nothing in it is for the public; and requests come by TLS.
func (b *builder) makeAccount() (err error) {
	a := b.args
	b.account, err = storage.NewStorageAccount(b.ctx, b.name+"-account", &storage.StorageAccountArgs{
		AccountName: pulumi.String(a.Account), ResourceGroupName: a.ResourceGroup, Location: pulumi.String(a.Location),
		Kind: storage.KindStorageV2, Sku: storage.SkuArgs{Name: storage.SkuName_Standard_LRS}, AccessTier: storage.AccessTierHot,
		AllowSharedKeyAccess: pulumi.Bool(false), DefaultToOAuthAuthentication: pulumi.Bool(true), IsLocalUserEnabled: pulumi.Bool(false),
		AllowBlobPublicAccess: pulumi.Bool(false), AllowCrossTenantReplication: pulumi.Bool(false),
		EnableHttpsTrafficOnly: pulumi.Bool(true), MinimumTlsVersion: storage.MinimumTlsVersion_TLS1_2,
		PublicNetworkAccess: storage.PublicNetworkAccessEnabled, NetworkRuleSet: a.network(), Tags: pulumi.ToStringMap(a.Tags),
	}, b.parent, pulumi.Protect(a.Protect))
	return err
}

// network lets nobody in but the subnet, and Azure's own services: the deletion by age is one of
// them. Source: https://learn.microsoft.com/azure/storage/blobs/lifecycle-management-policy-configure
func (a *ContainerArgs) network() storage.NetworkRuleSetArgs {
	rules := storage.NetworkRuleSetArgs{DefaultAction: storage.DefaultActionDeny, Bypass: pulumi.String("AzureServices")}
	if a.SubnetID != nil {
		rules.VirtualNetworkRules = storage.VirtualNetworkRuleArray{storage.VirtualNetworkRuleArgs{
			VirtualNetworkResourceId: a.SubnetID.ToStringOutput(), Action: storage.ActionAllow,
		}}
	}
	return rules
}

// makeContainer makes it by the Resource Manager, which the network rules are not for.
func (b *builder) makeContainer() (err error) {
	b.container, err = storage.NewBlobContainer(b.ctx, b.name+"-container", &storage.BlobContainerArgs{
		AccountName: b.accountName(), ContainerName: pulumi.String(b.args.Name), ResourceGroupName: b.args.ResourceGroup,
		PublicAccess: storage.PublicAccessNone,
	}, b.parent, pulumi.Protect(b.args.Protect))
	return err
}

// accountName is known in every preview.
func (b *builder) accountName() pulumi.StringOutput {
	return ready.After(pulumi.String(b.args.Account).ToStringOutput(), b.account)
}

// makeLifecycle waits for the container: an account takes one change at a time. The policy of an
// account is always called default.
func (b *builder) makeLifecycle() error {
	if b.args.ExpireDays == 0 {
		return nil
	}
	_, err := storage.NewManagementPolicy(b.ctx, b.name+"-lifecycle", &storage.ManagementPolicyArgs{
		AccountName: b.accountName(), ManagementPolicyName: pulumi.String("default"), ResourceGroupName: b.args.ResourceGroup,
		Policy: storage.ManagementPolicySchemaArgs{Rules: storage.ManagementPolicyRuleArray{storage.ManagementPolicyRuleArgs{
			Name: pulumi.String("expire"), Enabled: pulumi.Bool(true), Type: storage.RuleTypeLifecycle,
			Definition: storage.ManagementPolicyDefinitionArgs{
				Actions: storage.ManagementPolicyActionArgs{BaseBlob: storage.ManagementPolicyBaseBlobArgs{
					Delete: storage.DateAfterModificationArgs{DaysAfterModificationGreaterThan: pulumi.Float64(float64(b.args.ExpireDays))},
				}},
				Filters: storage.ManagementPolicyFilterArgs{
					BlobTypes: pulumi.ToStringArray([]string{"blockBlob"}), PrefixMatch: pulumi.ToStringArray([]string{b.args.Name + "/"}),
				},
			},
		}}},
	}, b.parent, pulumi.DependsOn([]pulumi.Resource{b.container}))
	return err
}

// Check reads a container that others made. It fails for one that is not there.
func Check(ctx *pulumi.Context, id string, provider pulumi.InvokeOption) error {
	account, name := armid.ContainerParts(id)
	_, err := storage.LookupBlobContainer(ctx, &storage.LookupBlobContainerArgs{
		ResourceGroupName: armid.NameOf(armid.GroupOf(id)), AccountName: account, ContainerName: name,
	}, provider)
	if err != nil {
		return fmt.Errorf("look up blob container %s: %w; correct the id, and allow %s/blobServices/containers/read on it to the credentials", id, err, armid.StorageAccounts)
	}
	return nil
}
