package upgrade

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// poolLabel is the label by which Karpenter marks its nodes.
// https://karpenter.sh/docs/concepts/nodepools/#well-known-labels
const poolLabel = "karpenter.sh/nodepool"

// Node of a cluster.
type Node struct {
	// Name of the node.
	Name string
	// Version of its kubelet, major.minor; "" when it has not told yet.
	Version string
	// Group and Pool are the node group of the cloud's and the node pool of Karpenter's that
	// it is of; "" when it is of none.
	Group, Pool string
	// Ready says that it takes pods.
	Ready bool
	// Leaving says that it is being deleted.
	Leaving bool
}

// kubelet finds the minor version in a kubelet's, such as v1.34.1-eks-113cf36.
var kubelet = regexp.MustCompile(`^v(\d+\.\d+)\.`)

// NodesOf reads nodes from their Kubernetes objects, sorted by name. groupLabel is Terms'.
func NodesOf(objects []unstructured.Unstructured, groupLabel string) []Node {
	nodes := make([]Node, 0, len(objects))
	for _, o := range objects {
		n := Node{
			Name: o.GetName(), Group: o.GetLabels()[groupLabel], Pool: o.GetLabels()[poolLabel],
			Ready: isReady(o), Leaving: o.GetDeletionTimestamp() != nil,
		}
		version, _, _ := unstructured.NestedString(o.Object, "status", "nodeInfo", "kubeletVersion")
		if m := kubelet.FindStringSubmatch(version); m != nil {
			n.Version = m[1]
		}
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return nodes
}

func isReady(node unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(node.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		condition, ok := c.(map[string]any)
		return ok && condition["type"] == "Ready" && condition["status"] == "True"
	})
}

// Awaited says what is still to come until the nodes of a phase have a version, one line
// for each node; none when nothing is.
func Awaited(nodes []Node, phase Phase, version string) []string {
	var out []string
	for _, n := range nodes {
		owner := "node group " + n.Group
		if phase == Karpenter {
			owner = "node pool " + n.Pool
		}
		switch {
		case phase.movesNodeGroups() && n.Group == "", phase == Karpenter && n.Pool == "":
		case n.Version == "":
			out = append(out, fmt.Sprintf("node %s of %s has not told its version yet", n.Name, owner))
		case n.Version != version:
			out = append(out, fmt.Sprintf("node %s of %s has %s", n.Name, owner, n.Version))
		case n.Leaving:
			out = append(out, fmt.Sprintf("node %s of %s is leaving", n.Name, owner))
		case !n.Ready:
			out = append(out, fmt.Sprintf("node %s of %s is not ready", n.Name, owner))
		}
	}
	return out
}

// Newer are the nodes that are newer than a version, which no control plane of it takes.
func Newer(nodes []Node, than string) []Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.Version == "" || !older(than, n.Version) })
}

// Strays are the nodes that neither the cloud nor Karpenter upgrades and that have another
// version.
func Strays(nodes []Node, version string) []Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.Group != "" || n.Pool != "" || n.Version == version })
}

// GateError says that a step was made, and that its nodes have not followed in time.
type GateError struct {
	Cluster string
	// Terms are those of the cluster's cloud.
	Terms Terms
	Step  Step
	// Left is what is still to come, one line for each node.
	Left []string
	// Waited is how long.
	Waited time.Duration
}

func (e *GateError) Error() string {
	remedy := "look at the pods that do not leave their nodes (`kubectl get pods -A -o wide`) and at what keeps them: PodDisruptionBudgets, and pods that no other node takes"
	if e.Step.Phase == Karpenter {
		remedy = "look at the disruption budgets of the NodePools, at PodDisruptionBudgets, and at pods with the annotation karpenter.sh/do-not-disrupt"
	}
	return fmt.Sprintf("%s: %s: after %s, %s; %s; then run the same command again, which goes on from here",
		e.Cluster, e.Terms.To(e.Step), e.Waited, strings.Join(e.Left, "; "), remedy)
}
