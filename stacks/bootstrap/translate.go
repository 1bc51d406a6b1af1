package bootstrap

import (
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/flux"
	"tombolo/components/infraconfig"
	"tombolo/components/namespaces"
	"tombolo/config"
	"tombolo/stacks/handoff"
)

// This file translates cluster file and hand-off into the components'
// arguments.

// builtin tells the namespaces that every cluster has from its start: they are
// never ours to make or to delete.
func builtin(name string) bool {
	return slices.Contains([]string{"default", "kube-system", "kube-public", "kube-node-lease"}, name)
}

// namespaceArgs are the file's namespaces, and the engine's in any case.
func namespaceArgs(c *config.Cluster) []namespaces.Namespace {
	var out []namespaces.Namespace
	for _, n := range c.Namespaces {
		if !builtin(n.Name) {
			out = append(out, namespaces.Namespace(n))
		}
	}
	if !slices.ContainsFunc(out, func(n namespaces.Namespace) bool { return n.Name == flux.Namespace }) {
		out = append(out, namespaces.Namespace{Name: flux.Namespace})
	}
	return out
}

func infraConfigArgs(c *config.Cluster, h handoff.Handoff) *infraconfig.InfraConfigArgs {
	args := &infraconfig.InfraConfigArgs{
		Namespace:   flux.Namespace,
		Extra:       c.Values,
		Labels:      c.Labels,
		Annotations: c.Annotations,
		Facts: infraconfig.Facts{
			ClusterName: h.ClusterName, Environment: pulumi.String(c.Environment), Cloud: pulumi.String(c.Cloud.Provider),
			Region: h.Region, AccountID: h.AccountID, Partition: h.Partition,
			ClusterARN: h.ClusterARN, ClusterEndpoint: h.ClusterEndpoint, ClusterVersion: h.ClusterVersion,
			OIDCIssuer: h.OIDCIssuer, OIDCProviderARN: h.OIDCProviderARN,
			VPCID: h.VPCID, VPCCIDR: h.VPCCIDR,
			PrivateSubnetIDs: h.PrivateSubnetIDs, PublicSubnetIDs: h.PublicSubnetIDs,
			ClusterSecurityGroupID: h.ClusterSecurityGroupID, NodeRoleARN: h.NodeRoleARN,
		},
	}
	for _, s := range c.Services {
		args.Services = append(args.Services, service(s, h))
	}
	return args
}

func service(s config.Service, h handoff.Handoff) infraconfig.Service {
	out := infraconfig.Service{Name: s.Name, Namespace: s.Namespace, Values: s.Values}
	if s.Identity == nil {
		return out
	}
	out.ServiceAccount = s.Identity.ServiceAccount
	if s.Identity.Mode == config.IRSA {
		// Pod Identity needs no annotation: the association names the account.
		out.RoleARN = h.ServiceRoleARNs.MapIndex(pulumi.String(s.Name))
	}
	return out
}
