// Package azurevault makes key vaults of Azure, and reads those that others made.
package azurevault

import (
	"errors"
	"fmt"

	keyvault "github.com/pulumi/pulumi-azure-native-sdk/keyvault/v2/v20230701"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/ready"
	"tombolo/internal/armid"
)

const vaultType = "tombolo:azurevault:Vault"

// retentionDays is how long a deleted vault and a deleted secret can be brought back: the most
// that Azure takes, and nobody can shorten it. Source:
// https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview
const retentionDays = 90

// VaultArgs are the arguments of a Vault.
type VaultArgs struct {
	// Name in the world, 3 to 24 letters, digits and dashes.
	Name string
	// Subscription, Tenant and Location of the vault.
	Subscription, Tenant, Location string
	// GroupName is the name of the resource group, and ResourceGroup the same once it is
	// there.
	GroupName     string
	ResourceGroup pulumi.StringInput
	// SubnetID is the subnet that reaches the vault, by a service endpoint; nil for none.
	SubnetID pulumi.StringInput
	// AllowedCIDRs are public IPv4 blocks that reach it.
	AllowedCIDRs []string
	// Recover brings back the vault of the name that was deleted, with what is in it.
	Recover bool
	Tags    map[string]string
	// Protect has Pulumi refuse to delete the vault.
	Protect bool
}

// Vault is a key vault whose contents are for who has a role on it.
type Vault struct {
	pulumi.ResourceState

	// ID in Azure's Resource Manager, known in every preview, and Ready the same once it is
	// there.
	ID    string
	Ready pulumi.StringOutput
	// URL of its contents, once it is there. It is known in every preview.
	URL pulumi.StringOutput
}

// NewVault makes a vault.
func NewVault(ctx *pulumi.Context, name string, args *VaultArgs, opts ...pulumi.ResourceOption) (*Vault, error) {
	if args.Name == "" || args.Subscription == "" || args.Tenant == "" || args.Location == "" || args.GroupName == "" || args.ResourceGroup == nil {
		return nil, fmt.Errorf("vault %s: %w", name, errors.New("name, subscription, tenant, location and resource group are required"))
	}
	c := &Vault{ID: armid.Resource(args.Subscription, args.GroupName, armid.Vaults, args.Name)}
	if err := ctx.RegisterComponentResourceV2(vaultType, name, pulumi.Map{"name": pulumi.String(args.Name)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register vault %s: %w", name, err)
	}
	made, err := keyvault.NewVault(ctx, name+"-vault", &keyvault.VaultArgs{
		VaultName: pulumi.String(args.Name), ResourceGroupName: args.ResourceGroup, Location: pulumi.String(args.Location),
		Properties: args.properties(), Tags: pulumi.ToStringMap(args.Tags),
		// How the vault came to be is nothing that an update changes.
	}, pulumi.Parent(c), pulumi.Protect(args.Protect), pulumi.IgnoreChanges([]string{"properties.createMode"}))
	if err != nil {
		return nil, fmt.Errorf("vault %s: %w", name, err)
	}
	c.Ready = ready.After(pulumi.String(c.ID).ToStringOutput(), made)
	// https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates#vault-name-and-object-name
	c.URL = ready.After(pulumi.String("https://"+args.Name+".vault.azure.net/").ToStringOutput(), made)
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"resourceId": pulumi.String(c.ID), "url": c.URL})
}

// properties say all of what Azure decides otherwise: roles open the vault, not its access
// policies; what was deleted can be brought back, and not be purged; and nobody reaches it but
// the networks that are named.
func (a *VaultArgs) properties() *keyvault.VaultPropertiesArgs {
	network := keyvault.NetworkRuleSetArgs{DefaultAction: pulumi.String("Deny"), Bypass: pulumi.String("None")}
	if a.SubnetID != nil {
		network.VirtualNetworkRules = keyvault.VirtualNetworkRuleArray{keyvault.VirtualNetworkRuleArgs{Id: a.SubnetID.ToStringOutput()}}
	}
	var blocks keyvault.IPRuleArray
	for _, block := range a.AllowedCIDRs {
		blocks = append(blocks, keyvault.IPRuleArgs{Value: pulumi.String(block)})
	}
	if len(blocks) > 0 {
		network.IpRules = blocks
	}
	mode := keyvault.CreateModeDefault
	if a.Recover {
		mode = keyvault.CreateModeRecover
	}
	return &keyvault.VaultPropertiesArgs{
		TenantId: pulumi.String(a.Tenant), Sku: keyvault.SkuArgs{Family: pulumi.String("A"), Name: keyvault.SkuNameStandard},
		CreateMode: mode, AccessPolicies: keyvault.AccessPolicyEntryArray{}, EnableRbacAuthorization: pulumi.Bool(true),
		EnableSoftDelete: pulumi.Bool(true), SoftDeleteRetentionInDays: pulumi.Int(retentionDays), EnablePurgeProtection: pulumi.Bool(true),
		EnabledForDeployment: pulumi.Bool(false), EnabledForDiskEncryption: pulumi.Bool(false), EnabledForTemplateDeployment: pulumi.Bool(false),
		PublicNetworkAccess: pulumi.String("Enabled"), NetworkAcls: network,
	}
}

// LookUp reads the URL of a vault that others made. It fails for one that its access policies
// open, where a role opens nothing.
func LookUp(ctx *pulumi.Context, id string, provider pulumi.InvokeOption) (url string, err error) {
	found, err := keyvault.LookupVault(ctx, &keyvault.LookupVaultArgs{
		ResourceGroupName: armid.NameOf(armid.GroupOf(id)), VaultName: armid.NameOf(id),
	}, provider)
	if err != nil {
		return "", fmt.Errorf("look up key vault %s: %w; correct the id, and allow %s/read on it to the credentials", id, err, armid.Vaults)
	}
	if roles := found.Properties.EnableRbacAuthorization; roles == nil || !*roles {
		return "", fmt.Errorf("key vault %s is opened by its access policies, and a role opens nothing: have its owner turn Azure role-based access control on, or name another vault", id)
	}
	return found.Properties.VaultUri, nil
}
