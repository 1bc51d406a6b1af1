package cloudmanager

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/lab/aws/eks"
	"tombolo/lab/reconcile"
	"tombolo/lab/standin"
)

const (
	instanceType = "aws:ec2/instance:Instance"
	// terminationFinalizer has an instance end before its NodeClaim.
	terminationFinalizer = "karpenter.sh/termination"
	poolLabel            = "karpenter.sh/nodepool"
	claimTag             = "karpenter.sh/nodeclaim"
	readyCondition       = "Ready"
	karpenterChart       = "karpenter"
	capacityLabel        = "karpenter.sh/capacity-type"
	archLabel            = "kubernetes.io/arch"
)

// Karpenter's own kinds.
var (
	nodeClaims = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
	nodePools  = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
)

// reconcilePod makes a NodeClaim for a pod that only a node of a NodePool could
// take, and that none takes. The pool owns the claim, which goes with it.
func (w *watch) reconcilePod(ctx context.Context, pod *corev1.Pod) error {
	if !unschedulable(pod) {
		return nil
	}
	if net, there := w.network(); there && net.auto {
		return w.ensureAutoNode(ctx, pod, net)
	}
	if runs, err := w.runs(ctx, karpenterChart); err != nil || !runs {
		return err
	}
	pool, err := w.poolOf(ctx, pod)
	if err != nil || pool == nil {
		return err
	}
	w.pools.Lock() // Karpenter makes one node for all pods that wait
	defer w.pools.Unlock()
	name := pool.GetName()
	claims, err := w.objects.Resource(nodeClaims).List(ctx, metav1.ListOptions{LabelSelector: poolLabel + "=" + name})
	if err != nil {
		return fmt.Errorf("list the node claims of %s: %w", name, err)
	}
	coming := func(c unstructured.Unstructured) bool { return c.GetDeletionTimestamp() == nil }
	if slices.ContainsFunc(claims.Items, coming) {
		return nil
	}
	_, err = w.objects.Resource(nodeClaims).Create(ctx, newClaim(pool, string(pod.UID)), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// poolOf is the pool whose nodes a pod waits for: the one that it names, or the first one when it asks for
// nothing but room; nil for none.
func (w *watch) poolOf(ctx context.Context, pod *corev1.Pod) (*unstructured.Unstructured, error) {
	name := pod.Spec.NodeSelector[poolLabel]
	if name == "" && (len(pod.Spec.NodeSelector) > 0 || pod.Spec.Affinity != nil) {
		return nil, nil
	}
	pools, err := w.objects.Resource(nodePools).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil // there are no pools at all
	}
	if err != nil {
		return nil, fmt.Errorf("list the node pools: %w", err)
	}
	for i := range pools.Items {
		if name == "" || pools.Items[i].GetName() == name {
			return &pools.Items[i], nil
		}
	}
	return nil, nil
}

// unschedulable says that the scheduler has found no node for a pod.
func unschedulable(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

// newClaim is a NodeClaim of a pool, for a pod.
func newClaim(pool *unstructured.Unstructured, pod string) *unstructured.Unstructured {
	sum := sha256.Sum256([]byte(pod))
	claim := &unstructured.Unstructured{Object: map[string]any{}}
	claim.SetAPIVersion("karpenter.sh/v1")
	claim.SetKind("NodeClaim")
	claim.SetName(pool.GetName() + "-" + hex.EncodeToString(sum[:3]))
	claim.SetLabels(map[string]string{poolLabel: pool.GetName()})
	blocks := true
	claim.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: "karpenter.sh/v1", Kind: "NodePool", Name: pool.GetName(), UID: pool.GetUID(), BlockOwnerDeletion: &blocks,
	}})
	if template, found, err := unstructured.NestedMap(pool.Object, "spec", "template", "spec"); found && err == nil {
		claim.Object["spec"] = template
	}
	return claim
}

// reconcileNodeClaim gives a NodeClaim its instance and its node, and takes them
// away with it.
func (w *watch) reconcileNodeClaim(ctx context.Context, name string) error {
	claim, err := w.objects.Resource(nodeClaims).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up the node claim: %w", err)
	}
	claims := untyped{w.objects.Resource(nodeClaims)}
	if claim.GetDeletionTimestamp() != nil {
		return release(ctx, claims, claim, terminationFinalizer, func() error { return w.terminate(ctx, claim.GetName()) })
	}
	if claim, err = hold(ctx, claims, claim, terminationFinalizer); err != nil {
		return err
	}
	instance, err := w.ensureInstance(ctx, claim)
	if err != nil {
		return err
	}
	net, there := w.network()
	if !there {
		return fmt.Errorf("the cloud has no cluster %s", w.cluster)
	}
	node := claimedNode(claim, instance, net)
	if _, err := w.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create node %s: %w", node.Name, err)
	}
	if claim, err = w.tellNode(ctx, claim, node); err != nil {
		return err
	}
	return w.followImage(ctx, claim, instance.Text("ami") != net.image())
}

