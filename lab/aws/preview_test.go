package aws

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"

	"tombolo/lab/aws/eks"
	"tombolo/lab/standin"
)

// previewedCluster is the vpcConfig of a cluster to be made, and all outputs of
// the world's cluster after an update that has other inputs.
func (w *world) previewedCluster(change props) (created, updated props) {
	w.t.Helper()
	in := standin.Merged(w.cluster.in, change)
	made, err := w.server.Create(w.t.Context(), &pulumirpc.CreateRequest{
		Urn: urnOf(eks.ClusterType, "another"), Properties: w.wire(in), Preview: true,
	})
	assert.NilError(w.t, err)
	changed, err := w.server.Update(w.t.Context(), &pulumirpc.UpdateRequest{
		Urn: urnOf(eks.ClusterType, "cluster"), Id: w.cluster.id, Preview: true,
		Olds: w.wire(w.cluster.out), OldInputs: w.wire(w.cluster.in), News: w.wire(in),
	})
	assert.NilError(w.t, err)
	return w.plain(made.Properties).Sub("vpcConfig"), w.plain(changed.Properties)
}

// What AWS decides within an object that was asked for is unknown in the preview
// of a creation, and what it is in the preview of an update.
func TestPreviewOfWhatAWSDecidesWithinAnObject(t *testing.T) {
	w := newWorld(t)
	had := w.cluster.out.Sub("vpcConfig")
	if had.Str("clusterSecurityGroupId") == "" || had.Str("vpcId") == "" {
		t.Fatalf("AWS has decided nothing: %v", had)
	}
	created, updated := w.previewedCluster(props{"version": "1.35"})
	for _, key := range []string{"clusterSecurityGroupId", "vpcId"} {
		if created[key] != (standin.Unknown{}) {
			t.Errorf("%s of a cluster to be made is %v, want unknown", key, created[key])
		}
	}
	if diff := cmp.Diff(had, updated.Sub("vpcConfig")); diff != "" {
		t.Errorf("an upgrade changes vpcConfig (-before +after):\n%s", diff)
	}
	if updated.Str("version") != "1.35" || updated.Str("endpoint") != w.cluster.out.Str("endpoint") {
		t.Errorf("an upgrade makes %v", updated)
	}
}

// An update says of an object what it is asked for, and no more of what is not
// asked for any longer.
func TestPreviewOfAnObjectThatChanges(t *testing.T) {
	w := newWorld(t)
	had := w.cluster.out.Sub("vpcConfig")
	_, updated := w.previewedCluster(props{"vpcConfig": map[string]any{
		"subnetIds": []any{w.subnetA.id, w.subnetB.id}, "endpointPrivateAccess": true,
	}})
	now := updated.Sub("vpcConfig")
	if now["endpointPrivateAccess"] != true || now.Str("clusterSecurityGroupId") != had.Str("clusterSecurityGroupId") {
		t.Errorf("vpcConfig becomes %v", now)
	}
	if now.Has("securityGroupIds") {
		t.Errorf("the security groups are not asked for any longer, and vpcConfig has %v", now["securityGroupIds"])
	}
}
