package automation

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/resourcegroupstaggingapi"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/config"
)

// ClusterTag is the key of the tag that carries the cluster's name on every
// cloud resource made for it.
const ClusterTag = "tombolo:cluster"

// taggedLookup lists the cloud resources that carry a cluster's tag.
type taggedLookup func(ctx context.Context, c *config.Cluster) ([]taggedResource, error)

// lookUpByTag asks the cloud through the provider that core uses, in a
// preview of a program that does nothing else, on a stack that is thrown
// away. So it has the same credentials, and no cloud SDK is needed here.
func (d *Driver) lookUpByTag(ctx context.Context, c *config.Cluster) ([]taggedResource, error) {
	var found []taggedResource
	program := func(p *pulumi.Context) error {
		var err error
		found, err = taggedResources(p, c)
		return err
	}
	dir, err := os.MkdirTemp("", "tombolo-lookup-")
	if err != nil {
		return nil, fmt.Errorf("make directory to look resources up: %w", err)
	}
	defer os.RemoveAll(dir)
	stack, err := d.scratchStack(ctx, dir, program)
	if err != nil {
		return nil, err
	}
	rec := &recorder{running: map[string]string{}}
	err = observed(rec.record, func(ch chan<- events.EngineEvent) error {
		_, err := stack.Preview(ctx, optpreview.EventStreams(ch))
		return err
	})
	if err != nil {
		return nil, d.failure(ctx, failed{
			stack: c.Name, operation: "look up interrupted creations of", err: err, record: rec,
		})
	}
	return found, nil
}

const scratchProject = `name: tombolo-lookup
runtime: go
description: Looks cloud resources up by their tags
`

// scratchStack is a stack in a backend of its own.
func (d *Driver) scratchStack(ctx context.Context, dir string, program pulumi.RunFunc) (auto.Stack, error) {
	command, err := d.pulumi(ctx)
	if err != nil {
		return auto.Stack{}, err
	}
	backend := filepath.Join(dir, "state")
	if err := os.Mkdir(backend, 0o700); err != nil {
		return auto.Stack{}, fmt.Errorf("make directory to look resources up: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(scratchProject), 0o600); err != nil {
		return auto.Stack{}, fmt.Errorf("write project to look resources up: %w", err)
	}
	env := maps.Clone(d.env)
	env["PULUMI_BACKEND_URL"] = "file://" + backend
	env["PULUMI_CONFIG_PASSPHRASE"] = "nothing is stored"
	ws, err := auto.NewLocalWorkspace(ctx, auto.WorkDir(dir), auto.Pulumi(command), auto.EnvVars(env),
		auto.PulumiHome(d.opts.PulumiHome), auto.Program(program), auto.SecretsProvider("passphrase"))
	if err != nil {
		return auto.Stack{}, fmt.Errorf("open workspace to look resources up: %w", err)
	}
	d.selecting.Lock()
	defer d.selecting.Unlock()
	stack, err := auto.NewStack(ctx, "lookup", ws)
	if err != nil {
		return auto.Stack{}, d.failure(ctx, failed{stack: "lookup", operation: "open", err: err})
	}
	return stack, nil
}

func taggedResources(p *pulumi.Context, c *config.Cluster) ([]taggedResource, error) {
	args := &aws.ProviderArgs{
		Region:            pulumi.String(c.Cloud.Region),
		AllowedAccountIds: pulumi.ToStringArray([]string{c.Cloud.Account}),
	}
	if c.Cloud.Profile != "" {
		args.Profile = pulumi.String(c.Cloud.Profile)
	}
	provider, err := aws.NewProvider(p, "lookup", args)
	if err != nil {
		return nil, err
	}
	res, err := resourcegroupstaggingapi.GetResources(p, &resourcegroupstaggingapi.GetResourcesArgs{
		TagFilters: []resourcegroupstaggingapi.GetResourcesTagFilter{{Key: ClusterTag, Values: []string{c.Name}}},
	}, pulumi.Provider(provider))
	if err != nil {
		return nil, err
	}
	out := make([]taggedResource, 0, len(res.ResourceTagMappingLists))
	for _, m := range res.ResourceTagMappingLists {
		out = append(out, taggedResource{ARN: m.ResourceArn, Tags: m.Tags})
	}
	return out, nil
}
