package aws

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/recovery"
	"tombolo/config"
	"tombolo/internal/names"
)

var demo = &config.Cluster{Cloud: config.Cloud{Region: "eu-central-1", Account: "111122223333"}}

func TestDerivedIDs(t *testing.T) {
	for _, tt := range []struct {
		token string
		in    recovery.Inputs
		want  string
	}{
		{"aws:eks/cluster:Cluster", recovery.Inputs{"name": "demo"}, "demo"},
		{"aws:eks/nodeGroup:NodeGroup", recovery.Inputs{"clusterName": "demo", "nodeGroupName": "ng"}, "demo:ng"},
		{"aws:eks/addon:Addon", recovery.Inputs{"clusterName": "demo", "addonName": "vpc-cni"}, "demo:vpc-cni"},
		{"aws:eks/accessEntry:AccessEntry", recovery.Inputs{"clusterName": "demo", "principalArn": "arn:x"}, "demo:arn:x"},
		{
			"aws:iam/openIdConnectProvider:OpenIdConnectProvider",
			recovery.Inputs{"url": "https://oidc.example/id/1"},
			"arn:aws:iam::111122223333:oidc-provider/oidc.example/id/1",
		},
		{"aws:cloudwatch/eventRule:EventRule", recovery.Inputs{"name": "demo-spot", "eventBusName": "default"}, "demo-spot"},
		{"aws:cloudwatch/eventRule:EventRule", recovery.Inputs{"name": "demo-spot", "eventBusName": "other"}, "other/demo-spot"},
		{"aws:cloudwatch/eventRule:EventRule", recovery.Inputs{"eventBusName": "other"}, ""},
		{"aws:cloudwatch/eventTarget:EventTarget", recovery.Inputs{"rule": "demo-spot", "targetId": "queue"}, "demo-spot/queue"},
		{"aws:ec2/tag:Tag", recovery.Inputs{"resourceId": "sg-1", "key": "karpenter.sh/discovery", "value": "demo"}, "sg-1,karpenter.sh/discovery"},
		{"aws:efs/backupPolicy:BackupPolicy", recovery.Inputs{"fileSystemId": "fs-1"}, "fs-1"},
		{"aws:iam/instanceProfile:InstanceProfile", recovery.Inputs{"name": "demo-karpenter-node", "role": "r"}, "demo-karpenter-node"},
		{"aws:iam/policy:Policy", recovery.Inputs{"name": "p"}, "arn:aws:iam::111122223333:policy/p"},
		{
			"aws:ec2/securityGroupRule:SecurityGroupRule",
			recovery.Inputs{"securityGroupId": "sg-1", "type": "ingress", "protocol": "tcp", "fromPort": 443.0, "toPort": 443.0, "sourceSecurityGroupId": "sg-2"},
			"sg-1_ingress_tcp_443_443_sg-2",
		},
		{
			"aws:ec2/securityGroupRule:SecurityGroupRule",
			recovery.Inputs{"securityGroupId": "sg-1", "type": "ingress", "protocol": "-1", "fromPort": 0.0, "toPort": 0.0, "self": true},
			"sg-1_ingress_all_0_0_self",
		},
		{
			"aws:ec2/securityGroupRule:SecurityGroupRule",
			recovery.Inputs{"securityGroupId": "sg-1", "type": "egress", "protocol": "-1", "cidrBlocks": []any{"0.0.0.0/0"}, "self": false},
			"sg-1_egress_all_0_0_0.0.0.0/0",
		},
		{"aws:ec2/securityGroupRule:SecurityGroupRule", recovery.Inputs{"securityGroupId": "sg-1", "type": "egress", "protocol": "tcp"}, ""},
		{
			"aws:route53/record:Record",
			recovery.Inputs{"zoneId": "Z1", "name": "_A1.Demo.example.com.", "type": "CNAME"},
			"Z1__a1.demo.example.com_CNAME",
		},
		{"aws:route53/record:Record", recovery.Inputs{"zoneId": "Z1", "name": "a.example.com", "type": "A", "setIdentifier": "blue"}, "Z1_a.example.com_A_blue"},
		{"aws:route53/record:Record", recovery.Inputs{"zoneId": "Z1", "type": "A", "setIdentifier": "blue"}, ""},
		{"aws:s3/bucketV2:BucketV2", recovery.Inputs{"bucket": "demo-loki"}, "demo-loki"},
		{"aws:s3/bucketPolicy:BucketPolicy", recovery.Inputs{"bucket": "demo-loki", "policy": "{}"}, "demo-loki"},
		{"aws:sqs/queue:Queue", recovery.Inputs{"name": "demo-events"}, "https://sqs.eu-central-1.amazonaws.com/111122223333/demo-events"},
		{"aws:sqs/queue:Queue", recovery.Inputs{}, ""},
		{"aws:sqs/queuePolicy:QueuePolicy", recovery.Inputs{"queueUrl": "https://sqs.example/q"}, "https://sqs.example/q"},
		{"aws:iam/role:Role", recovery.Inputs{}, ""},
		{"aws:iam/role:Role", recovery.Inputs{"name": map[string]any{"ciphertext": "x"}}, ""},
	} {
		f, ok := Cloud{}.Finder(tt.token)
		if !ok || f.ID == nil {
			t.Errorf("%s has no derived id", tt.token)
			continue
		}
		assert.Check(t, is.Equal(f.ID(tt.in, demo), tt.want), "id of %s from %v", tt.token, tt.in)
	}
}

