package aws

import (
	"context"
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/adoption"
	"tombolo/config"
	"tombolo/internal/names"
)

// Describe reads an EKS cluster that others own.
func (a Cloud) Describe(ctx context.Context, c *config.Cluster) (adoption.Cluster, error) {
	var found adoption.Cluster
	err := a.ask(ctx, "describe the existing cluster", c, func(p *pulumi.Context) error {
		account, err := provider(p, c, "lookup", c.Cloud.Region, nil)
		if err != nil {
			return err
		}
		found, err = describe(p, c.NameInCloud(), account)
		return err
	})
	return found, err
}

func describe(p *pulumi.Context, name string, account pulumi.InvokeOption) (adoption.Cluster, error) {
	none := adoption.Cluster{}
	caller, err := aws.GetCallerIdentity(p, &aws.GetCallerIdentityArgs{}, account)
	if err != nil {
		return none, err
	}
	all, err := eks.GetClusters(p, account)
	if err != nil {
		return none, err
	}
	cluster, err := eks.LookupCluster(p, &eks.LookupClusterArgs{Name: name}, account)
	if err != nil {
		return none, fmt.Errorf("look up EKS cluster %s in account %s, which has %v: %w", name, caller.AccountId, all.Names, err)
	}
	found := adoption.Cluster{Name: cluster.Name, Account: caller.AccountId, Version: cluster.Version, Owner: cluster.Tags[names.OwnerTag]}
	for _, access := range cluster.AccessConfigs {
		found.AccessEntries = access.AuthenticationMode != "CONFIG_MAP"
	}
	for _, identity := range cluster.Identities {
		for _, oidc := range identity.Oidcs {
			// One that is not there and one that may not be read are the same to a look-up by
			// the issuer; the first preview says which.
			_, err := iam.LookupOpenIdConnectProvider(p, &iam.LookupOpenIdConnectProviderArgs{Url: &oidc.Issuer}, account)
			found.OIDCProvider = err == nil
		}
	}
	return found, nil
}
