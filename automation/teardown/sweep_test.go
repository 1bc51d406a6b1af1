package teardown_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/cloud/aws"
	"tombolo/automation/cloud/azure"
	"tombolo/automation/kube"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/stacks/owner"
)

// cloud has resources by their ARNs; all are deleted that are to be.
type cloud struct {
	aws.Cloud
	has  []string
	seen []teardown.Search
}

func (c *cloud) Find(_ context.Context, _ *config.Cluster, q teardown.Search) ([]teardown.Leftover, error) {
	c.seen = append(c.seen, q)
	var out []teardown.Leftover
	for _, arn := range c.has {
		if l, ok := aws.Identify(arn, nil); ok && !q.Known(l) {
			l.Proof = "tag"
			out = append(out, l)
		}
	}
	return out, nil
}

func (c *cloud) Remove(_ context.Context, _ *config.Cluster, _ teardown.Search, all []teardown.Leftover) error {
	for _, l := range all {
		c.has = slices.DeleteFunc(c.has, func(arn string) bool { return arn == l.CloudID })
	}
	return nil
}

// listener is an observer that writes down notes.
type listener struct{ notes []string }

func (l *listener) Waiting(string, string)     {}
func (l *listener) Note(stack, message string) { l.notes = append(l.notes, stack+": "+message) }

const ec2ARN = "arn:aws:ec2:eu-central-1:111122223333:"

func sweepOf(c teardown.Cloud, policy teardown.LeftoverPolicy) *teardown.Sweep {
	return &teardown.Sweep{Cluster: &config.Cluster{Name: "demo"}, Cloud: c, Policy: policy, Timeout: 20 * time.Millisecond, Observer: &listener{}}
}

// TestSweepLeavesWhatTheStacksManage: core and bootstrap take that away themselves.
func TestSweepLeavesWhatTheStacksManage(t *testing.T) {
	c := &cloud{has: []string{ec2ARN + "vpc/vpc-1", ec2ARN + "volume/vol-1", ec2ARN + "security-group/sg-1"}}
	core := []apitype.ResourceV3{{Type: "aws:ec2/vpc:Vpc", ID: "vpc-1"}}
	bootstrap := []apitype.ResourceV3{{ID: "v", Outputs: map[string]any{"arn": ec2ARN + "volume/vol-1"}}, {ID: "sg-1", External: true}}
	err := sweepOf(c, teardown.StopAtLeftovers).BeforeCore(t.Context(), core, bootstrap)
	left := new(teardown.LeftoversError)
	assert.Check(t, errors.As(err, &left) && kube.Names(left.Left, 5) == "security group sg-1" && left.Core, "error is %v", err)
	assert.Check(t, c.seen[0].Network == "vpc-1", "looked for the interfaces of VPC %q", c.seen[0].Network)
}

// TestSweepOfANetworkOfSomebodyElse looks for no interfaces in it.
func TestSweepOfANetworkOfSomebodyElse(t *testing.T) {
	c := &cloud{}
	core := []apitype.ResourceV3{{Type: "aws:ec2/vpc:Vpc", ID: "vpc-1", External: true}}
	err := sweepOf(c, teardown.StopAtLeftovers).BeforeCore(t.Context(), core, nil)
	assert.Check(t, err == nil && c.seen[0].Network == "", "looked for the interfaces of VPC %q, error %v", c.seen[0].Network, err)
}

func TestSweepDeletesWhatHoldsNoData(t *testing.T) {
	c, seen := &cloud{has: []string{"arn:aws:s3:::demo-loki", ec2ARN + "security-group/sg-1"}}, &listener{}
	s := sweepOf(c, teardown.DeleteLeftovers)
	s.KeepData, s.Observer = true, seen
	kept, err := s.AfterCore(t.Context(), nil)
	assert.Check(t, err == nil && kube.Names(kept, 5) == "bucket demo-loki", "kept %s, error %v", kube.Names(kept, 5), err)
	assert.DeepEqual(t, seen.notes, []string{"demo-core: deletes what is left over: security group sg-1: tag"})
}

