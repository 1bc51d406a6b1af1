package cloudmanager

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func gp3(policy corev1.PersistentVolumeReclaimPolicy) *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "gp3"}, Provisioner: ebsDriver, ReclaimPolicy: &policy,
		Parameters: map[string]string{"type": "gp3", "encrypted": "true"},
	}
}

func data() *corev1.PersistentVolumeClaim {
	class := "gp3"
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: "data", Namespace: "apps", UID: "11112222",
			Annotations: map[string]string{provisionerAnnotation: ebsDriver, nodeAnnotation: "node-b"},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1500Mi")}},
		},
	}
}

var nodeB = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-b", Labels: map[string]string{zoneLabel: "eu-central-1b"}}}

// TestClaimHasAVolume in the zone of its pod, until the claim is gone.
func TestClaimHasAVolume(t *testing.T) {
	for policy, left := range map[corev1.PersistentVolumeReclaimPolicy]string{
		corev1.PersistentVolumeReclaimDelete: "", corev1.PersistentVolumeReclaimRetain: "Volume",
	} {
		t.Run(string(policy), func(t *testing.T) {
			a := newAccount(t)
			w := a.watching(gp3(policy), data(), nodeB)
			for range 2 {
				assert.NilError(t, w.reconcileClaim(t.Context(), data()))
			}
			disks := a.client.Find(volumeType, map[string]string{"kubernetes.io/cluster/demo": "owned", "kubernetes.io/created-for/pvc/name": "data"})
			assert.Assert(t, len(disks) == 1 && disks[0].Text("availabilityZone") == "eu-central-1b" && disks[0].Properties["size"] == 2.0, "volumes %+v", disks)
			v, err := w.client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-11112222", metav1.GetOptions{})
			assert.Assert(t, err == nil && v.Spec.CSI.VolumeHandle == disks[0].ID && v.Spec.ClaimRef.Name == "data", "%+v, %v", v, err)
			now := metav1.Now()
			v.DeletionTimestamp, v.Status.Phase = &now, corev1.VolumeBound
			if err := w.reconcileVolume(t.Context(), v); err != nil || a.kinds() != "Volume" {
				t.Errorf("of a claim that is there: %v, the cloud has %q", err, a.kinds())
			}
			v.Status.Phase = corev1.VolumeReleased
			assert.NilError(t, w.reconcileVolume(t.Context(), v))
			assert.Check(t, is.Equal(a.kinds(), left))
		})
	}
}

// TestReleasedVolumeIsDeleted: the object goes, and by its finalizer the volume.
func TestReleasedVolumeIsDeleted(t *testing.T) {
	a := newAccount(t)
	w := a.watching(gp3(corev1.PersistentVolumeReclaimDelete), data(), nodeB)
	assert.NilError(t, w.reconcileClaim(t.Context(), data()))
	volumes := w.client.CoreV1().PersistentVolumes()
	v, err := volumes.Get(t.Context(), "pvc-11112222", metav1.GetOptions{})
	assert.NilError(t, err)
	v.Status.Phase = corev1.VolumeReleased
	assert.NilError(t, w.reconcileVolume(t.Context(), v))
	if list, err := volumes.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 0 {
		t.Errorf("%d objects are left, %v", len(list.Items), err)
	}
}

func TestClaimOfAnotherDriver(t *testing.T) {
	a := newAccount(t)
	other := data()
	other.Annotations[provisionerAnnotation] = "efs.csi.aws.com"
	bound := data()
	bound.Spec.VolumeName = "by-hand"
	for _, claim := range []*corev1.PersistentVolumeClaim{other, bound} {
		if err := a.watching().reconcileClaim(t.Context(), claim); err != nil || a.kinds() != "" {
			t.Errorf("%v, the cloud has %s", err, a.kinds())
		}
	}
}
