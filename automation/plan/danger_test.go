package plan

import "testing"

func TestDangerOf(t *testing.T) {
	for _, test := range []struct {
		token, id string
		want      Danger
	}{
		{"aws:eks/cluster:Cluster", "demo", ClusterDanger},
		{"aws:ec2/vpc:Vpc", "vpc-1", NetworkDanger},
		{"aws:ec2/subnet:Subnet", "subnet-1", NetworkDanger},
		{"aws:eks/nodeGroup:NodeGroup", "demo:system", NodeGroupDanger},
		{"aws:s3/bucketV2:BucketV2", "loki", DataDanger},
		{"aws:efs/fileSystem:FileSystem", "fs-1", DataDanger},
		{"aws:ebs/volume:Volume", "vol-1", DataDanger},
		{"aws:rds/instance:Instance", "db", DataDanger},
		{"aws:kms/key:Key", "key", DataDanger},
		{"aws:cloudwatch/logGroup:LogGroup", "/aws/eks/demo/cluster", DataDanger},
		{"kubernetes:core/v1:Namespace", "loki", DataDanger},
		{"kubernetes:core/v1:Secret", "argocd/cluster-demo", RegistrationDanger},
		{"kubernetes:core/v1:ConfigMap", "flux-system/infra-config", InfraConfigDanger},
		{"aws:cloudwatch/logGroup:LogGroup", "/other", ""},
		{"aws:sqs/queue:Queue", "karpenter", ""},
		{"kubernetes:core/v1:Secret", "argocd/other", ""},
		{"kubernetes:core/v1:Secret", "default/cluster-demo", ""},
		{"kubernetes:core/v1:ConfigMap", "flux-system/values", ""},
	} {
		for _, op := range Ops() {
			want := test.want
			if op != Delete && op != Replace {
				want = ""
			}
			if got := dangerOf(Resource{Type: test.token, ID: test.id, Op: op}); got != want {
				t.Errorf("%s of %s %s is %q, want %q", op, test.token, test.id, got, want)
			}
		}
	}
}
