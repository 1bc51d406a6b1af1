package drift

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

const ec2 = "arn:aws:ec2:eu-central-1:111122223333:"

func TestSort(t *testing.T) {
	known := Know([]apitype.ResourceV3{
		{ID: "vpc-1"},
		{ID: "fs-1"},
		{ID: "demo"},
		{ID: "name", Outputs: map[string]any{"arn": "arn:aws:eks:eu-central-1:111122223333:cluster/demo"}},
		{ID: "a-1", Outputs: map[string]any{"associationArn": "arn:aws:eks:eu-central-1:111122223333:podidentityassociation/demo/a-1"}},
		{ID: "arn:aws:acm:eu-central-1:111122223333:certificate/1"},
		{ID: "subnet-2,owner", Inputs: map[string]any{"resourceId": "subnet-2"}},
	}, nil)
	seen := []Sighting{
		{ARN: ec2 + "vpc/vpc-1"},
		{ARN: ec2 + "subnet/subnet-2"},
		{ARN: "arn:aws:elasticfilesystem:eu-central-1:111122223333:file-system/fs-1"},
		{ARN: "arn:aws:eks:eu-central-1:111122223333:cluster/demo"},
		{ARN: "arn:aws:eks:eu-central-1:111122223333:podidentityassociation/demo/a-1"},
		{ARN: "arn:aws:acm:eu-central-1:111122223333:certificate/1"},
		{ARN: ec2 + "security-group/sg-1"},
		{ARN: ec2 + "instance/i-1", Tags: map[string]string{"karpenter.sh/nodepool": "default"}},
		{ARN: ec2 + "instance/i-2", Tags: map[string]string{"eks:nodegroup-name": "system"}},
		{ARN: ec2 + "volume/vol-1", Tags: map[string]string{"eks:nodegroup-name": "system"}},
		// A log group with the name of something else is something else.
		{ARN: "arn:aws:logs:eu-central-1:111122223333:log-group:demo"},
		{ARN: "arn:aws:sqs:eu-central-1:111122223333:stray"},
	}
	found, left := Sort(seen, known)
	wantFound := []Difference{
		{Class: Unexpected, Type: "ec2:security-group", Name: "sg-1", ARN: ec2 + "security-group/sg-1"},
		{Class: Unexpected, Type: "logs:log-group", Name: "demo", ARN: "arn:aws:logs:eu-central-1:111122223333:log-group:demo"},
		{Class: Unexpected, Type: "sqs", Name: "stray", ARN: "arn:aws:sqs:eu-central-1:111122223333:stray"},
	}
	if diff := cmp.Diff(wantFound, found); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	wantLeft := []LeftOut{{Maker: "EKS node groups", Count: 2}, {Maker: "Karpenter", Count: 1}}
	if diff := cmp.Diff(wantLeft, left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestAddOrders(t *testing.T) {
	var r Report
	r.Add(Difference{Class: Unexpected, ARN: "1"})
	r.Add(
		Difference{Class: Changed, Stack: "demo-bootstrap", Type: "a", Name: "2"},
		Difference{Class: Changed, Stack: "demo-core", Type: "b", Name: "3"},
		Difference{Class: Changed, Stack: "demo-core", Type: "a", Name: "4"},
		Difference{Class: Missing, Stack: "demo-bootstrap", Name: "5"},
	)
	var order string
	for _, d := range r.Differences {
		order += d.Name + d.ARN
	}
	if order != "54321" {
		t.Errorf("the order is %s, want 54321", order)
	}
	if r.Count(Changed) != 3 || !r.Drifted() || (Report{}).Drifted() {
		t.Errorf("%d changed, drifted %t", r.Count(Changed), r.Drifted())
	}
}
