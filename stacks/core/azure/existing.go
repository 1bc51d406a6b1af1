package azure

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-azure-native-sdk/resources/v2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/aks"
	"tombolo/components/azuregroup"
	"tombolo/components/azurenetwork"
	"tombolo/internal/names"
	"tombolo/stacks/owner"
)

// This file reads a cluster that others own, in place of making one.

// adopt reads the cluster and its network: nothing of them is changed.
func (p *program) adopt() error {
	e := p.c.Kubernetes.Existing
	found, err := aks.NewExisting(p.ctx, p.c.Name, &aks.ExistingArgs{
		Name: e.Name, ResourceGroup: e.ResourceGroup, WorkloadIdentity: hasIdentities(p.c),
	}, p.provider)
	if err != nil {
		return err
	}
	p.cluster = found.Cluster
	if found.SubnetID == "" { // in a network that AKS has made, for nodes alone
		none := pulumi.String("").ToStringOutput()
		p.network = &azurenetwork.Network{VNetID: none, SubnetID: none}
		return nil
	}
	p.network, err = p.lookUpSubnet(found.SubnetID, azurenetwork.AnyOutbound)
	return err
}

// refuseStrangers fails when the subscription has resource groups of the names that this
// cluster's would get, and they are not this cluster's: they are of another backend's
// cluster, or of another tool's. Azure takes a group that is there for one that is made, and
// a destruction would delete it with what others have in it. The provider refuses one only
// when it is about to make it, and AKS after minutes.
func (p *program) refuseStrangers(own owner.Owner) error {
	if p.makesGroup() {
		if err := p.refuseGroup(p.c.Cloud.ResourceGroup, "cloud.resourceGroup", p.hadGroup(p.c.Name), own); err != nil {
			return err
		}
	}
	for _, g := range addonGroups(p.c) {
		if err := p.refuseGroup(g.name, "addons."+g.addon, p.hadGroup(g.component), own); err != nil {
			return err
		}
	}
	if _, lives := p.had.First(clusterToken); lives || p.c.IsExisting() {
		return nil
	}
	return p.refuseGroup(p.c.Kubernetes.NodeResourceGroup, "kubernetes.nodeResourceGroup", false, own)
}

// hadGroup says that the state has the resource group of a component.
func (p *program) hadGroup(component string) bool {
	return p.had.Named(groupToken, azuregroup.Resource(component)).Type != ""
}

// refuseGroup looks at a group of a name that the key in the cluster file gives. ours says that
// the state has it: then it is one that Azure would otherwise have made anew.
func (p *program) refuseGroup(name, key string, ours bool, own owner.Owner) error {
	found, err := resources.LookupResourceGroup(p.ctx, &resources.LookupResourceGroupArgs{ResourceGroupName: name}, p.provider)
	if missing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the resource group %s in subscription %s: %w; check cloud.account, and allow Microsoft.Resources/subscriptions/resourceGroups/read to the credentials",
			name, p.c.Cloud.Account, err)
	}
	tagged := found.Tags[names.OwnerTag]
	switch {
	case tagged == own.ID || ours && tagged == "":
		return nil
	case tagged == "":
		return fmt.Errorf("subscription %s has the resource group %s already, and Tombolo did not make it; nothing was made: name another one in %s, which is made with the cluster and goes with it",
			p.c.Cloud.Account, found.Id, key)
	}
	return fmt.Errorf("subscription %s has the resource group %s of another cluster (owner %s, made on the backend with the fingerprint %s); nothing was made: use the backend that has that cluster (--backend), "+
		"move its state here with `pulumi stack export` and `pulumi stack import`, delete what is left of a cluster that is gone, or name another group in %s",
		p.c.Cloud.Account, found.Id, tagged, cmp.Or(found.Tags[names.BackendTag], "unknown"), key)
}

// missing says that Azure has no such resource: ResourceGroupNotFound, ResourceNotFound and
// their kin. The provider hands on the text alone.
func missing(err error) bool {
	return err != nil && strings.Contains(err.Error(), "NotFound") && !strings.Contains(err.Error(), "SubscriptionNotFound")
}
