package aws

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/stacks/core/live"
	"tombolo/stacks/owner"
)

const (
	vpcARN = "arn:aws:ec2:eu-central-1:111122223333:vpc/vpc-1"
	eksARN = "arn:aws:eks:eu-central-1:111122223333:cluster/demo"
)

func tagged(arn string, tags map[string]any) map[string]any {
	return map[string]any{"resourceArn": arn, "tags": tags, "complianceDetails": []any{}}
}

// TestRefuseStrangers: what has the name and another owner, or none where the state has
// nothing in the cloud, stops the program.
func TestRefuseStrangers(t *testing.T) {
	theirs := map[string]any{"tombolo:owner": "theirs", "tombolo:backend": "0123abcd"}
	untagged := map[string]any{}
	for _, test := range []struct {
		name     string
		tagged   []any
		clusters []any
		// of the EKS cluster
		tags map[string]any
		// has says that the stack has a VPC already.
		has  bool
		want string
	}{
		{name: "nothing"},
		{name: "our own", tagged: []any{tagged(vpcARN, map[string]any{"tombolo:owner": "ours"})}},
		{
			name: "another's", tagged: []any{tagged(vpcARN, theirs)}, has: true,
			want: "account 111122223333 has 1 resource of another cluster demo: " + vpcARN + " (owner theirs, made on the backend with the fingerprint 0123abcd); nothing was made",
		},
		{name: "without an owner", tagged: []any{tagged(vpcARN, untagged)}, want: vpcARN + " (no owner's tag); nothing was made"},
		{name: "without an owner, from before", tagged: []any{tagged(vpcARN, untagged)}, has: true},
		{
			name: "another's control plane", clusters: []any{"demo"}, tags: theirs, has: true,
			want: eksARN + " (owner theirs, made on the backend with the fingerprint 0123abcd, made at 2026-01-02T03:04:05Z)",
		},
		{name: "a control plane of another tool", clusters: []any{"demo"}, tags: untagged, want: eksARN + " (no owner's tag, made at 2026-01-02T03:04:05Z)"},
		{name: "our control plane", clusters: []any{"demo"}, tags: map[string]any{"tombolo:owner": "ours"}},
		{name: "a control plane from before", clusters: []any{"demo"}, tags: untagged, has: true},
		{name: "another name", clusters: []any{"demo-2"}},
		{name: "what outlives a cluster", tagged: []any{
			tagged("arn:aws:kms:eu-central-1:111122223333:key/k", theirs), tagged("arn:aws:ec2:eu-central-1:111122223333:volume/vol-1", untagged),
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := map[string]any{"urn:pulumi:s::p::owner::o": map[string]any{"type": owner.Type, "outputs": map[string]any{}}}
			if test.has {
				state["urn:pulumi:s::p::vpc::v"] = map[string]any{"type": "aws:ec2/vpc:Vpc", "outputs": map[string]any{"secret": resource.MakeSecret(resource.NewProperty("s"))}}
			}
			r := &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
				"aws:eks/getClusters:getClusters": recorder.Answering(map[string]any{"id": "e", "names": test.clusters}),
				"aws:eks/getCluster:getCluster": recorder.Answering(map[string]any{
					"id": "demo", "name": "demo", "arn": eksARN, "createdAt": "2026-01-02T03:04:05Z", "tags": test.tags,
				}),
				"aws:resourcegroupstaggingapi/getResources:getResources": recorder.Answering(map[string]any{"id": "t", "resourceTagMappingLists": test.tagged}),
				recorder.ReadResources: recorder.Answering(map[string]any{"outputs": state}),
			}}
			c := &config.Cluster{Name: "demo", Cloud: config.Cloud{Account: "111122223333"}}
			err := r.Run("demo-core", func(ctx *pulumi.Context) error {
				had, err := live.Read(ctx, LiveKeys())
				if err != nil {
					return err
				}
				return refuseStrangers(ctx, c, owner.Owner{ID: "ours"}, made{had}, pulumi.Parent(nil))
			})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
