package automation

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/servicequotas"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/preflight"
	"tombolo/automation/pulumicli"
	"tombolo/config"
)

// factsTimeout bounds the look at an account. AWS answers within seconds; what
// takes longer waits for credentials that do not come.
const factsTimeout = 2 * time.Minute

// account is what the credentials of a cluster file lead to.
type account struct{ account, region, profile string }

func accountOf(c *config.Cluster) account {
	return account{c.Cloud.Account, c.Cloud.Region, c.Cloud.Profile}
}

// inspections are the looks at accounts of one driver: however many clusters are
// in an account and region, it is asked once.
type inspections struct {
	mu   sync.Mutex
	each map[account]func() preflight.Facts
}

// facts asks the cluster's account and region, or remembers what it said.
func (d *Driver) facts(ctx context.Context, c *config.Cluster) preflight.Facts {
	key := accountOf(c)
	d.inspected.mu.Lock()
	if d.inspected.each == nil {
		d.inspected.each = map[account]func() preflight.Facts{}
	}
	look, ok := d.inspected.each[key]
	if !ok {
		look = sync.OnceValue(func() preflight.Facts { return d.inspect(ctx, c) })
		d.inspected.each[key] = look
	}
	d.inspected.mu.Unlock()
	return look()
}

// askAccount asks through the provider that core uses, as lookUp does. What
// cannot be told is told in the facts.
func (d *Driver) askAccount(ctx context.Context, c *config.Cluster) preflight.Facts {
	ctx, cancel := context.WithTimeout(ctx, factsTimeout)
	defer cancel()
	f := preflight.Facts{Region: c.Cloud.Region, Quotas: map[preflight.Kind]preflight.Quota{}}
	dir, err := os.MkdirTemp("", "tombolo-doctor-")
	if err != nil {
		f.Err = err.Error()
		return f
	}
	defer os.RemoveAll(dir)
	stack, err := d.pulumi.Scratch(ctx, dir, func(p *pulumi.Context) error { return readFacts(p, c, &f) })
	rec := &pulumicli.Recorder{}
	if err == nil {
		err = pulumicli.Observed(rec.Record, func(ch chan<- events.EngineEvent) error {
			_, err := stack.Preview(ctx, optpreview.EventStreams(ch))
			return err
		})
	}
	if err != nil && f.Err == "" {
		failure := d.pulumi.Failure(ctx, pulumicli.Failed{Stack: c.Name, Operation: "ask the account of", Err: err, Record: rec})
		f.Err = failure.Error()
		if command := new(pulumicli.Error); errors.As(failure, &command) {
			f.Err = command.Reasons[0]
		}
	}
	return f
}

// homeRegions are always enabled, by partition: another one may not be, and then
// does not even say who asks.
var homeRegions = map[string]string{"aws": "us-east-1", "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"}

// readFacts fills in what an account says. Only who asks is worth an error.
func readFacts(p *pulumi.Context, c *config.Cluster, f *preflight.Facts) error {
	home, err := provider(p, c, "home", homeRegions[config.Partition(c.Cloud.Region)])
	if err != nil {
		return err
	}
	caller, err := aws.GetCallerIdentity(p, &aws.GetCallerIdentityArgs{}, home)
	if err != nil {
		return err
	}
	f.Account, f.ARN = caller.AccountId, caller.Arn
	if f.Account != c.Cloud.Account {
		return nil // nothing else of it is of interest
	}
	regions, err := aws.GetRegions(p, &aws.GetRegionsArgs{}, home)
	if err != nil {
		f.RegionErr = pulumicli.FirstLine(err.Error())
	} else if f.Enabled = slices.Contains(regions.Names, c.Cloud.Region); !f.Enabled {
		return nil
	}
	here, err := provider(p, c, "here", c.Cloud.Region)
	if err != nil {
		return err
	}
	for _, q := range accountQuotas() {
		f.Quotas[q.kind] = q.read(p, here)
	}
	return nil
}

func provider(p *pulumi.Context, c *config.Cluster, name, region string) (pulumi.InvokeOption, error) {
	args := &aws.ProviderArgs{Region: pulumi.String(region)}
	if c.Cloud.Profile != "" {
		args.Profile = pulumi.String(c.Cloud.Profile)
	}
	made, err := aws.NewProvider(p, name, args)
	return pulumi.Provider(made), err
}

// accountQuota says how a quota, and what is used of it, is asked for.
type accountQuota struct {
	kind          preflight.Kind
	service, code string
	used          func(*pulumi.Context, pulumi.InvokeOption) (int, error)
}

// accountQuotas are those that a cluster counts against. Source of the codes:
// https://docs.aws.amazon.com/general/latest/gr/vpc-service.html, and those of
// EC2 and EKS.
func accountQuotas() []accountQuota {
	return []accountQuota{
		{preflight.VPCs, "vpc", "L-F678F1CE", func(p *pulumi.Context, o pulumi.InvokeOption) (int, error) {
			found, err := ec2.GetVpcs(p, &ec2.GetVpcsArgs{}, o)
			if err != nil {
				return 0, err
			}
			return len(found.Ids), nil
		}},
		{preflight.Addresses, "ec2", "L-0263D0A3", func(p *pulumi.Context, o pulumi.InvokeOption) (int, error) {
			found, err := ec2.GetEips(p, &ec2.GetEipsArgs{}, o)
			if err != nil {
				return 0, err
			}
			return len(found.PublicIps), nil
		}},
		{preflight.Clusters, "eks", "L-1194D53C", func(p *pulumi.Context, o pulumi.InvokeOption) (int, error) {
			found, err := eks.GetClusters(p, o)
			if err != nil {
				return 0, err
			}
			return len(found.Names), nil
		}},
	}
}

func (q accountQuota) read(p *pulumi.Context, o pulumi.InvokeOption) preflight.Quota {
	limit, err := servicequotas.LookupServiceQuota(p, &servicequotas.LookupServiceQuotaArgs{ServiceCode: q.service, QuotaCode: &q.code}, o)
	if err != nil {
		return preflight.Quota{Err: pulumicli.FirstLine(err.Error())}
	}
	used, err := q.used(p, o)
	if err != nil {
		return preflight.Quota{Err: pulumicli.FirstLine(err.Error())}
	}
	return preflight.Quota{Limit: int(limit.Value), Used: used}
}
