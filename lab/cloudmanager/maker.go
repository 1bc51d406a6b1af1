package cloudmanager

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// maker is what a cloud's controllers make for Services and claims.
type maker interface {
	// holder is the finalizer of the controller that gives a Service its load balancer; "" for
	// a class without a controller in the lab.
	holder(s *corev1.Service) string
	// balance makes what is missing of the load balancer of a Service, and tells where it is.
	balance(ctx context.Context, s *corev1.Service) (corev1.LoadBalancerIngress, error)
	// unbalance takes away what was made for a Service.
	unbalance(ctx context.Context, s *corev1.Service) error
	// driver is the provisioner of disks, and diskType the type of what it makes.
	driver() string
	diskType() string
	// ensureDisk makes the disk of a claim, unless there is one.
	ensureDisk(ctx context.Context, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (disk, error)
}

// disk of a claim.
type disk struct {
	// id in the cloud.
	id string
	// zone that nodes have to be in which use it, by their label zoneLabel.
	zone, zoneLabel string
}
