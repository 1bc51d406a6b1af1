package drift_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"

	"tombolo/automation/cloud/aws"
	"tombolo/automation/cloud/azure"
	"tombolo/automation/drift"
)

const ec2 = "arn:aws:ec2:eu-central-1:111122223333:"

func TestSort(t *testing.T) {
	known := drift.Know([]apitype.ResourceV3{
		{ID: "vpc-1"},
		{ID: "fs-1"},
		{ID: "demo"},
		{ID: "name", Outputs: map[string]any{"arn": "arn:aws:eks:eu-central-1:111122223333:cluster/demo"}},
		{ID: "a-1", Outputs: map[string]any{"associationArn": "arn:aws:eks:eu-central-1:111122223333:podidentityassociation/demo/a-1"}},
		{ID: "arn:aws:acm:eu-central-1:111122223333:certificate/1"},
		{ID: "subnet-2,owner", Inputs: map[string]any{"resourceId": "subnet-2"}},
	}, nil)
	seen := []drift.Sighting{
		{CloudID: ec2 + "vpc/vpc-1"},
		{CloudID: ec2 + "subnet/subnet-2"},
		{CloudID: "arn:aws:elasticfilesystem:eu-central-1:111122223333:file-system/fs-1"},
		{CloudID: "arn:aws:eks:eu-central-1:111122223333:cluster/demo"},
		{CloudID: "arn:aws:eks:eu-central-1:111122223333:podidentityassociation/demo/a-1"},
		{CloudID: "arn:aws:acm:eu-central-1:111122223333:certificate/1"},
		{CloudID: ec2 + "security-group/sg-1"},
		{CloudID: ec2 + "instance/i-1", Tags: map[string]string{"karpenter.sh/nodepool": "default"}},
		{CloudID: ec2 + "instance/i-2", Tags: map[string]string{"eks:nodegroup-name": "system"}},
		{CloudID: ec2 + "volume/vol-1", Tags: map[string]string{"eks:nodegroup-name": "system"}},
		// A log group with the name of something else is something else.
		{CloudID: "arn:aws:logs:eu-central-1:111122223333:log-group:demo"},
		{CloudID: "arn:aws:sqs:eu-central-1:111122223333:stray"},
	}
	found, left := drift.Sort(aws.Cloud{}, seen, known)
	assert.DeepEqual(t, found, []drift.Difference{
		{Class: drift.Unexpected, Type: "ec2:security-group", Name: "sg-1", CloudID: ec2 + "security-group/sg-1"},
		{Class: drift.Unexpected, Type: "logs:log-group", Name: "demo", CloudID: "arn:aws:logs:eu-central-1:111122223333:log-group:demo"},
		{Class: drift.Unexpected, Type: "sqs", Name: "stray", CloudID: "arn:aws:sqs:eu-central-1:111122223333:stray"},
	})
	wantLeft := []drift.LeftOut{{Maker: "EKS node groups", Count: 2}, {Maker: "Karpenter", Count: 1}}
	assert.DeepEqual(t, left, wantLeft)
}

// TestSortOnAzure: an id is the same in any case, and what AKS has made is nobody's drift.
func TestSortOnAzure(t *testing.T) {
	const group = "/subscriptions/s/resourceGroups/demo"
	known := drift.Know([]apitype.ResourceV3{{ID: group + "/providers/Microsoft.Network/virtualNetworks/demo"}})
	found, left := drift.Sort(azure.Cloud{}, []drift.Sighting{
		{CloudID: "/subscriptions/s/resourcegroups/DEMO/providers/microsoft.network/virtualNetworks/demo"},
		{CloudID: group + "-nodes/providers/Microsoft.Network/loadBalancers/kubernetes", Tags: map[string]string{"aks-managed-cluster-name": "demo"}},
		{CloudID: group + "/providers/Microsoft.KeyVault/vaults/stray"},
	}, known)
	assert.DeepEqual(t, found, []drift.Difference{{
		Class: drift.Unexpected, Type: "Microsoft.KeyVault/vaults", Name: "stray", CloudID: group + "/providers/Microsoft.KeyVault/vaults/stray",
	}})
	assert.DeepEqual(t, left, []drift.LeftOut{{Maker: "AKS", Count: 1}})
}

func TestAddOrders(t *testing.T) {
	var r drift.Report
	r.Add(drift.Difference{Class: drift.Unexpected, CloudID: "1"})
	r.Add(
		drift.Difference{Class: drift.Changed, Stack: "demo-bootstrap", Type: "a", Name: "2"},
		drift.Difference{Class: drift.Changed, Stack: "demo-core", Type: "b", Name: "3"},
		drift.Difference{Class: drift.Changed, Stack: "demo-core", Type: "a", Name: "4"},
		drift.Difference{Class: drift.Missing, Stack: "demo-bootstrap", Name: "5"},
	)
	var order string
	for _, d := range r.Differences {
		order += d.Name + d.CloudID
	}
	assert.Check(t, order == "54321", "the order is %s, want 54321", order)
	assert.Check(t, r.Count(drift.Changed) == 3 && r.Drifted() && !(drift.Report{}).Drifted(),
		"%d changed, drifted %t", r.Count(drift.Changed), r.Drifted())
}
