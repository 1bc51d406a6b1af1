package cloudmanager

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/lab/aws/eks"
	"tombolo/lab/standin"
)

// The built-in node pools of EKS Auto Mode. Nodes of system are for pods that ask for them:
// https://docs.aws.amazon.com/eks/latest/userguide/set-builtin-node-pools.html
const (
	generalPool = "general-purpose"
	systemPool  = "system"
)

// ensureAutoNode makes a node for a pod that none takes, as EKS Auto Mode does, which works
// outside of the cluster. The lab has one node of each built-in pool, and no NodePools.
func (w *watch) ensureAutoNode(ctx context.Context, pod *corev1.Pod, net network) error {
	pool := cmp.Or(pod.Spec.NodeSelector[poolLabel], generalPool)
	if !slices.Contains([]string{generalPool, systemPool}, pool) || len(net.subnets) == 0 {
		return nil
	}
	w.pools.Lock()
	defer w.pools.Unlock()
	instance, err := w.autoInstance(ctx, pool, net)
	if err != nil {
		return err
	}
	_, err = w.client.CoreV1().Nodes().Create(ctx, autoNode(pool, instance, net), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create the node of %s: %w", instance.ID, err)
	}
	return nil
}

// autoInstance is the instance of a pool, which is made where there is none.
func (w *watch) autoInstance(ctx context.Context, pool string, net network) (standin.Resource, error) {
	if found := w.autoInstances(pool); len(found) > 0 {
		return found[0], nil
	}
	made, err := w.cloud.Create(ctx, instanceType, map[string]any{
		"ami": net.image(), "instanceType": "c6a.large", "subnetId": net.nodeSubnet(), "vpcSecurityGroupIds": []any{net.securityGroup},
		"tags": map[string]any{eks.ClusterNameTag: w.cluster, eks.NodePoolTag: pool, eks.NodeClassTag: "default"},
	})
	if err == nil {
		w.log.Info("an instance was made", "id", made.ID, "pool", pool)
	}
	return made, err
}

func (w *watch) autoInstances(pool string) []standin.Resource {
	return w.cloud.Find(instanceType, map[string]string{eks.ClusterNameTag: w.cluster, eks.NodePoolTag: pool})
}

// autoNode is the node that an instance of Auto Mode joins as: its name is the instance's id.
// Labels: https://docs.aws.amazon.com/eks/latest/userguide/create-node-pool.html
func autoNode(pool string, instance standin.Resource, net network) *corev1.Node {
	zone := instance.Text("availabilityZone")
	version := cmp.Or(eks.ImageVersion(net.region, instance.Text("ami")), net.version)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: instance.ID, Labels: map[string]string{
			poolLabel: pool, zoneLabel: zone, "eks.amazonaws.com/compute-type": "auto", "eks.amazonaws.com/nodeclass": "default",
			"kubernetes.io/hostname": instance.ID, "kubernetes.io/os": "linux", archLabel: "amd64", capacityLabel: "on-demand",
			"node.kubernetes.io/instance-type": instance.Text("instanceType"),
		}},
		Spec:   corev1.NodeSpec{ProviderID: "aws:///" + zone + "/" + instance.ID},
		Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: standin.KubeletVersion(version)}},
	}
	if pool == systemPool {
		node.Spec.Taints = []corev1.Taint{{Key: "CriticalAddonsOnly", Effect: corev1.TaintEffectNoSchedule}}
	}
	return node
}

// followAutoImage replaces nodes of Auto Mode that have another image than the cluster's nodes
// get now, until ctx ends: they follow the control plane. The pods of one that goes wait for
// the next, which is made for them.
func (w *watch) followAutoImage(ctx context.Context) {
	tick := time.NewTicker(driftPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if net, there := w.network(); there && net.auto {
			if err := w.replaceAutoNodes(ctx, net); err != nil {
				w.log.Warn("a node of EKS Auto Mode is not replaced yet", "error", err)
			}
		}
	}
}

func (w *watch) replaceAutoNodes(ctx context.Context, net network) error {
	w.pools.Lock()
	defer w.pools.Unlock()
	for _, instance := range append(w.autoInstances(generalPool), w.autoInstances(systemPool)...) {
		if instance.Text("ami") == net.image() {
			continue
		}
		if err := w.deleteNode(ctx, instance.ID); err != nil {
			return err
		}
		if err := w.deleteInCloud(ctx, instanceType, instance.ID); err != nil {
			return err
		}
	}
	return nil
}
