package programs

import (
	"context"
	"fmt"

	"tombolo/components/terraformstate"
	"tombolo/config"
	"tombolo/stacks/catalog"
)

// TerraformNetwork reads the network that a state of Terraform or OpenTofu has.
func TerraformNetwork(ctx context.Context, dir, address, of string, env map[string]string) (catalog.TerraformNetwork, error) {
	n, err := terraformstate.In(dir, env).Network(ctx, address, of)
	if err != nil {
		return catalog.TerraformNetwork{}, fmt.Errorf("read the network of %s: %w", config.Source{State: address}.StateName(), err)
	}
	found := catalog.TerraformNetwork{
		Existing: config.ExistingNetwork{VPC: n.VPC, PrivateSubnets: n.PrivateSubnets, PublicSubnets: n.PublicSubnets, NodeSubnet: n.NodeSubnet},
		Region:   n.Region, Account: n.Account, Isolated: n.Isolated,
	}
	switch {
	case n.NodeSubnet == "":
	case n.HasRoutes:
		found.Outbound = config.OutboundRoutes
	case n.HasNATGateway:
		found.Outbound = config.OutboundNATGateway
	default:
		found.Outbound = config.OutboundLoadBalancer
	}
	return found, nil
}
