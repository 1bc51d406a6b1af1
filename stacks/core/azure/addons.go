package azure

import (
	"fmt"
	"maps"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/azuregroup"
	"tombolo/components/azureidentity"
	"tombolo/components/azurestorage"
	"tombolo/components/azurevault"
	"tombolo/components/azurezones"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/armid"
	"tombolo/internal/names"
)

// makeAddons makes what the addons need, and returns their outputs by <addon>/<output>.
func (p *program) makeAddons() (pulumi.StringMap, error) {
	outputs := pulumi.StringMap{}
	for a, needs := range p.c.AddonNeeds() {
		m := &addonMaker{program: p, addon: a, outputs: outputs, ready: map[string]pulumi.StringInput{}}
		if err := m.make(needs); err != nil {
			return nil, fmt.Errorf("addon %s: %w", a.Name, err)
		}
	}
	return outputs, nil
}

// addonMaker makes what one addon needs.
type addonMaker struct {
	*program
	addon   addon.Enabled
	outputs pulumi.StringMap
	// ready are ids of what was made for the addon, once it is there, by the id.
	ready map[string]pulumi.StringInput
}

func (m *addonMaker) make(needs addon.Needs) error {
	if err := m.checkZones(needs.Zones); err != nil {
		return err
	}
	if err := m.makeVault(needs.Vault); err != nil {
		return err
	}
	if err := m.makeContainer(needs.Container); err != nil {
		return err
	}
	for _, i := range needs.Identities {
		if err := m.makeIdentity(i); err != nil {
			return err
		}
	}
	return nil
}

func (m *addonMaker) put(output string, value pulumi.StringInput) {
	m.outputs[m.addon.Name+"/"+output] = value
}

// checkZones looks at the zones, which are of one resource group.
func (m *addonMaker) checkZones(zones []addon.Zone) error {
	if len(zones) == 0 {
		return nil
	}
	var ids []string
	for _, z := range zones {
		ids = append(ids, z.ID)
	}
	provider, err := m.providerOf(ids[0], "azure-"+m.addon.Name)
	if err != nil {
		return err
	}
	return azurezones.Check(m.ctx, ids, provider)
}

// makeVault makes the vault, or looks at the one of others.
func (m *addonMaker) makeVault(needed *addon.Vault) error {
	if needed == nil {
		return nil
	}
	if needed.ID != "" {
		provider, err := m.providerOf(needed.ID, "azure-"+m.addon.Name)
		if err != nil {
			return err
		}
		url, err := azurevault.LookUp(m.ctx, needed.ID, provider)
		m.put(addon.VaultURL, pulumi.String(url))
		return err
	}
	args := &azurevault.VaultArgs{
		Name: needed.Name, Subscription: m.c.Cloud.Account, Tenant: m.c.Cloud.Tenant, Location: m.c.Cloud.Region,
		GroupName: m.c.Cloud.ResourceGroup, ResourceGroup: m.group, AllowedCIDRs: needed.AllowedCIDRs, Recover: needed.Recover,
		Tags: m.tags, Protect: m.c.Protect,
	}
	args.SubnetID = m.ownSubnet()
	made, err := azurevault.NewVault(m.ctx, m.c.Name+"-addon-"+m.addon.Name, args, m.provider)
	if err != nil {
		return err
	}
	m.ready[made.ID] = made.Ready
	m.put(addon.VaultURL, made.URL)
	return nil
}

// ownSubnet is that of the nodes in a network of core's; nil in one of others, whose subnet may
// have no endpoint for what is made.
func (m *addonMaker) ownSubnet() pulumi.StringInput {
	if !m.c.OwnsNetwork() {
		return nil
	}
	return m.network.SubnetID
}

