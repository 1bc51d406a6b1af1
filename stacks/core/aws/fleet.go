package aws

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/argocd"
	"tombolo/components/eks"
	"tombolo/components/hubaccess"
	"tombolo/components/identity"
	"tombolo/components/registration"
	"tombolo/config"
	"tombolo/internal/names"
)

// fleetRoles are the roles by which a hub's Argo CD reaches its spokes; "" where
// a cluster has none.
type fleetRoles struct{ argocd, registration pulumi.StringOutput }

// makeFleetRoles makes the role of a hub's Argo CD, or the role of a spoke that
// the hub assumes.
func makeFleetRoles(ctx *pulumi.Context, c, hub *config.Cluster, partition string, cluster *eks.Cluster, opts ...pulumi.ResourceOption) (fleetRoles, error) {
	none := pulumi.String("").ToStringOutput()
	roles := fleetRoles{argocd: none, registration: none}
	switch {
	case c.IsHub():
		role, err := identity.NewRole(ctx, c.Name+"-argocd", hubRoleArgs(c, partition, cluster), opts...)
		if err != nil {
			return roles, err
		}
		roles.argocd = role.ARN
	case c.IsSpoke() && c.GitOps.ArgoCD.Credentials == config.CredentialsAWS:
		access, err := hubaccess.NewHubAccess(ctx, c.Name+"-hub", &hubaccess.HubAccessArgs{
			RoleName:    config.SpokeRoleName(c.Name),
			Place:       place(c),
			HubRoleARN:  hubRoleARN(hub, partition),
			ClusterName: cluster.Name,
			Group:       registration.Group,
		}, opts...)
		if err != nil {
			return roles, err
		}
		roles.registration = access.RoleARN
	}
	return roles, nil
}

// hubRoleARN follows from the hub's file: who builds a spoke need not be let
// into the hub's state. Of a hub that others run, the cluster's own file tells it.
func hubRoleARN(hub *config.Cluster, partition string) string {
	if hub.HasExternalHub() {
		return hub.GitOps.ExternalHub.RoleARN
	}
	return hub.Cloud.RoleARN(partition, config.ArgoCDRoleName(hub.Name))
}

// hubRoleArgs let Argo CD's components assume the roles of spokes, and nothing
// else. A session by Pod Identity has tags, which EKS hands on: without
// TagSession the role of a spoke could not be assumed from it.
func hubRoleArgs(c *config.Cluster, partition string, cluster *eks.Cluster) *identity.RoleArgs {
	accounts := argocd.ServiceAccounts()
	return &identity.RoleArgs{
		RoleName:             config.ArgoCDRoleName(c.Name),
		Place:                place(c),
		Mode:                 identity.IRSA,
		Namespace:            names.ArgoCDNamespace,
		ServiceAccount:       accounts[0],
		OtherServiceAccounts: accounts[1:],
		AccountID:            c.Cloud.Account,
		OIDCProviderARN:      cluster.OIDCProviderARN,
		OIDCIssuer:           cluster.OIDCIssuer,
		Statements:           hubStatements(c, partition),
	}
}

// hubStatements name the spokes' roles by the end of their names: a * of IAM stands for
// their paths, too.
func hubStatements(c *config.Cluster, partition string) []identity.Statement {
	var spokes []string
	for _, account := range c.SpokeAccounts() {
		spokes = append(spokes, "arn:"+partition+":iam::"+account+":role/*"+config.SpokeRoleEnd)
	}
	return []identity.Statement{{
		Sid: "ReachSpokes", Actions: []string{"sts:AssumeRole", "sts:TagSession"}, Resources: spokes,
	}}
}

// refuseOwnProvider stops before a cluster is made whose identity provider runs on it.
func refuseOwnProvider(c *config.Cluster, had made) error {
	own := c.Kubernetes.OwnProvider(c.Addons)
	if _, lives := had.First(clusterToken); lives || own == "" {
		return nil
	}
	return fmt.Errorf("kubernetes.identityProvider: %s is the addon %s of this cluster, which is not there before the cluster is: "+
		"take identityProvider out of the file, run up until the provider answers, and add it with a second up", c.Kubernetes.IdentityProvider.IssuerURL, own)
}
