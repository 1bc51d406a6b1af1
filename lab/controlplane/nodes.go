package controlplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"tombolo/lab/reconcile"
	"tombolo/lab/standin"
)

// groupLabel says which node group a node was made for.
const groupLabel = "lab.tombolo/node-group"

// SetNodes makes the nodes of a group exactly these: it adds, relabels and
// deletes. With no nodes it succeeds on a cluster that does not exist.
func (m *Manager) SetNodes(ctx context.Context, cluster, group string, nodes []standin.Node) error {
	if err := m.setNodes(ctx, cluster, group, nodes); err != nil {
		return fmt.Errorf("set the nodes of %s in cluster %s: %w", group, cluster, err)
	}
	return nil
}

func (m *Manager) setNodes(ctx context.Context, cluster, group string, nodes []standin.Node) error {
	there, err := m.exists(cluster)
	if err != nil {
		return err
	}
	if !there && len(nodes) == 0 {
		return nil
	}
	client, err := m.client(cluster)
	if err != nil {
		return err
	}
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: groupLabel + "=" + group})
	if len(nodes) == 0 && unanswered(err) {
		// A group's instances end with it, whether the API hears of it or not.
		return nil
	}
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	surplus := map[string]corev1.Node{}
	for _, node := range list.Items {
		surplus[node.Name] = node
	}
	made := 0
	for _, n := range nodes {
		want := node(n, group)
		have, exists := surplus[want.Name]
		delete(surplus, want.Name)
		if err := putNode(ctx, client, want, have, exists); err != nil {
			return err
		}
		if !exists {
			made++
		}
	}
	if made > 0 && len(surplus) > 0 {
		if err := awaitReady(ctx, client, group, nodes); err != nil {
			return err
		}
	}
	for name := range surplus {
		if err := client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); reconcile.IgnoreGone(err) != nil {
			return fmt.Errorf("delete node %s: %w", name, err)
		}
	}
	return nil
}

// readyTimeout is how long new nodes may take until the old ones go. kwok takes
// a second or two.
const readyTimeout = time.Minute

// awaitReady waits until the nodes of a group are ready. EKS deletes the nodes that an
// update replaces after that. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
func awaitReady(ctx context.Context, client kubernetes.Interface, group string, nodes []standin.Node) error {
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, readyTimeout, true, func(ctx context.Context) (bool, error) {
		list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: groupLabel + "=" + group})
		if err != nil {
			return false, nil // it is asked again
		}
		ready := map[string]bool{}
		for _, n := range list.Items {
			ready[n.Name] = slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			})
		}
		return !slices.ContainsFunc(nodes, func(n standin.Node) bool { return !ready[n.Name] }), nil
	})
	if err != nil {
		return fmt.Errorf("wait for the new nodes, to replace the old ones: %w; see `tombolo lab logs`", err)
	}
	return nil
}

// unanswered tells an error that is no answer of the API server's.
func unanswered(err error) bool {
	var status apierrors.APIStatus
	return err != nil && !errors.As(err, &status)
}

// putNode creates a node, or updates the labels and taints of one there is.
// Labels that others added stay.
func putNode(ctx context.Context, client kubernetes.Interface, want *corev1.Node, have corev1.Node, exists bool) error {
	if !exists {
		if _, err := client.CoreV1().Nodes().Create(ctx, want, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create node %s: %w", want.Name, err)
		}
		return nil
	}
	if err := putVersion(ctx, client, want, have); err != nil {
		return err
	}
	updated := have.DeepCopy()
	maps.Copy(updated.Labels, want.Labels)
	updated.Spec.Taints = want.Spec.Taints
	if reflect.DeepEqual(updated, &have) {
		return nil
	}
	updated.ResourceVersion = "" // kwok writes the status all the time
	if _, err := client.CoreV1().Nodes().Update(ctx, updated, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("update node %s: %w", want.Name, err)
	}
	return nil
}

// putVersion has a node report the version of its kubelet that it should. Only a
// node from before the lab set one reports another.
func putVersion(ctx context.Context, client kubernetes.Interface, want *corev1.Node, have corev1.Node) error {
	version := want.Status.NodeInfo.KubeletVersion
	if version == "" || have.Status.NodeInfo.KubeletVersion == version {
		return nil
	}
	patch := fmt.Sprintf(`{"status":{"nodeInfo":{"kubeletVersion":%q}}}`, version)
	if _, err := client.CoreV1().Nodes().Patch(ctx, want.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		return fmt.Errorf("set the kubelet's version of node %s: %w", want.Name, err)
	}
	return nil
}

// node is the Kubernetes object of a machine, with the labels that the
// kubelet and the cloud's controller give it.
func node(n standin.Node, group string) *corev1.Node {
	labels := map[string]string{
		"kubernetes.io/hostname": n.Name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
	}
	for label, value := range map[string]string{
		"node.kubernetes.io/instance-type": n.InstanceType,
		"topology.kubernetes.io/zone":      n.Zone,
	} {
		if value != "" {
			labels[label] = value
		}
	}
	maps.Copy(labels, n.Labels)
	labels[groupLabel] = group
	object := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: labels},
		Spec:       corev1.NodeSpec{ProviderID: n.ProviderID},
		// A node registers with its status, and kwok keeps the version that there is.
		Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: standin.KubeletVersion(n.Version)}},
	}
	if n.Pods > 0 { // the others are kwok's own
		object.Status.Capacity = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1k"), corev1.ResourceMemory: resource.MustParse("1Ti"),
			corev1.ResourcePods: *resource.NewQuantity(int64(n.Pods), resource.DecimalSI),
		}
		object.Status.Allocatable = object.Status.Capacity
	}
	for _, t := range n.Taints {
		object.Spec.Taints = append(object.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	return object
}

func (m *Manager) client(cluster string) (kubernetes.Interface, error) {
	config, err := m.admin(cluster)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// admin is how the administrator asks a cluster's API server.
func (m *Manager) admin(cluster string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", m.AdminKubeconfig(cluster))
	if err != nil {
		return nil, fmt.Errorf("read the admin kubeconfig: %w", err)
	}
	config.Timeout, config.QPS, config.Burst = 30*time.Second, 100, 200
	return config, nil
}
