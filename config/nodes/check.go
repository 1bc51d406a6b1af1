package nodes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"tombolo/config/awsfacts"
	"tombolo/config/check"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// A name in the cluster file begins longer names in the cloud, which have their own
// limits.
const (
	// maxNodeGroupName is the limit of a node group's name (EKS CreateNodegroup).
	maxNodeGroupName = 63
	// nodeGroupEnd has the form of the end of a node group's name in the cloud,
	// which changes when the group is replaced.
	nodeGroupEnd = "-01234567"
)

// The limits of a managed node group, by CreateNodegroup in the EKS API.
const (
	maxInstanceTypes = 20
	maxTaints        = 50
	maxNodeLabels    = 50
	// maxNodeKey is the length of the key of a label or taint with its prefix, by
	// labelKey and taintKey of the EKS API's model (models/apis/eks/2017-11-01 of
	// github.com/aws/aws-sdk-go v1.55.8). Kubernetes allows 63 without the prefix.
	maxNodeKey = 63
)

// Check checks managed node groups.
func Check(v *check.File, groups []NodeGroup, around Around) {
	list := strict.Path("kubernetes.nodeGroups")
	check.Unique(v, list, "name", groups, func(g NodeGroup) string { return g.Name }, "give each node group its own name")
	for i, g := range groups {
		at := list.Index(i)
		v.Fits(at.Field("name"), "the node group", g.Name+nodeGroupEnd, maxNodeGroupName)
		checkInstanceTypes(v, at.Field("instanceTypes"), g.InstanceTypes)
		checkSize(v, at.Field("size"), g.Size)
		checkImage(v, at, g, around.Version)
		checkVolume(v, at, g)
		checkPlacement(v, at, g, around.Network)
		checkUpdate(v, at.Field("update"), g.Update)
		checkUserData(v, at, g, around)
		checkNodeLabels(v, at.Field("labels"), g.Labels)
		checkTaints(v, at.Field("taints"), g.Taints)
	}
}

func checkInstanceTypes(v *check.File, at strict.Path, types []string) {
	check.Unique(v, at, "", types, check.Itself, "give each instance type once")
	if len(types) > maxInstanceTypes {
		v.Problem(at, fmt.Sprintf("use at most %d", maxInstanceTypes), "has %d instance types", len(types))
	}
	if !v.Doc.Sound(at) {
		return
	}
	first := slices.IndexFunc(types, Instance.MatchString)
	for i, t := range types {
		if first < 0 || !Instance.MatchString(t) {
			continue
		}
		if a, want := awsfacts.ArchitectureOf(t), awsfacts.ArchitectureOf(types[first]); a != want {
			v.Problem(at.Index(i), "make a node group for each architecture",
				"%s is %s, and %s is %s: a node group has one architecture", wording.Quote(t), a, wording.Quote(types[first]), want)
			return
		}
	}
}

func checkSize(v *check.File, at strict.Path, s Size) {
	lower, upper, desired := at.Field("min"), at.Field("max"), at.Field("desired")
	if !v.Doc.Sound(lower, upper, desired) {
		return
	}
	switch {
	case *s.Min > *s.Max:
		v.Problem(lower, "make max the larger one", "min is %d, and max is %d", *s.Min, *s.Max)
	case *s.Desired < *s.Min:
		v.Problem(desired, fmt.Sprintf("use a number from %d to %d", *s.Min, *s.Max),
			"desired is %d, and min is %d", *s.Desired, *s.Min)
	case *s.Desired > *s.Max:
		v.Problem(desired, fmt.Sprintf("use a number from %d to %d", *s.Min, *s.Max),
			"desired is %d, and max is %d", *s.Desired, *s.Max)
	}
}

