package aws

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// previewedCluster is the vpcConfig of a cluster to be made, and all outputs of
// the world's cluster after an update that has other inputs.
func (w *world) previewedCluster(change props) (created, updated props) {
	w.t.Helper()
	in := merged(w.cluster.in, change)
	made, err := w.server.Create(w.t.Context(), &pulumirpc.CreateRequest{
		Urn: urnOf(clusterType, "another"), Properties: w.wire(in), Preview: true,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	changed, err := w.server.Update(w.t.Context(), &pulumirpc.UpdateRequest{
		Urn: urnOf(clusterType, "cluster"), Id: w.cluster.id, Preview: true,
		Olds: w.wire(w.cluster.out), OldInputs: w.wire(w.cluster.in), News: w.wire(in),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.plain(made.Properties).sub("vpcConfig"), w.plain(changed.Properties)
}

// What AWS decides within an object that was asked for is unknown in the preview
// of a creation, and what it is in the preview of an update.
func TestPreviewOfWhatAWSDecidesWithinAnObject(t *testing.T) {
	w := newWorld(t)
	had := w.cluster.out.sub("vpcConfig")
	if had.str("clusterSecurityGroupId") == "" || had.str("vpcId") == "" {
		t.Fatalf("AWS has decided nothing: %v", had)
	}
	created, updated := w.previewedCluster(props{"version": "1.35"})
	for _, key := range []string{"clusterSecurityGroupId", "vpcId"} {
		if created[key] != (unknown{}) {
			t.Errorf("%s of a cluster to be made is %v, want unknown", key, created[key])
		}
	}
	if diff := cmp.Diff(had, updated.sub("vpcConfig")); diff != "" {
		t.Errorf("an upgrade changes vpcConfig (-before +after):\n%s", diff)
	}
	if updated.str("version") != "1.35" || updated.str("endpoint") != w.cluster.out.str("endpoint") {
		t.Errorf("an upgrade makes %v", updated)
	}
}

// An update says of an object what it is asked for, and no more of what is not
// asked for any longer.
func TestPreviewOfAnObjectThatChanges(t *testing.T) {
	w := newWorld(t)
	had := w.cluster.out.sub("vpcConfig")
	_, updated := w.previewedCluster(props{"vpcConfig": map[string]any{
		"subnetIds": []any{w.subnetA.id, w.subnetB.id}, "endpointPrivateAccess": true,
	}})
	now := updated.sub("vpcConfig")
	if now["endpointPrivateAccess"] != true || now.str("clusterSecurityGroupId") != had.str("clusterSecurityGroupId") {
		t.Errorf("vpcConfig becomes %v", now)
	}
	if now.has("securityGroupIds") {
		t.Errorf("the security groups are not asked for any longer, and vpcConfig has %v", now["securityGroupIds"])
	}
}
