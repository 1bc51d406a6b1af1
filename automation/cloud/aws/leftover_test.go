package aws

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/kube"
	"tombolo/automation/teardown"
)

func TestIdentify(t *testing.T) {
	const account = "eu-central-1:111122223333:"
	for _, test := range []struct{ arn, says, id string }{
		{"arn:aws:elasticloadbalancing:" + account + "loadbalancer/net/k8s-front/1", "load balancer arn:aws:elasticloadbalancing:" + account + "loadbalancer/net/k8s-front/1", ""},
		{"arn:aws:elasticloadbalancing:" + account + "loadbalancer/a1b2", "classic load balancer a1b2", "a1b2"},
		{"arn:aws:ec2:" + account + "volume/vol-1", "volume vol-1", "vol-1"},
		{"arn:aws:ec2:" + account + "security-group/sg-1", "security group sg-1", "sg-1"},
		{"arn:aws:s3:::logs", "bucket logs", "logs"},
		{"arn:aws:logs:" + account + "log-group:/aws/eks/demo/cluster", "log group /aws/eks/demo/cluster", "/aws/eks/demo/cluster"},
		{"arn:aws-cn:sqs:cn-north-1:111122223333:demo", "queue https://sqs.cn-north-1.amazonaws.com.cn/111122223333/demo", ""},
		{"arn:aws:dynamodb:" + account + "table/x", "dynamodb resource arn:aws:dynamodb:" + account + "table/x", ""},
		{"nonsense", "resource nonsense", "nonsense"},
	} {
		got, ok := Identify(test.arn, nil)
		if !ok || got.String() != test.says || test.id != "" && got.ID != test.id {
			t.Errorf("%s is %q with the id %q, want %q", test.arn, got, got.ID, test.says)
		}
	}
	for _, part := range []string{"elasticloadbalancing:" + account + "listener/net/k8s-front/1/2", "ec2:" + account + "security-group-rule/sgr-1"} {
		l, ok := Identify("arn:aws:"+part, nil)
		assert.Check(t, !ok, "%s is %s, and not part of another", part, l)
	}
	if named, _ := Identify("arn:aws:ec2:"+account+"volume/vol-1", map[string]string{"Name": "data"}); named.String() != "volume vol-1 (data)" {
		t.Errorf("with a name it is %s", named)
	}
}

func TestGoesWithCore(t *testing.T) {
	for _, test := range []struct {
		what, tag string
		want      bool
	}{
		{"instance/i-1", "eks:nodegroup-name", true},
		{"instance/i-1", "karpenter.sh/nodepool", false},
		{"volume/vol-1", "eks:nodegroup-name", true},
		{"volume/vol-1", "CSIVolumeName", false},
		{"security-group/sg-1", "aws:eks:cluster-name", true},
		{"security-group/sg-1", "elbv2.k8s.aws/cluster", false},
		{"network-interface/eni-1", "node.k8s.amazonaws.com/instance_id", true},
		{"network-interface/eni-1", "elbv2.k8s.aws/cluster", false},
		{"vpc/vpc-1", "tombolo:cluster", false},
	} {
		l, _ := Identify("arn:aws:ec2:eu-central-1:111122223333:"+test.what, map[string]string{test.tag: "demo"})
		assert.Check(t, l.GoesWithCore == test.want, "%s with tag %s goes with core: %v", l, test.tag, !test.want)
	}
}

// TestPasses: only what a controller makes goes by itself.
func TestPasses(t *testing.T) {
	for _, test := range []struct {
		what string
		want bool
	}{
		{"elasticloadbalancing:r:1:loadbalancer/net/k8s-front/1", true},
		{"ec2:r:1:instance/i-1", true},
		{"ec2:r:1:network-interface/eni-1", true},
		{"ec2:r:1:vpc/vpc-1", false},
		{"ec2:r:1:elastic-ip/eipalloc-1", false},
		{"ec2:r:1:natgateway/nat-1", false},
		{"ec2:r:1:vpc-endpoint/vpce-1", false},
		{"eks:r:1:cluster/demo", false},
	} {
		l, _ := Identify("arn:aws:"+test.what, map[string]string{"tombolo:cluster": "demo"})
		assert.Check(t, l.Passes == test.want, "%s passes: %v", l, !test.want)
	}
}

func TestSort(t *testing.T) {
	var all []teardown.Leftover
	for _, a := range []string{"ec2:r:1:vpc/vpc-1", "ec2:r:1:security-group/sg-1", "elasticloadbalancing:r:1:targetgroup/t/1", "elasticloadbalancing:r:1:loadbalancer/old", "ec2:r:1:volume/vol-1"} {
		l, _ := Identify("arn:aws:"+a, nil)
		all = append(all, l)
	}
	teardown.Sort(all)
	want := "classic load balancer old, target group arn:aws:elasticloadbalancing:r:1:targetgroup/t/1, volume vol-1, security group sg-1, VPC vpc-1"
	assert.Check(t, is.Equal(kube.Names(all, 5), want), "the order")
}
