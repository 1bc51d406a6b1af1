package aws

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/standin"
)

func TestVolumes(t *testing.T) {
	w := emptyWorld(t)
	tags := map[string]any{"kubernetes.io/cluster/demo": "owned"}
	volume := w.Add(ec2.VolumeType, "data", props{"availabilityZone": "eu-central-1a", "size": 8, "tags": tags})
	found, err := w.Invoke("aws:ebs/getEbsVolumes:getEbsVolumes", props{"tags": tags})
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(standin.Values(volume.ID), found["ids"]))
	one, err := w.Invoke("aws:ebs/getVolume:getVolume", filtered(map[string]string{"volume-id": volume.ID}))
	if err != nil || one.Integer("size") != 8 || one.Str("volumeType") != "gp2" {
		t.Errorf("%v, %v", one, err)
	}
	snapshot := w.Make(ec2.SnapshotType, "data", props{"volumeId": volume.ID})
	assert.NilError(t, w.Delete(volume))
	restored := w.Make(ec2.VolumeType, "restored", props{"availabilityZone": "eu-central-1b", "snapshotId": snapshot.ID})
	if restored.Out.Integer("size") != 8 {
		t.Errorf("a volume of a snapshot of 8 GiB has %d", restored.Out.Integer("size"))
	}
}

func TestVolumeRefusals(t *testing.T) {
	w := emptyWorld(t)
	for want, in := range map[string]props{
		"api error InvalidZone.NotFound: The zone 'eu-central-1x' does not exist.":              {"availabilityZone": "eu-central-1x", "size": 8},
		"MissingParameter: The request must contain the parameter size/snapshot":                {"availabilityZone": "eu-central-1a"},
		"Volume of 70000GiB is outside of the allowed range":                                    {"availabilityZone": "eu-central-1a", "size": 70000},
		"InvalidSnapshot.NotFound: The snapshot 'snap-1' does not exist.":                       {"availabilityZone": "eu-central-1a", "snapshotId": "snap-1"},
		`expected type to be one of ["gp2" "gp3" "io1" "io2" "sc1" "st1" "standard"], got fast`: {"availabilityZone": "eu-central-1a", "size": 8, "type": "fast"},
	} {
		w.denied(ec2.VolumeType, in, want)
	}
}
