package aws

import (
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/servicequotas"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/preflight"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/config/awsfacts"
)

// homeRegions are always enabled, by partition: another one may not be, and then
// does not even tell the caller's identity.
var homeRegions = map[string]string{"aws": "us-east-1", "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"}

// readFacts fills in what an account says, in a program that has no resources.
// Only a caller that is not known is an error.
func readFacts(p *pulumi.Context, c *config.Cluster, f *preflight.Facts) error {
	home, err := provider(p, c, "home", homeRegions[awsfacts.Partition(c.Cloud.Region)], nil)
	if err != nil {
		return err
	}
	caller, err := aws.GetCallerIdentity(p, &aws.GetCallerIdentityArgs{}, home)
	if err != nil {
		return err
	}
	f.Account, f.Identity = caller.AccountId, caller.Arn
	if f.Account != c.Cloud.Account {
		return nil // nothing else of it is of interest
	}
	regions, err := aws.GetRegions(p, &aws.GetRegionsArgs{}, home)
	if err != nil {
		f.RegionErr = pulumicli.FirstLine(err.Error())
	} else if f.Enabled = slices.Contains(regions.Names, c.Cloud.Region); !f.Enabled {
		return nil
	}
	here, err := provider(p, c, "here", c.Cloud.Region, nil)
	if err != nil {
		return err
	}
	for _, q := range accountQuotas() {
		f.Quotas[q.kind] = q.read(p, here)
	}
	readNamed(p, c, f, here)
	return nil
}

// provider is the one that core uses, without its tags, in a region. It refuses
// credentials of accounts that are not allowed; nil allows all.
func provider(p *pulumi.Context, c *config.Cluster, name, region string, allowed pulumi.StringArrayInput) (pulumi.InvokeOption, error) {
	args := &aws.ProviderArgs{Region: pulumi.String(region), AllowedAccountIds: allowed}
	if c.Cloud.Profile != "" {
		args.Profile = pulumi.String(c.Cloud.Profile)
	}
	if role := c.Cloud.AssumeRole; role != nil {
		assume := aws.ProviderAssumeRoleArgs{RoleArn: pulumi.String(role.RoleARN), SessionName: pulumi.String(role.SessionName)}
		if role.ExternalID != "" {
			assume.ExternalId = pulumi.String(role.ExternalID)
		}
		args.AssumeRole = assume
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
		{vpcs, "vpc", "L-F678F1CE", func(p *pulumi.Context, o pulumi.InvokeOption) (int, error) {
			found, err := ec2.GetVpcs(p, &ec2.GetVpcsArgs{}, o)
			if err != nil {
				return 0, err
			}
			return len(found.Ids), nil
		}},
		{addresses, "ec2", "L-0263D0A3", func(p *pulumi.Context, o pulumi.InvokeOption) (int, error) {
			found, err := ec2.GetEips(p, &ec2.GetEipsArgs{}, o)
			if err != nil {
				return 0, err
			}
			return len(found.PublicIps), nil
		}},
		{clusters, "eks", "L-1194D53C", func(p *pulumi.Context, o pulumi.InvokeOption) (int, error) {
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

// What a cluster needs from an account's quotas.
const (
	vpcs      preflight.Kind = "VPCs"
	addresses preflight.Kind = "Elastic IP addresses"
	clusters  preflight.Kind = "EKS clusters"
)

func quotaKinds() []preflight.Kind { return []preflight.Kind{vpcs, addresses, clusters} }

// lookupProvider looks into the cluster's account and region.
func lookupProvider(p *pulumi.Context, c *config.Cluster) (pulumi.InvokeOption, error) {
	return provider(p, c, "lookup", c.Cloud.Region, pulumi.ToStringArray([]string{c.Cloud.Account}))
}
