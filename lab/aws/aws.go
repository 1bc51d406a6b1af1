// Package aws is the lab's stand-in for AWS: the services that the engine of
// lab/standin has, a package each, and one account of them.
package aws

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/acm"
	"tombolo/lab/aws/apimodel"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/efs"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/elb"
	"tombolo/lab/aws/events"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/kms"
	"tombolo/lab/aws/logs"
	"tombolo/lab/aws/route53"
	"tombolo/lab/aws/s3"
	"tombolo/lab/aws/secretsmanager"
	"tombolo/lab/aws/servicequotas"
	"tombolo/lab/aws/sqs"
	"tombolo/lab/aws/ssm"
	"tombolo/lab/aws/sts"
	"tombolo/lab/aws/tagging"
	"tombolo/lab/standin"
)

// version of the provider that is simulated: the one of the Go SDK in go.mod.
const version = "6.83.2"

// Open loads the account that is kept in dir, or makes an empty one there. The
// account owns two things that no stack makes: the public hosted zone LabZoneID
// of the domain LabZoneName, and the secret LabSecret. Without Options.Account it is 111122223333, without
// Options.Region in eu-central-1.
func Open(dir string, o standin.Options) (*standin.Cloud, error) {
	o.Account = cmp.Or(o.Account, "111122223333")
	o.Region = cmp.Or(o.Region, "eu-central-1")
	if _, known := account.Regions[o.Region]; !known {
		return nil, fmt.Errorf("open the AWS stand-in: invalid AWS Region: %s", o.Region)
	}
	c, err := standin.Open(dir, catalogue(), o)
	if err == nil {
		err = errors.Join(route53.OwnZone(c), secretsmanager.OwnSecret(c))
	}
	if err != nil {
		return nil, fmt.Errorf("open the AWS stand-in: %w", err)
	}
	return c, nil
}

// Stored lists what a Cloud has left in dir and would find there again, in the
// order of Inventory. It changes nothing; a directory that does not exist holds
// nothing.
func Stored(dir string) ([]standin.Item, error) {
	found, err := standin.Stored(dir, names())
	if err != nil {
		return nil, fmt.Errorf("read the state of the AWS stand-in: %w", err)
	}
	return found, nil
}

// names are the outputs that can be a resource's own name.
func names() []string {
	return []string{"name", "nodeGroupName", "addonName", "bucket", "domainName"}
}

// catalogue is what the stand-in knows of AWS. A service is added by its types
// and functions.
func catalogue() *standin.Catalogue {
	configuration := account.Configuration()
	configuration.Caller = sts.ProviderARN
	return &standin.Catalogue{
		Cloud: "AWS", Version: version,
		Types: allTypes(), Functions: allFunctions(),
		Configuration: configuration,
		Answers:       account.Answers{},
		LimitExceeded: standin.Refusal{Code: "LimitExceededException", Message: limitReached},
		Reference:     "arn",
		Names:         names(),
		AllTags:       "tagsAll",
		CheckTags:     account.ValidateTags,
		Resumed:       []standin.Resumption{{Type: eks.ClusterType}, {Type: eks.NodeGroupType, Within: "clusterName"}},
	}
}

// inNetworks is what the services have in EC2's networks.
func inNetworks() ec2.Neighbours {
	return ec2.Neighbours{
		Interfaces: []func(c *standin.Call) []*standin.Record{efs.Interfaces, elb.Interfaces, eks.Interfaces},
		Public:     []func(c *standin.Call, vpc string) bool{elb.HasPublic},
	}
}

func allTypes() map[string]*standin.Type {
	types := map[string]*standin.Type{}
	for _, service := range []map[string]*standin.Type{
		ec2.Types(inNetworks()), iam.Types(), eks.Types(), kms.Types(), logs.Types(), sqs.Types(), events.Types(),
		route53.Types(acm.Issue), acm.Types(), efs.Types(), s3.Types(), elb.Types(), ssm.Types(),
	} {
		maps.Copy(types, service)
	}
	for token, typ := range types {
		typ.Validate = withModel(token, typ.Validate)
		if code := quotas[token]; code != "" {
			typ.LimitExceeded = standin.Refusal{Code: code, Message: limitReached}
		}
	}
	return types
}

const limitReached = "The quota of the account has been reached."

// quotas are the codes with which a quota ends the creation of a resource, of
// types that have no message of their own for it. The test holds them against
// AWS's models.
var quotas = map[string]string{
	ec2.SubnetType: "SubnetLimitExceeded", ec2.RouteTableType: "RouteTableLimitExceeded", ec2.RouteType: "RouteLimitExceeded",
	ec2.EndpointType: "VpcEndpointLimitExceeded", ec2.InstanceType: "InstanceLimitExceeded",
	ec2.VolumeType: "VolumeLimitExceeded", ec2.LaunchTemplateType: "MaxTemplateLimitExceeded",
	ec2.GroupRuleType: "RulesPerSecurityGroupLimitExceeded", ec2.IngressRuleType: "RulesPerSecurityGroupLimitExceeded",
	ec2.EgressRuleType: "RulesPerSecurityGroupLimitExceeded", ec2.TagType: "TagLimitExceeded",
	iam.PolicyType: "LimitExceeded", iam.RolePolicyType: "LimitExceeded", iam.AttachmentType: "LimitExceeded",
	iam.OIDCProviderType: "LimitExceeded", iam.InstanceProfileType: "LimitExceeded",
	eks.AccessEntryType: "ResourceLimitExceededException", eks.PodIdentityType: "ResourceLimitExceededException",
	efs.FileSystemType: "FileSystemLimitExceeded", efs.MountTargetType: "NetworkInterfaceLimitExceeded",
	elb.LoadBalancerType: "TooManyLoadBalancers", elb.TargetGroupType: "TooManyTargetGroups", elb.ListenerType: "TooManyListeners",
	s3.BucketType: "TooManyBuckets",
}

// withModel holds inputs against AWS's model of the call, too, after what the
// type itself checks.
func withModel(token string, own func(standin.Props) []standin.Problem) func(standin.Props) []standin.Problem {
	return func(in standin.Props) []standin.Problem {
		if own != nil {
			if problems := own(in); len(problems) > 0 {
				return problems
			}
		}
		return apimodel.Check(token, in)
	}
}

func allFunctions() map[string]*standin.Function {
	functions := map[string]*standin.Function{}
	for _, service := range []map[string]*standin.Function{
		account.Functions(), ec2.Functions(inNetworks()), iam.Functions(), eks.Functions(), kms.Functions(), ssm.Functions(),
		tagging.Functions(), route53.Functions(), servicequotas.Functions(), logs.Functions(),
	} {
		maps.Copy(functions, service)
	}
	return functions
}
