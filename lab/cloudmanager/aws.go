package cloudmanager

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/lab/standin"
)

const (
	volumeType = "aws:ebs/volume:Volume"
	ebsDriver  = "ebs.csi.aws.com"
	zoneLabel  = "topology.kubernetes.io/zone"
)

// awsMaker makes what a cluster asks of AWS.
type awsMaker struct{ *watch }

func (w awsMaker) holder(s *corev1.Service) string {
	finalizer, _ := w.serviceBalancer(s)
	return finalizer
}

func (w awsMaker) balance(ctx context.Context, s *corev1.Service) (corev1.LoadBalancerIngress, error) {
	_, b := w.serviceBalancer(s)
	host, err := w.ensure(ctx, b)
	return corev1.LoadBalancerIngress{Hostname: host}, err
}

func (w awsMaker) unbalance(ctx context.Context, s *corev1.Service) error {
	_, b := w.serviceBalancer(s)
	return w.dismantle(ctx, b.tags)
}

func (awsMaker) driver() string   { return ebsDriver }
func (awsMaker) diskType() string { return volumeType }

// volumeOf is an EBS volume, which is in one zone.
func volumeOf(r standin.Resource) disk {
	return disk{id: r.ID, zoneLabel: zoneLabel, zone: r.Text("availabilityZone")}
}

// ensureDisk makes a claim's EBS volume, with the tags that the driver gives it.
// Source: https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/docs/tagging.md
func (w awsMaker) ensureDisk(ctx context.Context, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (disk, error) {
	name := volumeName(claim)
	if found := w.cloud.Find(volumeType, map[string]string{"CSIVolumeName": name}); len(found) > 0 {
		return volumeOf(found[0]), nil
	}
	zone, err := w.zoneFor(ctx, claim)
	if err != nil {
		return disk{}, err
	}
	asked, err := w.tagsFrom(ctx, "aws-ebs-csi-driver", "controller", "extraVolumeTags")
	if err != nil {
		return disk{}, err
	}
	made, err := w.cloud.Create(ctx, volumeType, map[string]any{
		"availabilityZone": zone, "size": gibibytes(claim), "type": cmp.Or(class.Parameters["type"], "gp3"),
		"encrypted": class.Parameters["encrypted"] == "true",
		"tags": withTags(asked, map[string]any{
			"Name": w.cluster + "-dynamic-" + name, "CSIVolumeName": name, "ebs.csi.aws.com/cluster": "true",
			"KubernetesCluster": w.cluster, "kubernetes.io/cluster/" + w.cluster: "owned",
			"kubernetes.io/created-for/pv/name":       name,
			"kubernetes.io/created-for/pvc/name":      claim.Name,
			"kubernetes.io/created-for/pvc/namespace": claim.Namespace,
		}),
	})
	if err == nil {
		w.log.Info("a volume was made", "id", made.ID)
	}
	return volumeOf(made), err
}

// zoneFor is the zone of the node that the claim's pod goes to, or any.
func (w awsMaker) zoneFor(ctx context.Context, claim *corev1.PersistentVolumeClaim) (string, error) {
	if name := claim.Annotations[nodeAnnotation]; name != "" {
		node, err := w.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", fmt.Errorf("look up the pod's node: %w", err)
		}
		return node.Labels[zoneLabel], nil
	}
	net, there := w.network()
	if !there || len(net.subnets) == 0 {
		return "", fmt.Errorf("the cloud has no cluster %s", w.cluster)
	}
	return net.subnets[0].zone, nil
}
