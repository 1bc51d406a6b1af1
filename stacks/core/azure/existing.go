package azure

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/aks"
	"tombolo/components/azurenetwork"
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
