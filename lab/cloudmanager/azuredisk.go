package cloudmanager

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/lab/azure/compute"
	"tombolo/lab/standin"
)

// What the CSI driver of Azure's disks is called, and writes. Source: pkg/azureconstants and
// docs/driver-parameters.md of https://github.com/kubernetes-sigs/azuredisk-csi-driver
const (
	azureDriver = "disk.csi.azure.com"

	azureVolumeTag    = "kubernetes.io-created-for-pv-name"
	azureClaimTag     = "kubernetes.io-created-for-pvc-name"
	azureNamespaceTag = "kubernetes.io-created-for-pvc-namespace"
	azureCreatorTag   = "k8s-azure-created-by"

	azureZoneLabel = "topology.disk.csi.azure.com/zone"
)

func (*azureMaker) driver() string   { return azureDriver }
func (*azureMaker) diskType() string { return compute.DiskType }

// ensureDisk makes a claim's disk: in the group of the nodes, or in that of the storage class,
// on which the identity of the control plane needs a role.
func (w *azureMaker) ensureDisk(ctx context.Context, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (disk, error) {
	name, given := volumeName(claim), parametersOf(class)
	tags := map[string]string{azureVolumeTag: name}
	if found := w.cloud.Find(compute.DiskType, tags); len(found) > 0 {
		return diskOf(found[0]), nil
	}
	m, err := w.managed()
	if err != nil {
		return disk{}, err
	}
	kind := cmp.Or(given["skuname"], given["storageaccounttype"], "StandardSSD_LRS")
	inputs := m.in(cmp.Or(given["resourcegroup"], m.nodeGroup), map[string]any{
		"diskName": name, "diskSizeGB": gibibytes(claim), "sku": map[string]any{"name": kind},
		"creationData": map[string]any{"createOption": "Empty"},
		"tags": withTags(pairs(given["tags"]), map[string]any{
			azureVolumeTag: name, azureClaimTag: claim.Name, azureNamespaceTag: claim.Namespace, azureCreatorTag: "kubernetes-azure-dd",
		}),
	})
	zone, err := w.zoneFor(ctx, claim)
	if err != nil {
		return disk{}, err
	}
	if number, zonal := strings.CutPrefix(zone, m.location+"-"); zonal && !strings.HasSuffix(kind, "_ZRS") {
		inputs["zones"] = []any{number}
	}
	made, err := w.cloud.Create(ctx, compute.DiskType, inputs)
	if err == nil {
		w.log.Info("a disk was made", "id", made.ID)
	}
	return diskOf(made), err
}

// diskOf is a disk, which is in one zone, or in none.
func diskOf(r standin.Resource) disk {
	d := disk{id: r.ID, zoneLabel: azureZoneLabel}
	for _, zone := range standin.Props(r.Properties).List("zones") {
		d.zone = r.Text("location") + "-" + zone
	}
	return d
}

// parametersOf a storage class. The driver does not tell cases of letters apart.
func parametersOf(class *storagev1.StorageClass) map[string]string {
	lower := map[string]string{}
	for name, value := range class.Parameters {
		lower[strings.ToLower(name)] = value
	}
	return lower
}

// zoneFor is the zone of the node that the claim's pod goes to, or of any node; "" for no zone.
func (w *azureMaker) zoneFor(ctx context.Context, claim *corev1.PersistentVolumeClaim) (string, error) {
	nodes, err := w.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("look up the pod's node: %w", err)
	}
	for _, node := range nodes.Items {
		if chosen := claim.Annotations[nodeAnnotation]; chosen == "" || chosen == node.Name {
			return node.Labels[azureZoneLabel], nil
		}
	}
	return "", nil
}
