package aws

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/standin"
)

const image = "ami-0123456789abcdef0"

// TestInstanceHoldsItsNetwork: an instance has an interface, which keeps its
// subnet and its groups.
func TestInstanceHoldsItsNetwork(t *testing.T) {
	w := newNetwork(t)
	tags := map[string]any{"karpenter.sh/nodepool": "default"}
	instance := w.Add(ec2.InstanceType, "node", props{
		"ami": image, "instanceType": "m7i.large", "subnetId": w.subnetA.ID, "vpcSecurityGroupIds": standin.Values(w.group.ID), "tags": tags,
	})
	interfaces, err := w.Invoke(manyInterfaces, filtered(map[string]string{"group-id": w.group.ID}))
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(standin.Values(instance.Out.Str("primaryNetworkInterfaceId")), interfaces["ids"]))
	refuses(t, w.Delete(w.group), "DependencyViolation: resource "+w.group.ID+" has a dependent object")
	refuses(t, w.Delete(w.subnetA), "DependencyViolation: The subnet '"+w.subnetA.ID+"' has dependencies")
	w.TakeDown()
}

func TestInstanceRefusals(t *testing.T) {
	w := newNetwork(t)
	for want, change := range map[string]props{
		"InvalidAMIID.Malformed":                                            {"ami": "x"},
		"Invalid value 'm7i.tiny' for InstanceType":                         {"instanceType": "m7i.tiny"},
		"InvalidSubnetID.NotFound: The subnet ID 'subnet-1' does not exist": {"subnetId": "subnet-1"},
		"InvalidGroup.NotFound: The security group 'sg-1' does not exist":   {"vpcSecurityGroupIds": standin.Values("sg-1")},
	} {
		w.denied(ec2.InstanceType, standin.Merged(props{"ami": image, "instanceType": "m7i.large", "subnetId": w.subnetA.ID}, change), want)
	}
	kept := w.Make(ec2.InstanceType, "kept", props{"ami": image, "instanceType": "m7i.large", "subnetId": w.subnetA.ID, "disableApiTermination": true})
	refuses(t, w.Delete(kept), "may not be terminated")
}

// TestClusterGroupThatIsInUse stays behind with the VPC, where in AWS it does.
func TestClusterGroupThatIsInUse(t *testing.T) {
	w := newWorld(t)
	id := w.cluster.Out.Sub("vpcConfig").Str("clusterSecurityGroupId")
	left := w.Make(ec2.InstanceType, "left", props{"ami": image, "instanceType": "m7i.large", "subnetId": w.subnetA.ID, "vpcSecurityGroupIds": standin.Values(id)})
	for _, x := range []*thing{w.nodes, w.cluster} {
		assert.NilError(t, w.Delete(x))
	}
	assert.Check(t, is.Len(w.tagged("kubernetes.io/cluster/demo", "owned"), 1))
	assert.NilError(t, w.Delete(left))
	assert.Check(t, w.Delete(&thing{Token: ec2.SecurityGroupType, Name: "left", ID: id}))
	for _, i := range w.Cloud.Inventory() {
		assert.Check(t, i.ID != id, "%+v is left", i)
	}
}

func TestVolumes(t *testing.T) {
	w := emptyWorld(t)
	tags := map[string]any{"kubernetes.io/cluster/demo": "owned"}
	volume := w.Add(ec2.VolumeType, "data", props{"availabilityZone": "eu-central-1a", "size": 8, "tags": tags})
	assert.Check(t, is.Equal(volume.Out.Str("type"), "gp2"))
}

func TestVolumeRefusals(t *testing.T) {
	w := emptyWorld(t)
	for want, in := range map[string]props{
		"api error InvalidZone.NotFound: The zone 'eu-central-1x' does not exist.":              {"availabilityZone": "eu-central-1x", "size": 8},
		"MissingParameter: The request must contain the parameter size/snapshot":                {"availabilityZone": "eu-central-1a"},
		"Volume of 70000GiB is outside of the allowed range":                                    {"availabilityZone": "eu-central-1a", "size": 70000},
		`expected type to be one of ["standard" "io1" "io2" "gp2" "sc1" "st1" "gp3"], got fast`: {"availabilityZone": "eu-central-1a", "size": 8, "type": "fast"},
	} {
		w.denied(ec2.VolumeType, in, want)
	}
}
