package aws

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/plan"
	"tombolo/automation/teardown"
)

func TestDanger(t *testing.T) {
	for _, test := range []struct {
		token, id string
		want      plan.Danger
	}{
		{"aws:eks/cluster:Cluster", "demo", plan.ClusterDanger},
		{"aws:ec2/vpc:Vpc", "vpc-1", plan.NetworkDanger},
		{"aws:ec2/subnet:Subnet", "subnet-1", plan.NetworkDanger},
		{"aws:eks/nodeGroup:NodeGroup", "demo:system", plan.NodeGroupDanger},
		{"aws:s3/bucketV2:BucketV2", "loki", plan.DataDanger},
		{"aws:efs/fileSystem:FileSystem", "fs-1", plan.DataDanger},
		{"aws:ebs/volume:Volume", "vol-1", plan.DataDanger},
		{"aws:rds/instance:Instance", "db", plan.DataDanger},
		{"aws:kms/key:Key", "key", plan.DataDanger},
		{"aws:cloudwatch/logGroup:LogGroup", "/aws/eks/demo/cluster", plan.DataDanger},
		{"aws:cloudwatch/logGroup:LogGroup", "/other", ""},
		{"aws:sqs/queue:Queue", "karpenter", ""},
	} {
		assert.Check(t, is.Equal((Cloud{}).Danger(test.token, test.id), test.want), "danger of %s %s", test.token, test.id)
	}
}

// TestWhatIsKeptIsDangerous: what a destruction keeps as data is data in a plan too.
func TestWhatIsKeptIsDangerous(t *testing.T) {
	for token, d := range data {
		if danger := (Cloud{}).Danger(token, ""); d == teardown.HoldsData && danger != plan.DataDanger {
			t.Errorf("%s holds data, and its danger is %q", token, danger)
		}
	}
	assert.Check(t, is.Equal((Cloud{}).Data("aws:s3/bucketPolicy:BucketPolicy"), teardown.GuardsData), "a bucket's policy")
	assert.Check(t, is.Equal((Cloud{}).Data("aws:ec2/vpc:Vpc"), teardown.NoData), "a VPC")
}
