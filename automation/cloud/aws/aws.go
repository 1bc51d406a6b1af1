// Package aws is AWS for the driver: what credentials, account and quotas a cluster
// needs, how a resource is found again, whose it is, who makes resources besides the
// stacks, what is dangerous, and what holds data.
//
// The cloud is asked through the provider that core uses, in programs that do nothing
// else, on stacks that are thrown away. So it has the same credentials, and no cloud
// SDK is needed here.
package aws

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/plan"
	"tombolo/automation/pulumicli"
	"tombolo/automation/teardown"
)

// Cloud is AWS.
type Cloud struct {
	// Pulumi runs the programs that ask. Required by Lookup, Facts, Find and Remove.
	Pulumi *pulumicli.CLI
}

// Types that more than one table names.
const (
	clusterType = "aws:eks/cluster:Cluster"
	vpcType     = "aws:ec2/vpc:Vpc"
)

// ClusterType is the type of the managed cluster.
func (Cloud) ClusterType() string { return clusterType }

// Network is the id of the VPC that core has made; "" when it uses another's.
func (Cloud) Network(core []apitype.ResourceV3) string {
	for _, r := range core {
		if r.Type == vpcType && !r.Delete && strings.HasPrefix(string(r.ID), "vpc-") && !r.External {
			return string(r.ID)
		}
	}
	return ""
}

// data says what types have to do with what people keep. A type that is not listed
// has nothing to do with it, but for what Data adds.
var data = map[string]teardown.Data{
	"aws:dynamodb/table:Table":          teardown.HoldsData,
	"aws:ebs/snapshot:Snapshot":         teardown.HoldsData,
	"aws:efs/backupPolicy:BackupPolicy": teardown.GuardsData,
	"aws:efs/fileSystem:FileSystem":     teardown.HoldsData,
	"aws:rds/cluster:Cluster":           teardown.HoldsData,
	"aws:rds/instance:Instance":         teardown.HoldsData,
	"aws:s3/bucket:Bucket":              teardown.HoldsData,
	"aws:s3/bucketV2:BucketV2":          teardown.HoldsData,
}

// Data says what the type has to do with data that people keep. What is set on a
// bucket guards it: the policy of a bucket goes with the bucket.
func (Cloud) Data(token string) teardown.Data {
	if d, ok := data[token]; ok {
		return d
	}
	if strings.HasPrefix(token, "aws:s3/bucket") {
		return teardown.GuardsData
	}
	return teardown.NoData
}

// Danger of deleting or replacing a resource. The key that data is encrypted by
// counts as the data. So does a volume, which may be a claim's, and the cluster's log group: the audit log of its API is in it.
func (a Cloud) Danger(token, id string) plan.Danger {
	switch token {
	case clusterType:
		return plan.ClusterDanger
	case vpcType, "aws:ec2/subnet:Subnet":
		return plan.NetworkDanger
	case "aws:eks/nodeGroup:NodeGroup":
		return plan.NodeGroupDanger
	case "aws:kms/key:Key", "aws:ebs/volume:Volume":
		return plan.DataDanger
	case "aws:cloudwatch/logGroup:LogGroup":
		if strings.HasPrefix(id, "/aws/eks/") {
			return plan.DataDanger
		}
	}
	if a.Data(token) == teardown.HoldsData {
		return plan.DataDanger
	}
	return ""
}
