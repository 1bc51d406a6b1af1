package azure

import (
	"fmt"
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/azuregroup"
	"tombolo/components/azureidentity"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/armid"
	"tombolo/internal/names"
)

// This file makes the identities that addons need, and the resource groups that these have
// their roles on.

// addonIdentity is an identity that an addon needs.
type addonIdentity struct {
	addon addon.Enabled
	addon.AzureIdentity
}

func addonIdentities(c *config.Cluster) []addonIdentity {
	var all []addonIdentity
	for _, a := range c.Addons.Enabled() {
		for _, i := range a.Needs(c.AddonFacts(), a.Options).AzureIdentities {
			all = append(all, addonIdentity{a, i})
		}
	}
	return all
}

// resource is the name of the identity's component, and of its group's.
func (i addonIdentity) resource(c *config.Cluster) string {
	return config.AddonIdentityName(c.Name, i.addon.Name, i.Name)
}

// makeAddons makes what the addons need, and returns their outputs by <addon>/<output>.
func (p *program) makeAddons() (pulumi.StringMap, error) {
	outputs := pulumi.StringMap{}
	for _, i := range addonIdentities(p.c) {
		grant, err := p.addonGrant(i)
		if err != nil {
			return nil, fmt.Errorf("addon %s: %w", i.addon.Name, err)
		}
		made, err := azureidentity.NewIdentity(p.ctx, i.resource(p.c), &azureidentity.IdentityArgs{
			Name: config.AddonIdentityName(p.c.Name, i.addon.Name, i.Name), Subscription: p.c.Cloud.Account, Location: p.c.Cloud.Region,
			GroupName: p.c.Cloud.ResourceGroup, ResourceGroup: p.group, Issuer: p.cluster.OIDCIssuer, Tags: p.tags,
			Accounts: []azureidentity.ServiceAccount{{Namespace: i.addon.Namespace, Name: i.ServiceAccount}},
			Grants:   []azureidentity.Grant{grant},
		}, p.provider)
		if err != nil {
			return nil, fmt.Errorf("addon %s: %w", i.addon.Name, err)
		}
		outputs[i.addon.Name+"/"+addon.ClientOutput(i.Name)] = made.ClientID
	}
	return outputs, nil
}

// addonGrant is the role of an identity, on a resource group that it makes where the addon
// asks for one. The tag says whose the group is: what it holds is that system's.
func (p *program) addonGrant(i addonIdentity) (azureidentity.Grant, error) {
	role := roleOf(i.Role)
	if i.MakeGroup == "" {
		return azureidentity.Grant{Role: role, Scope: i.Scope}, nil
	}
	tags := maps.Clone(p.tags)
	tags[names.SystemTag] = i.Name
	group, err := azuregroup.NewGroup(p.ctx, i.resource(p.c), &azuregroup.GroupArgs{
		Name: i.MakeGroup, Location: p.c.Cloud.Region, Tags: tags, Protect: p.c.Protect,
	}, p.provider)
	if err != nil {
		return azureidentity.Grant{}, err
	}
	scope := func(name string) string { return armid.Group(p.c.Cloud.Account, name) }
	return azureidentity.Grant{Role: role, Scope: scope(i.MakeGroup), ScopeReady: group.Name.ApplyT(scope).(pulumi.StringOutput)}, nil
}
