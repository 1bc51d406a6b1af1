//go:build lab

package automation

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"tombolo/automation/cloud/aws"
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
	if err != nil {
		t.Fatal(err)
	}
	teardown.Sort(found)
	want := "dynamodb resource arn:aws:dynamodb:eu-central-1:111122223333:table/locks, volume vol-1, security group sg-1"
	if got := teardown.Names(found); got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	found = slices.DeleteFunc(found, func(l teardown.Leftover) bool { return l.Type == "" })
	if err := (aws.Cloud{Pulumi: d.pulumi}).Remove(t.Context(), demo(), found); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"vol-1", "sg-1"}, c.deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}
