package cloudmanager

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/compute"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/standin"
)

// azureMaker makes what a cluster asks of Azure.
type azureMaker struct {
	*watch
	// id of the cluster.
	id string
	// balancing is held while a load balancer is changed, which Services share.
	balancing sync.Mutex
}

// managed is a cluster of AKS.
type managed struct {
	// subscription and nodeGroup are where its nodes are.
	subscription, nodeGroup, location string
	// subnet of its nodes; "" where AKS has made it.
	subnet string
	tags   map[string]any
}

// managed tells where the cluster is.
func (w *azureMaker) managed() (managed, error) {
	for _, r := range w.cloud.Find(containerservice.ClusterType, nil) {
		if !arm.Same(r.ID, w.id) {
			continue
		}
		properties := standin.Props(r.Properties)
		m := managed{
			subscription: armid.SubscriptionOf(r.ID), nodeGroup: r.Text("nodeResourceGroup"), location: r.Text("location"), tags: properties.Sub("tags"),
		}
		for _, pool := range properties.Objects("agentPoolProfiles") {
			m.subnet = pool.Str("vnetSubnetID")
			break
		}
		return m, nil
	}
	return managed{}, fmt.Errorf("the cloud has no cluster %s", w.id)
}

// in adds a group and the location to the inputs of a resource.
func (m managed) in(group string, inputs map[string]any) map[string]any {
	return standin.Merged(standin.Props{"resourceGroupName": group, "location": m.location}, inputs)
}

// found is the resource of a type with a name in the group of the nodes, if there is one.
func (w *azureMaker) found(m managed, token, name string) (standin.Resource, bool) {
	for _, r := range w.cloud.Find(token, nil) {
		if arm.Same(armid.GroupOf(r.ID), armid.Group(m.subscription, m.nodeGroup)) && strings.EqualFold(armid.NameOf(r.ID), name) {
			return r, true
		}
	}
	return standin.Resource{}, false
}

// pairs reads a list such as a=b,c=d, as annotations and storage classes have tags. Source:
// https://cloud-provider-azure.sigs.k8s.io/topics/loadbalancer/
func pairs(text string) map[string]string {
	found := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			found[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return found
}

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
