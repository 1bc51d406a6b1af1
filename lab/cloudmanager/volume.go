package cloudmanager

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// volumeFinalizer has a volume deleted before its object.
	volumeFinalizer = "external-provisioner.volume.kubernetes.io/finalizer"

	provisionerAnnotation = "volume.kubernetes.io/storage-provisioner"
	provisionedAnnotation = "pv.kubernetes.io/provisioned-by"
	nodeAnnotation        = "volume.kubernetes.io/selected-node"
)

// reconcileClaim makes the volume that a claim waits for. The control plane's
// own controller says when it is this driver's turn, and binds the two.
func (w *watch) reconcileClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.DeletionTimestamp != nil || claim.Spec.VolumeName != "" || claim.Annotations[provisionerAnnotation] != w.maker.driver() {
		return nil
	}
	class, err := w.client.StorageV1().StorageClasses().Get(ctx, *cmp.Or(claim.Spec.StorageClassName, new(string)), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("look up the storage class: %w", err)
	}
	made, err := w.maker.ensureDisk(ctx, claim, class)
	if err != nil {
		return err
	}
	_, err = w.client.CoreV1().PersistentVolumes().Create(ctx, persistentVolume(claim, class, w.maker.driver(), made), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// volumeName is the name of the volume of a claim.
func volumeName(claim *corev1.PersistentVolumeClaim) string { return "pvc-" + string(claim.UID) }

// gibibytes of a claim, rounded up, as disks have them.
func gibibytes(claim *corev1.PersistentVolumeClaim) int {
	size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	return int((size.Value() + 1<<30 - 1) >> 30)
}

func persistentVolume(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, driver string, d disk) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name: volumeName(claim), Finalizers: []string{volumeFinalizer}, Annotations: map[string]string{provisionedAnnotation: driver},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(int64(gibibytes(claim))<<30, resource.BinarySI)},
			AccessModes:                   claim.Spec.AccessModes,
			PersistentVolumeReclaimPolicy: reclaimPolicy(class),
			StorageClassName:              class.Name,
			VolumeMode:                    claim.Spec.VolumeMode,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: d.id, FSType: "ext4"},
			},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: d.zoneLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{d.zone},
				}},
			}}}},
		},
	}
}

// reclaimPolicy of a class's volumes; they are deleted unless it says otherwise.
func reclaimPolicy(class *storagev1.StorageClass) corev1.PersistentVolumeReclaimPolicy {
	if class.ReclaimPolicy == nil {
		return corev1.PersistentVolumeReclaimDelete
	}
	return *class.ReclaimPolicy
}

// reconcileVolume deletes the disk of a claim that is gone, and then the
// object, unless the disk is to be retained.
func (w *watch) reconcileVolume(ctx context.Context, v *corev1.PersistentVolume) error {
	if v.Spec.CSI == nil || v.Annotations[provisionedAnnotation] != w.maker.driver() || !slices.Contains(v.Finalizers, volumeFinalizer) {
		return nil
	}
	volumes := w.client.CoreV1().PersistentVolumes()
	deletes := v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
	if v.DeletionTimestamp == nil {
		if v.Status.Phase != corev1.VolumeReleased || !deletes {
			return nil
		}
		return volumes.Delete(ctx, v.Name, metav1.DeleteOptions{})
	}
	if v.Status.Phase == corev1.VolumeBound {
		return nil // its claim goes first
	}
	return release(ctx, volumes, v, volumeFinalizer, func() error {
		if !deletes {
			return nil
		}
		return w.deleteInCloud(ctx, w.maker.diskType(), v.Spec.CSI.VolumeHandle)
	})
}
