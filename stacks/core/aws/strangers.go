package aws

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/resourcegroupstaggingapi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/internal/wording"
	"tombolo/stacks/owner"
)

// stranger is a resource that has the cluster's name and not its identity. Owner is ""
// when it has no owner's tag; made is when, where that is known.
type stranger struct{ arn, owner, backend, made string }

func (s stranger) String() string {
	whose := "no owner's tag"
	if s.owner != "" {
		whose = fmt.Sprintf("owner %s, made on the backend with the fingerprint %s", s.owner, cmp.Or(s.backend, "unknown"))
	}
	if s.made != "" {
		whose += ", made at " + s.made
	}
	return fmt.Sprintf("%s (%s)", s.arn, whose)
}

// mostNamed are how many of them a message names.
const mostNamed = 5

// refuseStrangers fails when the account has a cluster of the name with another
// owner, or resources of it: they are of another backend's cluster, or of another
// tool's. What has no owner's tag is a stranger, too, unless the stack has something
// in the cloud already: then it is of a state from before the identity.
func refuseStrangers(ctx *pulumi.Context, c *config.Cluster, own owner.Owner, have made, provider pulumi.InvokeOption) error {
	all, err := namesakes(ctx, c, own, provider)
	if err != nil {
		return fmt.Errorf("look for resources of another cluster %s: %w; allow tag:GetResources, eks:ListClusters and eks:DescribeCluster to the credentials", c.Name, err)
	}
	others := slices.DeleteFunc(slices.Clone(all), func(s stranger) bool { return s.owner == "" })
	if !have.begun() {
		others = all
	}
	if len(others) == 0 {
		return nil
	}
	return strangersError(c, others)
}

// namesakes are the resources with the cluster's name that do not have its identity.
func namesakes(ctx *pulumi.Context, c *config.Cluster, own owner.Owner, provider pulumi.InvokeOption) ([]stranger, error) {
	out, err := controlPlaneOfName(ctx, c, own, provider)
	if err != nil {
		return nil, err
	}
	found, err := resourcegroupstaggingapi.GetResources(ctx, &resourcegroupstaggingapi.GetResourcesArgs{
		TagFilters: []resourcegroupstaggingapi.GetResourcesTagFilter{{Key: names.ClusterTag, Values: []string{c.Name}}},
	}, provider)
	if err != nil {
		return nil, err
	}
	for _, m := range found.ResourceTagMappingLists {
		s := stranger{arn: m.ResourceArn, owner: m.Tags[names.OwnerTag], backend: m.Tags[names.BackendTag]}
		told := slices.ContainsFunc(out, func(o stranger) bool { return o.arn == s.arn })
		if s.owner != own.ID && !told && !outlives(s.arn) {
			out = append(out, s)
		}
	}
	return out, nil
}

// controlPlaneOfName is the EKS cluster of the name, when it is not this cluster's. An
// existing cluster is others' on purpose.
func controlPlaneOfName(ctx *pulumi.Context, c *config.Cluster, own owner.Owner, provider pulumi.InvokeOption) ([]stranger, error) {
	if c.IsExisting() {
		return nil, nil
	}
	all, err := eks.GetClusters(ctx, provider)
	if err != nil || !slices.Contains(all.Names, c.Name) {
		return nil, err
	}
	found, err := eks.LookupCluster(ctx, &eks.LookupClusterArgs{Name: c.Name}, provider)
	if err != nil || found.Tags[names.OwnerTag] == own.ID {
		return nil, err
	}
	return []stranger{{
		arn: found.Arn, owner: found.Tags[names.OwnerTag], backend: found.Tags[names.BackendTag], made: found.CreatedAt,
	}}, nil
}

// outlives says that a resource is no sign of a cluster that lives. Nodes and volumes
// have no owner's tag, and volumes may be kept; a key waits 7 to 30 days for its deletion
// (https://docs.aws.amazon.com/kms/latest/developerguide/deleting-keys.html), and a
// NAT gateway is shown for about an hour after it
// (https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-working-with.html).
func outlives(arn string) bool {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 {
		return false
	}
	kind, _, _ := strings.Cut(parts[5], "/")
	return slices.Contains([]string{"ec2:instance", "ec2:network-interface", "ec2:volume", "ec2:snapshot", "ec2:natgateway", "kms:key"}, parts[2]+":"+kind)
}

// strangersError says what is there, whose it is and what to do.
func strangersError(c *config.Cluster, others []stranger) error {
	named := make([]string, 0, mostNamed)
	for _, o := range others[:min(len(others), mostNamed)] {
		named = append(named, o.String())
	}
	return fmt.Errorf("account %s has %s of another cluster %s: %s; nothing was made: use the backend that has that cluster (--backend), "+
		"move its state here with `pulumi stack export` and `pulumi stack import`, delete what is left of a cluster that is gone, or give this one another name",
		c.Cloud.Account, wording.Count(len(others), "resource"), c.Name, strings.Join(named, ", "))
}
