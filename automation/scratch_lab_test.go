//go:build lab

package automation

import (
	"slices"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/cloud/aws"
	"tombolo/automation/kube"
	"tombolo/automation/teardown"
	"tombolo/tests/tier"
)

// TestFindAndRemoveLeftovers reads what a look by tag finds, and deletes it with
// the real CLI.
func TestFindAndRemoveLeftovers(t *testing.T) {
	tier.Short(t, "what a look by tag finds is read and deleted with the real CLI")
	t.Parallel()
	d, _ := realBench(t, exporting)
	c, address := serveCloud(t)
	d.env["PULUMI_DEBUG_PROVIDERS"] = address
	for _, id := range []string{"vol-1", "sg-1", "vpc-1"} {
		c.roles[id] = &pulumirpc.CreateRequest{Properties: &structpb.Struct{}}
	}
	stranger, err := structpb.NewStruct(map[string]any{"tagsAll": map[string]any{"tombolo:owner": "another"}})
	assert.NilError(t, err)
	c.roles["sg-theirs"] = &pulumirpc.CreateRequest{Properties: stranger}
	c.tagged = []string{
		arnOf + "security-group/sg-1", arnOf + "security-group/sg-theirs", arnOf + "vpc/vpc-1", arnOf + "volume/vol-1", arnOf + "volume/vol-gone", "arn:aws:dynamodb:eu-central-1:111122223333:table/locks",
	}
	known := func(l teardown.Leftover) bool { return l.ID == "vpc-1" }
	found, err := aws.Cloud{Pulumi: d.pulumi}.Find(t.Context(), demo(), teardown.Search{Owner: "q5zk", Known: known})
	assert.NilError(t, err)
	teardown.Sort(found)
	want := "dynamodb resource arn:aws:dynamodb:eu-central-1:111122223333:table/locks, volume vol-1, security group sg-1"
	assert.Check(t, is.Equal(kube.Names(found, 5), want), "found")
	found = slices.DeleteFunc(found, func(l teardown.Leftover) bool { return l.Type == "" })
	remove := func(all ...teardown.Leftover) error {
		return aws.Cloud{Pulumi: d.pulumi}.Remove(t.Context(), demo(), teardown.Search{Owner: "q5zk"}, all)
	}
	theirs, _ := aws.Identify(arnOf+"security-group/sg-theirs", nil)
	err = remove(theirs)
	assert.Check(t, err != nil, "deletes what nothing proves to be the cluster's")
	theirs.Proof = "a tag that was there a moment ago"
	assert.NilError(t, remove(append(found, theirs)...))
	assert.DeepEqual(t, c.deleted, []string{"vol-1", "sg-1"})
}