func TestIDsInOtherPartitions(t *testing.T) {
	for region, want := range map[string]struct{ role, queue string }{
		"cn-north-1": {
			"arn:aws-cn:iam::111122223333:policy/p", "https://sqs.cn-north-1.amazonaws.com.cn/111122223333/q",
		},
		"us-gov-west-1": {
			"arn:aws-us-gov:iam::111122223333:policy/p", "https://sqs.us-gov-west-1.amazonaws.com/111122223333/q",
		},
	} {
		in := scopeOf(&config.Cluster{Cloud: config.Cloud{Region: region, Account: "111122223333"}})
		assert.Check(t, is.Equal(finders["aws:iam/policy:Policy"].id(recovery.Inputs{"name": "p"}, in), want.role), "policy in %s", region)
		assert.Check(t, is.Equal(finders["aws:sqs/queue:Queue"].id(recovery.Inputs{"name": "q"}, in), want.queue), "queue in %s", region)
	}
}

// TestLookedUpIDs has ARNs as the tagging API gives them.
func TestLookedUpIDs(t *testing.T) {
	const in = ":eu-central-1:111122223333:"
	for _, tt := range []struct{ token, arn, want string }{
		{"aws:acm/certificate:Certificate", "arn:aws:acm" + in + "certificate/c-1", "arn:aws:acm" + in + "certificate/c-1"},
		{"aws:efs/fileSystem:FileSystem", "arn:aws:elasticfilesystem" + in + "file-system/fs-1", "fs-1"},
		{"aws:efs/fileSystem:FileSystem", "arn:aws:elasticfilesystem" + in + "access-point/fsap-1", ""},
		{"aws:eks/podIdentityAssociation:PodIdentityAssociation", "arn:aws:eks" + in + "podidentityassociation/demo/a-1", "demo,a-1"},
		{"aws:ec2/vpc:Vpc", "arn:aws:ec2" + in + "vpc/vpc-1", "vpc-1"},
		{"aws:kms/key:Key", "arn:aws:kms" + in + "key/k-1", "k-1"},
	} {
		tags := map[string]string{"Name": "demo", names.ClusterTag: "demo"}
		id, _ := finders[tt.token].match(recovery.Sighting{CloudID: tt.arn, Tags: tags}, recovery.Inputs{
			"clusterName": "demo", "tags": map[string]any{"Name": "demo"},
		})
		assert.Check(t, id == tt.want, "id of %s from %s is %q, want %q", tt.token, tt.arn, id, tt.want)
	}
}

func TestEveryFinderFinds(t *testing.T) {
	for token, f := range finders {
		ways := 0
		for _, has := range []bool{f.id != nil, f.arn != "", f.attached != nil, f.again} {
			if has {
				ways++
			}
		}
		assert.Check(t, ways == 1, "%s has %d of a derived id, a kind of ARN, an interface and a new start, want 1", token, ways)
		if f.arn != "" && !strings.Contains(f.arn, ":") {
			t.Errorf("%s: %q is not service:type", token, f.arn)
		}
	}
}