func checkNodeLabels(v *check.File, at strict.Path, labels map[string]string) {
	if len(labels) > maxNodeLabels {
		v.Problem(at, "remove some", "has %d labels; EKS allows %d", len(labels), maxNodeLabels)
	}
	v.Labels(at, labels)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		checkNotReserved(v, at.Key(key), key)
		if reason, remedy := tooLongOnNodes(key); reason != "" {
			v.KeyProblem(at.Key(key), remedy, "%s", reason)
		}
		// By labelValue of the same model. Kubernetes has labels without a value.
		if labels[key] == "" {
			v.Problem(at.Key(key), `give it one, such as "true"`, "has no value; EKS needs one for the label of a node group")
		}
	}
}

// tooLongOnNodes says what is wrong with a key that Kubernetes takes and a
// node group does not; empty for others.
func tooLongOnNodes(key string) (reason, remedy string) {
	if len(key) <= maxNodeKey || len(validation.IsQualifiedName(key)) > 0 {
		return "", ""
	}
	return fmt.Sprintf("the key has %d characters with its prefix; EKS allows %d on a node group", len(key), maxNodeKey),
		fmt.Sprintf("shorten it by %d", len(key)-maxNodeKey)
}

func checkNotReserved(v *check.File, at strict.Path, key string) {
	if owner := reservedForNodes(v, key); owner != "" {
		v.KeyProblem(at, "use a prefix of your own, such as example.com/",
			"%s is reserved on nodes: the prefix belongs to %s", wording.Quote(key), owner)
	}
}

func checkTaints(v *check.File, list strict.Path, taints []Taint) {
	if len(taints) > maxTaints {
		v.Problem(list, "remove some", "has %d taints; EKS allows %d", len(taints), maxTaints)
	}
	checkRepeatedTaints(v, list, taints)
	for i, t := range taints {
		at := list.Index(i)
		if !v.Doc.Sound(at.Field("key")) {
			continue
		}
		if reason, remedy := tooLongOnNodes(t.Key); reason != "" {
			v.Problem(at.Field("key"), remedy, "%s", reason)
		} else {
			checkTaintKey(v, at.Field("key"), t.Key)
		}
		v.LabelValue(at.Field("value"), "a taint", t.Value)
	}
}

func checkRepeatedTaints(v *check.File, list strict.Path, taints []Taint) {
	same := func(t Taint) string { return t.Key + ":" + string(t.Effect) }
	check.Repeated(taints, same, func(i, first int) {
		v.Problem(list.Index(i), "a node has at most one taint with a key and effect: remove one",
			"%s is already used at %s", wording.Quote(same(taints[i])), v.Line(list.Index(first)))
	})
}

func checkTaintKey(v *check.File, at strict.Path, key string) {
	owner := reservedForNodes(v, key)
	switch {
	case len(validation.IsQualifiedName(key)) > 0:
		v.Problem(at, check.KeyRemedy, "%s cannot be the key of a taint", wording.Quote(key))
	case owner != "":
		v.Problem(at, "use a prefix of your own, such as example.com/",
			"%s is reserved on nodes: the prefix belongs to %s", wording.Quote(key), owner)
	}
}

// reservedForNodes says who owns a label or taint key on nodes, or "".
func reservedForNodes(v *check.File, key string) string {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok {
		return ""
	}
	switch {
	case prefix == "eks.amazonaws.com" || strings.HasSuffix(prefix, ".eks.amazonaws.com"):
		return "EKS"
	case v.OnAzure() && isReservedPrefix(prefix):
		return "AKS"
	case prefix == "kubernetes.io" || strings.HasSuffix(prefix, ".kubernetes.io"),
		prefix == "k8s.io" || strings.HasSuffix(prefix, ".k8s.io"):
		return "Kubernetes"
	}
	return ""
}

// isReservedPrefix says that AKS keeps the prefix of a node's label or taint. Source:
// https://learn.microsoft.com/azure/aks/use-labels
func isReservedPrefix(prefix string) bool {
	return prefix == "kubernetes.azure.com" || strings.HasSuffix(prefix, ".kubernetes.azure.com")
}