func TestPreparation(t *testing.T) {
	state := map[string]string{
		`{"type":"aws:s3/bucketPolicy:BucketPolicy"}`:                    `{"retainOnDelete":true,"type":"aws:s3/bucketPolicy:BucketPolicy"}`,
		`{"type":"aws:ec2/vpc:Vpc","protect":true}`:                      `{"type":"aws:ec2/vpc:Vpc"}`,
		`{"type":"aws:ec2/subnet:Subnet","urn":"urn:pulumi:s::p::t::n"}`: `{"type":"aws:ec2/subnet:Subnet","urn":"urn:pulumi:s::p::t::n"}`,
	}
	p := &teardown.Preparation{Cloud: aws.Cloud{}, KeepData: true, Guards: true}
	for before, want := range state {
		var r map[string]json.RawMessage
		assert.NilError(t, json.Unmarshal([]byte(before), &r))
		changed := p.Edit(r)
		got, err := json.Marshal(r)
		assert.Check(t, err == nil && string(got) == want && changed == (before != want),
			"%s became %s, changed %t, error %v", before, got, changed, err)
	}
	assert.Check(t, p.Unprotected == 1, "%d were unprotected", p.Unprotected)
}

// TestPreparationWithoutData: where nothing holds data, what would guard it goes.
func TestPreparationWithoutData(t *testing.T) {
	group := func() map[string]json.RawMessage {
		return map[string]json.RawMessage{"type": json.RawMessage(`"azure-native:resources:ResourceGroup"`)}
	}
	p := &teardown.Preparation{Cloud: azure.Cloud{}, KeepData: true}
	assert.Check(t, !p.Edit(group()))
	p.Guards = true
	assert.Check(t, p.Edit(group()))
}

// full is a cloud with an account of core's, and one that somebody else has left.
type full struct{ aws.Cloud }

func (full) Find(_ context.Context, _ *config.Cluster, q teardown.Search) ([]teardown.Leftover, error) {
	all := []teardown.Leftover{
		{Kind: "storage account", ID: "lokidemo", CloudID: "/g/accounts/lokidemo", Data: true, GoesFull: true, Proof: "x"},
		{Kind: "key vault", ID: "kv-demo", CloudID: "/g/vaults/kv-demo", Data: true, Proof: "x"},
	}
	return slices.DeleteFunc(all, q.Known), nil
}

// TestSweepStopsAtWhatGoesFull: the cloud refuses to delete a bucket that is not empty; of what it
// does not refuse for, people say what becomes of the data.
func TestSweepStopsAtWhatGoesFull(t *testing.T) {
	core := []apitype.ResourceV3{{Type: "x:StorageAccount", ID: "/g/accounts/lokidemo"}, {Type: "x:Vault", ID: "/g/vaults/kv-demo"}}
	err := sweepOf(full{}, teardown.StopAtLeftovers).BeforeCore(t.Context(), core, nil)
	assert.Error(t, err, "destroy demo: core would delete storage account lokidemo with the data that is there; keep it with --keep-data, "+
		"or have it deleted with --leftovers delete (stack demo-core was kept)")
	assert.NilError(t, sweepOf(full{}, teardown.DeleteLeftovers).BeforeCore(t.Context(), core, nil))
	keeps := sweepOf(full{}, teardown.StopAtLeftovers)
	keeps.KeepData = true
	assert.NilError(t, keeps.BeforeCore(t.Context(), core, nil))
	assert.Check(t, is.Len(keeps.Kept, 0), "core's preparation keeps it")
	err = sweepOf(full{}, teardown.StopAtLeftovers).BeforeCore(t.Context(), nil, nil)
	assert.Check(t, is.ErrorContains(err, "controllers have left over key vault kv-demo, storage account lokidemo"), "it is nobody's")
}

