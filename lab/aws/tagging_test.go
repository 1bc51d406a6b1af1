package aws

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/acm"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/efs"
	"tombolo/lab/aws/events"
	"tombolo/lab/aws/s3"
	"tombolo/lab/aws/sqs"
	"tombolo/lab/standin"
)

const discovery = "karpenter.sh/discovery"

func tagOf(x *thing, value string) props {
	return props{"resourceId": x.ID, "key": discovery, "value": value}
}

func TestTagRefusals(t *testing.T) {
	refused(t, newNetwork, []attempt{
		{"nothing", ec2.TagType, props{"resourceId": "subnet-1", "key": discovery, "value": "demo"}, "creating EC2 Tag: operation error EC2: CreateTags"},
		{"nothing code", ec2.TagType, props{"resourceId": "subnet-1", "key": discovery, "value": "demo"}, "api error InvalidID: The ID 'subnet-1' is not valid"},
		{"what is not EC2's", ec2.TagType, func(w *world) props { return tagOf(w.Make(efs.FileSystemType, "files", props{}), "demo") }, "api error InvalidID: The ID 'fs-0"},
		{"another region", ec2.TagType, func(w *world) props {
			w.Configure(props{"region": "us-east-1"})
			return tagOf(w.subnetA, "demo")
		}, "api error InvalidID: The ID 'subnet-0"},
		{"reserved key", ec2.TagType, func(w *world) props { return standin.Merged(tagOf(w.subnetA, "demo"), props{"key": "aws:x"}) }, "Tag keys starting with 'aws:' are reserved for internal use"},
		{"fifty-first", ec2.TagType, func(w *world) props {
			tags := map[string]any{}
			for i := range 50 {
				tags[strings.Repeat("k", i+1)] = "v"
			}
			return tagOf(w.Make(ec2.SecurityGroupType, "full", props{"vpcId": w.vpc.ID, "tags": tags}), "demo")
		}, "api error TagLimitExceeded: The maximum number of Tags for a resource has been reached."},
	})
}

func (w *world) tags(x *thing) props {
	w.T.Helper()
	_, out := w.read(x)
	if diff := cmp.Diff(out.Sub("tags"), out.Sub("tagsAll")); diff != "" {
		w.T.Errorf("tags and all tags differ: %s", diff)
	}
	return out.Sub("tags")
}

func TestTag(t *testing.T) {
	w := newNetwork(t)
	tag := w.Make(ec2.TagType, "tag", tagOf(w.subnetA, "demo"))
	if tag.ID != w.subnetA.ID+","+discovery || w.tags(w.subnetA).Str(discovery) != "demo" {
		t.Errorf("%s gives %v", tag.ID, w.tags(w.subnetA))
	}
	found := w.Cloud.Client("eu-central-1").Find(ec2.SubnetType, map[string]string{discovery: "demo"})
	assert.Check(t, len(found) == 1 && found[0].ID == w.subnetA.ID, "found %v", found)
	if err := w.Update(tag, props{"value": "other"}); err != nil || w.tags(w.subnetA).Str(discovery) != "other" {
		t.Errorf("after an update, %v, the tags are %v", err, w.tags(w.subnetA))
	}
	if err := w.Delete(tag); err != nil || w.tags(w.subnetA).Has(discovery) {
		t.Errorf("after a deletion, %v, the tags are %v", err, w.tags(w.subnetA))
	}
}

// TestTagOfTheClustersGroup: no program owns the group that EKS makes.
func TestTagOfTheClustersGroup(t *testing.T) {
	w := newWorld(t)
	group := &thing{Token: ec2.SecurityGroupType, Name: "eks", ID: w.cluster.Out.Sub("vpcConfig").Str("clusterSecurityGroupId")}
	tag := w.Make(ec2.TagType, "tag", tagOf(group, "demo"))
	want := props{discovery: "demo", "kubernetes.io/cluster/demo": "owned"}
	assert.Check(t, is.DeepEqual(want, w.tags(group)))
	if err := w.Delete(tag); err != nil || w.tags(group).Has(discovery) {
		t.Errorf("after a deletion, %v, the tags are %v", err, w.tags(group))
	}
}

// TestTagOfAnOwnedResource: the owner leaves a tag that it does not know of, and
// takes it away once a refresh has shown it.
func TestTagOfAnOwnedResource(t *testing.T) {
	w := newNetwork(t)
	w.Make(ec2.TagType, "tag", tagOf(w.vpc, "demo"))
	d := w.Diff(w.vpc, nil)
	assert.Check(t, d.Changes == pulumirpc.DiffResponse_DIFF_NONE, "without a refresh: %v", d)
	own := map[string]any{"Name": "net", "team": "a"}
	assert.NilError(t, w.Update(w.vpc, props{"tags": own}))
	want := props{"Name": "net", "team": "a", discovery: "demo"}
	assert.Check(t, is.Equal(cmp.Diff(want, w.tags(w.vpc)), ""))
	program := w.vpc.In.Clone()
	w.vpc.In, w.vpc.Out = w.read(w.vpc)
	d = w.Diff(w.vpc, program)
	_, removes := d.DetailedDiff[`tags["`+discovery+`"]`]
	assert.Check(t, d.Changes == pulumirpc.DiffResponse_DIFF_SOME && removes && len(d.DetailedDiff) == 1, "after a refresh: %v", d)
	if err := w.Update(w.vpc, program); err != nil || !maps.Equal(w.tags(w.vpc), own) {
		t.Errorf("after that update, %v, the tags are %v", err, w.tags(w.vpc))
	}
}

// TestSearchByTag finds what the addons' services made: teardown looks for
// leftovers in that way.
func TestSearchByTag(t *testing.T) {
	a := newAccount(t)
	tags := map[string]any{"tombolo:cluster": "demo"}
	var want []string
	for token, in := range map[string]props{
		sqs.QueueType:        {},
		events.EventRuleType: {"eventPattern": interruptions},
		acm.CertificateType:  certificateFor("lab.test"),
		efs.FileSystemType:   {},
		s3.BucketType:        {},
	} {
		want = append(want, a.Make(token, "tagged", standin.Merged(in, props{"tags": tags})).Out.Str("arn"))
		a.Make(token, "other", in)
	}
	var got []string
	for _, r := range a.tagged("tombolo:cluster", "demo") {
		got = append(got, r.Str("resourceArn"))
	}
	slices.Sort(want)
	slices.Sort(got)
	assert.Check(t, is.DeepEqual(want, got))
}