// makeContainer makes the blob container, or looks at the one of others.
func (m *addonMaker) makeContainer(needed *addon.Container) error {
	if needed == nil {
		return nil
	}
	if needed.ID != "" {
		provider, err := m.providerOf(needed.ID, "azure-"+m.addon.Name)
		if err != nil {
			return err
		}
		m.put(addon.AccountName, pulumi.String(needed.Account))
		m.put(addon.ContainerName, pulumi.String(needed.Name))
		return azurestorage.Check(m.ctx, needed.ID, provider)
	}
	made, err := azurestorage.NewContainer(m.ctx, m.c.Name+"-addon-"+m.addon.Name, &azurestorage.ContainerArgs{
		Account: needed.Account, Name: needed.Name, Subscription: m.c.Cloud.Account, Location: m.c.Cloud.Region,
		GroupName: m.c.Cloud.ResourceGroup, ResourceGroup: m.group, SubnetID: m.ownSubnet(), ExpireDays: needed.ExpireDays,
		Tags: m.tags, Protect: m.c.Protect,
	}, m.provider)
	if err != nil {
		return err
	}
	m.ready[made.ID] = made.Ready
	m.put(addon.AccountName, made.Account)
	m.put(addon.ContainerName, made.Name)
	return nil
}

func (m *addonMaker) makeIdentity(i addon.Identity) error {
	name := config.AddonIdentityName(m.c.Name, m.addon.Name, i.Name)
	args := m.identityArgs(name, m.addon.Namespace, i.ServiceAccount)
	for _, r := range i.Roles {
		grant, err := m.grant(name, i.Name, r)
		if err != nil {
			return err
		}
		args.Grants = append(args.Grants, grant)
	}
	made, err := azureidentity.NewIdentity(m.ctx, name, args, m.provider)
	if err != nil {
		return err
	}
	m.put(addon.ClientOutput(i.Name), made.ClientID)
	return nil
}

// grant is a role of the identity of a name, on a resource group that it makes where the addon
// asks for one. The tag says whose the group is: what it holds is that system's.
func (m *addonMaker) grant(name, system string, r addon.Role) (azureidentity.Grant, error) {
	role := roleOf(r.Name)
	if r.MakeGroup == "" {
		return azureidentity.Grant{Role: role, Scope: r.Scope, ScopeReady: m.ready[r.Scope]}, nil
	}
	tags := maps.Clone(m.tags)
	tags[names.SystemTag] = system
	group, err := azuregroup.NewGroup(m.ctx, name, &azuregroup.GroupArgs{
		Name: r.MakeGroup, Location: m.c.Cloud.Region, Tags: tags, Protect: m.c.Protect,
	}, m.provider)
	if err != nil {
		return azureidentity.Grant{}, err
	}
	scope := func(name string) string { return armid.Group(m.c.Cloud.Account, name) }
	return azureidentity.Grant{Role: role, Scope: scope(r.MakeGroup), ScopeReady: group.Name.ApplyT(scope).(pulumi.StringOutput)}, nil
}

// addonGroup is a resource group that core makes for an addon.
type addonGroup struct {
	// component of the group, and name of the group itself.
	component, name string
	// addon that asks for it.
	addon string
}

func addonGroups(c *config.Cluster) []addonGroup {
	var all []addonGroup
	for a, needs := range c.AddonNeeds() {
		for _, i := range needs.Identities {
			for _, r := range i.Roles {
				if r.MakeGroup != "" {
					all = append(all, addonGroup{config.AddonIdentityName(c.Name, a.Name, i.Name), r.MakeGroup, a.Name})
				}
			}
		}
	}
	return all
}

// identityArgs are those of an identity for one service account, without roles.
func (p *program) identityArgs(name, namespace, account string) *azureidentity.IdentityArgs {
	return &azureidentity.IdentityArgs{
		Name: name, Subscription: p.c.Cloud.Account, Location: p.c.Cloud.Region,
		GroupName: p.c.Cloud.ResourceGroup, ResourceGroup: p.group, Issuer: p.cluster.OIDCIssuer, Tags: p.tags,
		Credentials: []azureidentity.Credential{azureidentity.ServiceAccount(namespace, account)},
	}
}

// providerOf is the provider of an id's subscription: core's own, or another one of a name.
func (p *program) providerOf(id, name string) (pulumi.ResourceOrInvokeOption, error) {
	of := armid.SubscriptionOf(id)
	if of == "" || strings.EqualFold(of, p.c.Cloud.Account) {
		return p.provider, nil
	}
	other, err := NewProvider(p.ctx, name, of, p.own)
	if err != nil {
		return nil, err
	}
	return pulumi.Provider(other), nil
}