// ensureInstance runs a claim's instance, with the tags that Karpenter gives it.
// Source: https://karpenter.sh/docs/concepts/nodeclasses/#spectags
func (w *watch) ensureInstance(ctx context.Context, claim *unstructured.Unstructured) (standin.Resource, error) {
	if found := w.instancesOf(claim.GetName()); len(found) > 0 {
		return found[0], nil
	}
	net, there := w.network()
	if !there || len(net.subnets) == 0 {
		return standin.Resource{}, fmt.Errorf("the cloud has no cluster %s", w.cluster)
	}
	class, _, _ := unstructured.NestedString(claim.Object, "spec", "nodeClassRef", "name")
	asked, err := w.classTags(ctx, class)
	if err != nil {
		return standin.Resource{}, err
	}
	kind := kindOf(claim)
	made, err := w.cloud.Create(ctx, instanceType, map[string]any{
		"ami": net.image(), "instanceType": kind.machine, "subnetId": net.nodeSubnet(),
		"vpcSecurityGroupIds": []any{net.securityGroup},
		"tags": withTags(asked, map[string]any{
			"Name": claim.GetLabels()[poolLabel], poolLabel: claim.GetLabels()[poolLabel], claimTag: claim.GetName(),
			"karpenter.k8s.aws/ec2nodeclass": class, "eks:eks-cluster-name": w.cluster, w.ownership(): "owned",
		}),
	})
	if err == nil {
		w.log.Info("an instance was made", "id", made.ID)
	}
	return made, err
}

// kind is what Karpenter chooses for a claim.
type kind struct{ architecture, capacity, machine string }

// kindOf a claim, by the requirements of its pool. Of several capacity types Karpenter takes
// spot first (https://karpenter.sh/docs/concepts/nodepools/#capacity-type); of several
// architectures the lab takes the first.
func kindOf(claim *unstructured.Unstructured) kind {
	out := kind{"amd64", "on-demand", "m7i.large"}
	if given := required(claim, archLabel); len(given) > 0 {
		out.architecture = given[0]
	}
	if out.architecture == "arm64" {
		out.machine = "m7g.large"
	}
	if slices.Contains(required(claim, capacityLabel), "spot") {
		out.capacity = "spot"
	}
	return out
}

// required are the values that a claim allows for a label.
func required(claim *unstructured.Unstructured, label string) []string {
	requirements, _, _ := unstructured.NestedSlice(claim.Object, "spec", "requirements")
	for _, r := range requirements {
		requirement, _ := r.(map[string]any)
		if requirement["key"] == label && requirement["operator"] == "In" {
			values, _, _ := unstructured.NestedStringSlice(requirement, "values")
			return values
		}
	}
	return nil
}

// instancesOf are the instances of a claim: one, or none yet.
func (w *watch) instancesOf(claim string) []standin.Resource {
	return w.cloud.Find(instanceType, map[string]string{claimTag: claim, w.ownership(): "owned"})
}

// ownership is the key of the tag that says which cluster a resource is of.
func (w *watch) ownership() string { return "kubernetes.io/cluster/" + w.cluster }

// claimedNode is the node that an instance joins as. Its version is that of its
// image; an image from a lab before images had versions has the cluster's.
func claimedNode(claim *unstructured.Unstructured, instance standin.Resource, net network) *corev1.Node {
	name, zone, kind := instance.Text("privateDns"), instance.Text("availabilityZone"), kindOf(claim)
	version := cmp.Or(eks.ImageVersion(net.region, instance.Text("ami")), net.version)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			poolLabel: claim.GetLabels()[poolLabel], zoneLabel: zone,
			"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", archLabel: kind.architecture, capacityLabel: kind.capacity,
			"node.kubernetes.io/instance-type": kind.machine,
		}},
		Spec:   corev1.NodeSpec{ProviderID: "aws:///" + zone + "/" + instance.ID},
		Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: standin.KubeletVersion(version)}},
	}
}

// tellNode says in a claim's status which node it has, and returns the claim.
func (w *watch) tellNode(ctx context.Context, claim *unstructured.Unstructured, node *corev1.Node) (*unstructured.Unstructured, error) {
	if known, _, _ := unstructured.NestedString(claim.Object, "status", "nodeName"); known == node.Name {
		return claim, nil
	}
	conditions := []any{}
	for _, kind := range []string{"Launched", "Registered", "Initialized", readyCondition} {
		conditions = append(conditions, condition(kind, kind))
	}
	claim.Object["status"] = map[string]any{"nodeName": node.Name, "providerID": node.Spec.ProviderID, "conditions": conditions}
	told, err := w.objects.Resource(nodeClaims).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	if err != nil {
		return nil, fmt.Errorf("tell the node: %w", err)
	}
	return told, nil
}

// condition of a claim that holds from now on.
func condition(kind, reason string) map[string]any {
	return map[string]any{
		"type": kind, "status": "True", "reason": reason, "message": "", "lastTransitionTime": metav1.Now().UTC().Format("2006-01-02T15:04:05Z"),
	}
}

// terminate deletes the node and the instance of a NodeClaim.
func (w *watch) terminate(ctx context.Context, claim string) error {
	for _, instance := range w.instancesOf(claim) {
		if err := w.deleteNode(ctx, instance.Text("privateDns")); err != nil {
			return err
		}
		if err := w.deleteInCloud(ctx, instanceType, instance.ID); err != nil {
			return err
		}
	}
	return nil
}

// deleteNode takes a node's pods from it first, as Karpenter and EKS Auto Mode do: pods of a node that is gone are kept
// for a minute. Source: https://karpenter.sh/docs/concepts/disruption/#termination-controller
func (w *watch) deleteNode(ctx context.Context, name string) error {
	pods, err := w.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + name})
	if err != nil {
		return fmt.Errorf("list the pods of the node %s: %w", name, err)
	}
	for _, pod := range pods.Items {
		err := w.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, *metav1.NewDeleteOptions(0))
		if reconcile.IgnoreGone(err) != nil {
			return fmt.Errorf("take the pod %s/%s from the node %s: %w", pod.Namespace, pod.Name, name, err)
		}
	}
	if err := w.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); reconcile.IgnoreGone(err) != nil {
		return fmt.Errorf("delete the node %s: %w", name, err)
	}
	return nil
}
