package aws

import (
	"context"
	"fmt"
	"os"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/resourcegroupstaggingapi"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/pulumicli"
	"tombolo/automation/recovery"
	"tombolo/config"
	"tombolo/internal/names"
)

// Lookup lists the resources with the cluster's tag, and what the queries find.
func (a Cloud) Lookup(ctx context.Context, c *config.Cluster, queries []recovery.Query) ([]recovery.Sighting, error) {
	var found []recovery.Sighting
	err := a.ask(ctx, "look up interrupted creations of", c, func(p *pulumi.Context) error {
		var err error
		found, err = sightings(p, c, queries)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// ask runs a program that asks the cloud and makes nothing, in a preview on a
// stack that is thrown away.
func (a Cloud) ask(ctx context.Context, what string, c *config.Cluster, program pulumi.RunFunc) error {
	dir, err := os.MkdirTemp("", "tombolo-lookup-")
	if err != nil {
		return fmt.Errorf("make directory to %s %s: %w", what, c.Name, err)
	}
	defer os.RemoveAll(dir)
	stack, err := a.Pulumi.Scratch(ctx, dir, program)
	if err != nil {
		return err
	}
	rec := &pulumicli.Recorder{}
	err = pulumicli.Observed(rec.Record, func(ch chan<- events.EngineEvent) error {
		_, err := stack.Preview(ctx, optpreview.EventStreams(ch))
		return err
	})
	if err != nil {
		return a.Pulumi.Failure(ctx, pulumicli.Failed{Stack: c.Name, Operation: what, Err: err, Record: rec})
	}
	return nil
}

func sightings(p *pulumi.Context, c *config.Cluster, queries []recovery.Query) ([]recovery.Sighting, error) {
	provider, err := lookupProvider(p, c)
	if err != nil {
		return nil, err
	}
	found, err := taggedWith(p, c.Name, pulumi.Provider(provider))
	if err != nil {
		return nil, err
	}
	for _, q := range queries {
		found = append(found, interfaces(p, q, pulumi.Provider(provider))...)
	}
	return found, nil
}

// lookupProvider is the provider that core uses, but for its tags.
func lookupProvider(p *pulumi.Context, c *config.Cluster) (*aws.Provider, error) {
	args := &aws.ProviderArgs{
		Region:            pulumi.String(c.Cloud.Region),
		AllowedAccountIds: pulumi.ToStringArray([]string{c.Cloud.Account}),
	}
	if c.Cloud.Profile != "" {
		args.Profile = pulumi.String(c.Cloud.Profile)
	}
	return aws.NewProvider(p, "lookup", args)
}

func taggedWith(p *pulumi.Context, cluster string, opt pulumi.InvokeOption) ([]recovery.Sighting, error) {
	res, err := resourcegroupstaggingapi.GetResources(p, &resourcegroupstaggingapi.GetResourcesArgs{
		TagFilters: []resourcegroupstaggingapi.GetResourcesTagFilter{{Key: names.ClusterTag, Values: []string{cluster}}},
	}, opt)
	if err != nil {
		return nil, err
	}
	out := make([]recovery.Sighting, 0, len(res.ResourceTagMappingLists))
	for _, m := range res.ResourceTagMappingLists {
		out = append(out, recovery.Sighting{ARN: m.ResourceArn, Tags: m.Tags})
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
		out = append(out, recovery.Sighting{ARN: i.Arn, SubnetID: i.SubnetId, Description: i.Description})
	}
	return out
}

// networkInterfaces are those with a description, in which an asterisk stands for
// any text, in a subnet or a VPC: filter is the name of its filter. One that goes
// meanwhile is left out.
func networkInterfaces(p *pulumi.Context, filter, in, description string, opt pulumi.InvokeOption) ([]*ec2.LookupNetworkInterfaceResult, error) {
	list, err := ec2.GetNetworkInterfaces(p, &ec2.GetNetworkInterfacesArgs{Filters: []ec2.GetNetworkInterfacesFilter{
		{Name: filter, Values: []string{in}}, {Name: "description", Values: []string{description}},
	}}, opt)
	if err != nil {
		return nil, err
	}
	var out []*ec2.LookupNetworkInterfaceResult
	for _, id := range list.Ids {
		if found, err := ec2.LookupNetworkInterface(p, &ec2.LookupNetworkInterfaceArgs{Id: &id}, opt); err == nil {
			out = append(out, found)
		}
	}
	return out, nil
}
