//go:build lab

package automation

import (
	"slices"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"
	"gotest.tools/v3/assert"

	"tombolo/automation/cloud/aws"
	"tombolo/automation/kube"
	"tombolo/automation/teardown"
)

// TestFindAndRemoveLeftovers reads what a look by tag finds, and deletes it with
// the real CLI.
func TestFindAndRemoveLeftovers(t *testing.T) {
	d, _ := realBench(t, exporting)
	c, address := serveCloud(t)
	d.env["PULUMI_DEBUG_PROVIDERS"] = address
	for _, id := range []string{"vol-1", "sg-1", "vpc-1"} {
		c.roles[id] = &pulumirpc.CreateRequest{Properties: &structpb.Struct{}}
	}
	c.tagged = []string{
		arnOf + "security-group/sg-1", arnOf + "vpc/vpc-1", arnOf + "volume/vol-1", arnOf + "volume/vol-gone", "arn:aws:dynamodb:eu-central-1:111122223333:table/locks",
	}
	known := func(l teardown.Leftover) bool { return l.ID == "vpc-1" }
	found, err := aws.Cloud{Pulumi: d.pulumi}.Find(t.Context(), demo(), teardown.Search{Known: known})
	assert.NilError(t, err)
	teardown.Sort(found)
	want := "dynamodb resource arn:aws:dynamodb:eu-central-1:111122223333:table/locks, volume vol-1, security group sg-1"
	if got := kube.Names(found, 5); got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	found = slices.DeleteFunc(found, func(l teardown.Leftover) bool { return l.Type == "" })
	assert.NilError(t, (aws.Cloud{Pulumi: d.pulumi}).Remove(t.Context(), demo(), found))
	assert.DeepEqual(t, c.deleted, []string{"vol-1", "sg-1"})
}
