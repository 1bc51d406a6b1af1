package automation

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
	"tombolo/automation/teardown"
	"tombolo/config"
)

// cloudLookup lists the cloud resources that carry a cluster's tag, and the network
// interfaces that are asked for.
type cloudLookup func(ctx context.Context, c *config.Cluster, interfaces []interfaceQuery) ([]sighting, error)

// interfaceQuery asks for the network interfaces in a subnet with a description,
// in which an asterisk stands for any text.
type interfaceQuery struct{ subnet, description string }

// lookUp asks the cloud through the provider that core uses, in a
// preview of a program that does nothing else, on a stack that is thrown
// away. So it has the same credentials, and no cloud SDK is needed here.
func (d *Driver) lookUp(ctx context.Context, c *config.Cluster, interfaces []interfaceQuery) ([]sighting, error) {
	var found []sighting
	program := func(p *pulumi.Context) error {
		var err error
		found, err = sightings(p, c, interfaces)
		return err
	}
	dir, err := os.MkdirTemp("", "tombolo-lookup-")
	if err != nil {
		return nil, fmt.Errorf("make directory to look resources up: %w", err)
	}
	defer os.RemoveAll(dir)
	stack, err := d.pulumi.Scratch(ctx, dir, program)
	if err != nil {
		return nil, err
	}
	rec := &pulumicli.Recorder{}
	err = pulumicli.Observed(rec.Record, func(ch chan<- events.EngineEvent) error {
		_, err := stack.Preview(ctx, optpreview.EventStreams(ch))
		return err
	})
	if err != nil {
		return nil, d.pulumi.Failure(ctx, pulumicli.Failed{
			Stack: c.Name, Operation: "look up interrupted creations of", Err: err, Record: rec,
		})
	}
	return found, nil
}

func sightings(p *pulumi.Context, c *config.Cluster, interfaces []interfaceQuery) ([]sighting, error) {
	provider, err := lookupProvider(p, c)
	if err != nil {
		return nil, err
	}
	found, err := taggedWith(p, c.Name, pulumi.Provider(provider))
	if err != nil {
		return nil, err
	}
	for _, q := range interfaces {
		found = append(found, q.run(p, pulumi.Provider(provider))...)
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

func taggedWith(p *pulumi.Context, cluster string, opt pulumi.InvokeOption) ([]sighting, error) {
	res, err := resourcegroupstaggingapi.GetResources(p, &resourcegroupstaggingapi.GetResourcesArgs{
		TagFilters: []resourcegroupstaggingapi.GetResourcesTagFilter{{Key: teardown.ClusterTag, Values: []string{cluster}}},
	}, opt)
	if err != nil {
		return nil, err
	}
	out := make([]sighting, 0, len(res.ResourceTagMappingLists))
	for _, m := range res.ResourceTagMappingLists {
		out = append(out, sighting{ARN: m.ResourceArn, Tags: m.Tags})
	}
	return out, nil
}

// run finds nothing where the cloud does not answer: what has an interface of
// this kind cannot be made twice, and AWS then says so.
func (q interfaceQuery) run(p *pulumi.Context, opt pulumi.InvokeOption) []sighting {
	list, err := ec2.GetNetworkInterfaces(p, &ec2.GetNetworkInterfacesArgs{Filters: []ec2.GetNetworkInterfacesFilter{
		{Name: "subnet-id", Values: []string{q.subnet}}, {Name: "description", Values: []string{q.description}},
	}}, opt)
	if err != nil {
		return nil
	}
	var out []sighting
	for _, id := range list.Ids {
		if found, err := ec2.LookupNetworkInterface(p, &ec2.LookupNetworkInterfaceArgs{Id: &id}, opt); err == nil {
			out = append(out, sighting{ARN: found.Arn, SubnetID: found.SubnetId, Description: found.Description})
		}
	}
	return out
}
