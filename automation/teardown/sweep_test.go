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

	"tombolo/automation/cloud/aws"
	"tombolo/automation/kube"
	"tombolo/automation/teardown"
	"tombolo/config"
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

func sweepOf(c *cloud, policy teardown.LeftoverPolicy) *teardown.Sweep {
	return &teardown.Sweep{Cluster: &config.Cluster{Name: "demo"}, Cloud: c, Policy: policy, Timeout: 20 * time.Millisecond, Observer: &listener{}}
}

// TestSweepLeavesWhatTheStacksManage: core and bootstrap take that away themselves.
func TestSweepLeavesWhatTheStacksManage(t *testing.T) {
	c := &cloud{has: []string{ec2ARN + "vpc/vpc-1", ec2ARN + "volume/vol-1", ec2ARN + "security-group/sg-1"}}
	core := []apitype.ResourceV3{{Type: "aws:ec2/vpc:Vpc", ID: "vpc-1"}}
	bootstrap := []apitype.ResourceV3{{ID: "v", Outputs: map[string]any{"arn": ec2ARN + "volume/vol-1"}}, {ID: "sg-1", External: true}}
	err := sweepOf(c, teardown.StopAtLeftovers).BeforeCore(t.Context(), core, bootstrap)
	left := new(teardown.LeftoversError)
	if !errors.As(err, &left) || kube.Names(left.Left, 5) != "security group sg-1" || !left.Core {
		t.Errorf("error is %v", err)
	}
	if c.seen[0].Network != "vpc-1" {
		t.Errorf("looked for the interfaces of VPC %q", c.seen[0].Network)
	}
}

// TestSweepOfANetworkOfSomebodyElse looks for no interfaces in it.
func TestSweepOfANetworkOfSomebodyElse(t *testing.T) {
	c := &cloud{}
	core := []apitype.ResourceV3{{Type: "aws:ec2/vpc:Vpc", ID: "vpc-1", External: true}}
	if err := sweepOf(c, teardown.StopAtLeftovers).BeforeCore(t.Context(), core, nil); err != nil || c.seen[0].Network != "" {
		t.Errorf("looked for the interfaces of VPC %q, error %v", c.seen[0].Network, err)
	}
}

func TestSweepDeletesWhatHoldsNoData(t *testing.T) {
	c, seen := &cloud{has: []string{"arn:aws:s3:::demo-loki", ec2ARN + "security-group/sg-1"}}, &listener{}
	s := sweepOf(c, teardown.DeleteLeftovers)
	s.KeepData, s.Observer = true, seen
	kept, err := s.AfterCore(t.Context(), nil)
	if err != nil || kube.Names(kept, 5) != "bucket demo-loki" {
		t.Errorf("kept %s, error %v", kube.Names(kept, 5), err)
	}
	assert.DeepEqual(t, seen.notes, []string{"demo-core: deletes what is left over: security group sg-1: tag"})
}

func TestPreparation(t *testing.T) {
	state := map[string]string{
		`{"type":"aws:s3/bucketPolicy:BucketPolicy"}`:                    `{"retainOnDelete":true,"type":"aws:s3/bucketPolicy:BucketPolicy"}`,
		`{"type":"aws:ec2/vpc:Vpc","protect":true}`:                      `{"type":"aws:ec2/vpc:Vpc"}`,
		`{"type":"aws:ec2/subnet:Subnet","urn":"urn:pulumi:s::p::t::n"}`: `{"type":"aws:ec2/subnet:Subnet","urn":"urn:pulumi:s::p::t::n"}`,
	}
	p := &teardown.Preparation{Cloud: aws.Cloud{}, KeepData: true}
	for before, want := range state {
		var r map[string]json.RawMessage
		assert.NilError(t, json.Unmarshal([]byte(before), &r))
		changed := p.Edit(r)
		got, err := json.Marshal(r)
		if err != nil || string(got) != want || changed != (before != want) {
			t.Errorf("%s became %s, changed %t, error %v", before, got, changed, err)
		}
	}
	if p.Unprotected != 1 {
		t.Errorf("%d were unprotected", p.Unprotected)
	}
}
