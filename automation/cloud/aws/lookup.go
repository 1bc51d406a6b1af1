package aws

import (
	"context"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/resourcegroupstaggingapi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/cloud/scratch"
	"tombolo/automation/recovery"
	"tombolo/config"
	"tombolo/internal/names"
)

// LookupRight is that of the tagging API.
func (Cloud) LookupRight() string { return "tag:GetResources" }

// Lookup lists the resources with the owner's tag, and what the queries find.
func (a Cloud) Lookup(ctx context.Context, c *config.Cluster, owner string, queries []recovery.Query) ([]recovery.Sighting, error) {
	var found []recovery.Sighting
	err := a.ask(ctx, "look up interrupted creations of", c, func(p *pulumi.Context) (err error) {
		found, err = sightings(p, c, owner, queries)
		return err
	})
	return found, err
}

// ask runs a program that asks the cloud and makes nothing, in a preview on a
// stack that is thrown away.
func (a Cloud) ask(ctx context.Context, what string, c *config.Cluster, program pulumi.RunFunc) error {
	return scratch.Ask(ctx, a.Pulumi, what, c.Name, program)
}

// Owner is the identity in the tags that the provider says a resource has.
func (Cloud) Owner(outputs map[string]any) (string, bool) {
	all, tagged := outputs["tagsAll"].(map[string]any)
	id, _ := all[names.OwnerTag].(string)
	return id, tagged
}

func sightings(p *pulumi.Context, c *config.Cluster, owner string, queries []recovery.Query) ([]recovery.Sighting, error) {
	account, err := lookupProvider(p, c)
	if err != nil {
		return nil, err
	}
	found, err := taggedWith(p, names.OwnerTag, owner, account)
	if err != nil {
		return nil, err
	}
	for _, q := range queries {
		found = append(found, interfaces(p, q, account)...)
	}
	return found, nil
}

func taggedWith(p *pulumi.Context, tag, value string, opt pulumi.InvokeOption) ([]recovery.Sighting, error) {
	res, err := resourcegroupstaggingapi.GetResources(p, &resourcegroupstaggingapi.GetResourcesArgs{
		TagFilters: []resourcegroupstaggingapi.GetResourcesTagFilter{{Key: tag, Values: []string{value}}},
	}, opt)
	if err != nil {
		return nil, err
	}
	out := make([]recovery.Sighting, 0, len(res.ResourceTagMappingLists))
	for _, m := range res.ResourceTagMappingLists {
		out = append(out, recovery.Sighting{CloudID: m.ResourceArn, Tags: m.Tags})
	}
	return out, nil
}

// interfaces finds nothing where the cloud does not answer: what has an interface of
// this kind cannot be made twice, and AWS then says so.
func interfaces(p *pulumi.Context, q recovery.Query, opt pulumi.InvokeOption) []recovery.Sighting {
	found, err := networkInterfaces(p, "subnet-id", q.Subnet, q.Description, opt)
	if err != nil {
		return nil
	}
	var out []recovery.Sighting
	for _, i := range found {
		out = append(out, recovery.Sighting{CloudID: i.Arn, SubnetID: i.SubnetId, Description: i.Description})
	}
	return out
}