// TestKeptIs: what was kept is named once.
func TestKeptIs(t *testing.T) {
	l := teardown.Leftover{ID: "lokidemo", CloudID: "/g/accounts/lokidemo"}
	assert.Check(t, teardown.Kept{ID: "lokidemo"}.Is(l))
	assert.Check(t, teardown.Kept{ID: "/G/accounts/lokidemo"}.Is(l))
	assert.Check(t, !teardown.Kept{ID: "/g/accounts/other"}.Is(l))
	assert.Check(t, !teardown.Kept{}.Is(teardown.Leftover{ID: "lokidemo"}))
}

// doomed is a cloud with a disk that core takes along.
type doomed struct{ aws.Cloud }

func (doomed) Find(context.Context, *config.Cluster, teardown.Search) ([]teardown.Leftover, error) {
	return []teardown.Leftover{
		{Kind: "disk", ID: "pvc-1", Name: "shop/data", Data: true, LostWith: "resource group demo-nodes", Proof: "x"},
		{Kind: "disk", ID: "pvc-2", Data: true, Proof: "x"},
	}, nil
}

func (doomed) Remove(context.Context, *config.Cluster, teardown.Search, []teardown.Leftover) error {
	return errors.New("it is deleted")
}

// TestSweepStopsAtWhatCannotBeKept, also where leftovers are to be deleted.
func TestSweepStopsAtWhatCannotBeKept(t *testing.T) {
	s := &teardown.Sweep{
		Cluster: &config.Cluster{Name: "demo"}, Cloud: doomed{}, Policy: teardown.DeleteLeftovers, KeepData: true, Timeout: 20 * time.Millisecond, Observer: &listener{},
	}
	err := s.BeforeCore(t.Context(), nil, nil)
	assert.Error(t, err, "destroy demo: --keep-data cannot keep disk pvc-1 (shop/data): resource group demo-nodes would take it along; "+
		"move it elsewhere, or delete it, and run the same command again (stack demo-core was kept)")
	assert.Equal(t, kube.Names(s.Kept, 5), "disk pvc-2")
	s.KeepData, s.Policy = false, teardown.StopAtLeftovers
	err = s.BeforeCore(t.Context(), nil, nil)
	assert.Error(t, err, "destroy demo: controllers have left over disk pvc-1 (shop/data), disk pvc-2; delete what is not needed and run the same command again, "+
		"or have it done with --leftovers delete; with --keep-data what holds data stays; resource group demo-nodes takes what is in it along, "+
		"so move what is to stay elsewhere before (stack demo-core was kept)")
}

// TestSweepKnowsIDsInAnyCase: Azure writes its ids in one case or another.
func TestSweepKnowsIDsInAnyCase(t *testing.T) {
	c := &cloud{}
	core := []apitype.ResourceV3{{ID: "/subscriptions/s/resourceGroups/demo/providers/Microsoft.Network/virtualNetworks/demo"}}
	known := false
	seen := found(func(q teardown.Search) {
		known = q.Known(teardown.Leftover{ID: "demo", CloudID: "/subscriptions/s/resourcegroups/demo/providers/microsoft.network/virtualNetworks/demo"})
	})
	s := sweepOf(c, teardown.StopAtLeftovers)
	s.Cloud = seen
	assert.NilError(t, s.BeforeCore(t.Context(), core, nil))
	assert.Check(t, known)
}

// found is a cloud with nothing, that tells what is looked for.
type found func(teardown.Search)

func (f found) Find(_ context.Context, _ *config.Cluster, q teardown.Search) ([]teardown.Leftover, error) {
	f(q)
	return nil, nil
}

func (found) Data(string) teardown.Data                            { return teardown.NoData }
func (found) Network([]apitype.ResourceV3) string                  { return "" }
func (found) ControlPlane([]apitype.ResourceV3) owner.ControlPlane { return owner.ControlPlane{} }
func (found) Remove(context.Context, *config.Cluster, teardown.Search, []teardown.Leftover) error {
	return nil
}
