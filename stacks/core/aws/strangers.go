package aws

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/resourcegroupstaggingapi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/internal/wording"
	"tombolo/stacks/owner"
)

// stranger is a resource that has the cluster's name and is not the cluster's.
type stranger struct{ arn, owner, backend string }

// mostNamed are how many of them a message names.
const mostNamed = 5

// refuseStrangers fails when the account has a cluster of the name with another
// owner, or resources of it: they are of another backend's cluster, or of another
// tool's. Of a cluster without an identity until now, what has no owner's tag is its
// own.
func refuseStrangers(ctx *pulumi.Context, c *config.Cluster, own owner.Owner, provider pulumi.InvokeOption) error {
	found, err := resourcegroupstaggingapi.GetResources(ctx, &resourcegroupstaggingapi.GetResourcesArgs{
		TagFilters: []resourcegroupstaggingapi.GetResourcesTagFilter{{Key: names.ClusterTag, Values: []string{c.Name}}},
	}, provider)
	if err != nil {
		return fmt.Errorf("look for resources of another cluster %s: %w; allow tag:GetResources to the credentials", c.Name, err)
	}
	var others []stranger
	for _, m := range found.ResourceTagMappingLists {
		by, tagged := m.Tags[names.OwnerTag]
		if tagged && by != own.ID {
			others = append(others, stranger{arn: m.ResourceArn, owner: by, backend: m.Tags[names.BackendTag]})
		}
	}
	if len(others) == 0 {
		return nil
	}
	return strangersError(c, others)
}

// strangersError says what is there, whose it is and what to do.
func strangersError(c *config.Cluster, others []stranger) error {
	named := make([]string, 0, mostNamed)
	for _, o := range others[:min(len(others), mostNamed)] {
		named = append(named, fmt.Sprintf("%s (owner %s, made on the backend with the fingerprint %s)", o.arn, o.owner, o.backend))
	}
	return fmt.Errorf("account %s has %s of another cluster %s: %s; nothing was made: use the backend that has that cluster (--backend), "+
		"or give this one another name", c.Cloud.Account, wording.Count(len(others), "resource"), c.Name, strings.Join(named, ", "))
}
