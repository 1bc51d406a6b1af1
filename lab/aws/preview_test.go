package aws

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"

	"tombolo/lab/aws/eks"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

// previewedCluster is the vpcConfig of a cluster to be made, and all outputs of
// the world's cluster after an update that has other inputs.
func (w *world) previewedCluster(change props) (created, updated props) {
	w.T.Helper()
	in := standin.Merged(w.cluster.In, change)
	made, err := w.Server.Create(w.T.Context(), &pulumirpc.CreateRequest{
		Urn: standintest.URN(eks.ClusterType, "another"), Properties: w.Wire(in), Preview: true,
	})
	assert.NilError(w.T, err)
	changed, err := w.Server.Update(w.T.Context(), &pulumirpc.UpdateRequest{
		Urn: standintest.URN(eks.ClusterType, "cluster"), Id: w.cluster.ID, Preview: true,
		Olds: w.Wire(w.cluster.Out), OldInputs: w.Wire(w.cluster.In), News: w.Wire(in),
	})
	assert.NilError(w.T, err)
	return w.Plain(made.Properties).Sub("vpcConfig"), w.Plain(changed.Properties)
}

// What AWS decides within an object that was asked for is unknown in the preview
// of a creation, and what it is in the preview of an update.
func TestPreviewOfWhatAWSDecidesWithinAnObject(t *testing.T) {
	w := newWorld(t)
	had := w.cluster.Out.Sub("vpcConfig")
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
	if updated.Str("version") != "1.35" || updated.Str("endpoint") != w.cluster.Out.Str("endpoint") {
		t.Errorf("an upgrade makes %v", updated)
	}
}

// An update says of an object what it is asked for, and no more of what is not
// asked for any longer.
func TestPreviewOfAnObjectThatChanges(t *testing.T) {
	w := newWorld(t)
	had := w.cluster.Out.Sub("vpcConfig")
	_, updated := w.previewedCluster(props{"vpcConfig": map[string]any{
		"subnetIds": []any{w.subnetA.ID, w.subnetB.ID}, "endpointPrivateAccess": true,
	}})
	now := updated.Sub("vpcConfig")
	if now["endpointPrivateAccess"] != true || now.Str("clusterSecurityGroupId") != had.Str("clusterSecurityGroupId") {
		t.Errorf("vpcConfig becomes %v", now)
	}
	if now.Has("securityGroupIds") {
		t.Errorf("the security groups are not asked for any longer, and vpcConfig has %v", now["securityGroupIds"])
	}
}
