package config

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"tombolo/config/awsfacts"
	"tombolo/config/strict"
	"tombolo/internal/wording"
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

func (v *validator) nodeGroups(groups []NodeGroup) {
	list := strict.Path("kubernetes.nodeGroups")
	unique(v, list, "name", groups, func(g NodeGroup) string { return g.Name }, "give each node group its own name")
	for i, g := range groups {
		at := list.Index(i)
		v.fits(at.Field("name"), growth{"the node group", g.Name + nodeGroupEnd, maxNodeGroupName})
		v.instanceTypes(at.Field("instanceTypes"), g.InstanceTypes)
		v.size(at.Field("size"), g.Size)
		v.image(at, g)
		v.volume(at.Field("volume"), g.Volume)
		v.placement(at, g)
		v.update(at.Field("update"), g.Update)
		v.userData(at, g)
		v.nodeLabels(at.Field("labels"), g.Labels)
		v.taints(at.Field("taints"), g.Taints)
	}
}

func (v *validator) instanceTypes(at strict.Path, types []string) {
	unique(v, at, "", types, itself, "give each instance type once")
	if len(types) > maxInstanceTypes {
		v.problem(at, fmt.Sprintf("use at most %d", maxInstanceTypes), "has %d instance types", len(types))
	}
	if !v.doc.Sound(at) {
		return
	}
	first := slices.IndexFunc(types, instance.MatchString)
	for i, t := range types {
		if first < 0 || !instance.MatchString(t) {
			continue
		}
		if a, want := awsfacts.ArchitectureOf(t), awsfacts.ArchitectureOf(types[first]); a != want {
			v.problem(at.Index(i), "make a node group for each architecture",
				"%s is %s, and %s is %s: a node group has one architecture", wording.Quote(t), a, wording.Quote(types[first]), want)
			return
		}
	}
}

func (v *validator) size(at strict.Path, s Size) {
	lower, upper, desired := at.Field("min"), at.Field("max"), at.Field("desired")
	if !v.doc.Sound(lower, upper, desired) {
		return
	}
	switch {
	case *s.Min > *s.Max:
		v.problem(lower, "make max the larger one", "min is %d, and max is %d", *s.Min, *s.Max)
	case *s.Desired < *s.Min:
		v.problem(desired, fmt.Sprintf("use a number from %d to %d", *s.Min, *s.Max),
			"desired is %d, and min is %d", *s.Desired, *s.Min)
	case *s.Desired > *s.Max:
		v.problem(desired, fmt.Sprintf("use a number from %d to %d", *s.Min, *s.Max),
			"desired is %d, and max is %d", *s.Desired, *s.Max)
	}
}

func (v *validator) nodeLabels(at strict.Path, labels map[string]string) {
	if len(labels) > maxNodeLabels {
		v.problem(at, "remove some", "has %d labels; EKS allows %d", len(labels), maxNodeLabels)
	}
	v.labels(at, labels)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		v.notReserved(at.Key(key), key)
		if reason, remedy := tooLongOnNodes(key); reason != "" {
			v.keyProblem(at.Key(key), remedy, "%s", reason)
		}
		// By labelValue of the same model. Kubernetes has labels without a value.
		if labels[key] == "" {
			v.problem(at.Key(key), `give it one, such as "true"`, "has no value; EKS needs one for the label of a node group")
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

func (v *validator) notReserved(at strict.Path, key string) {
	if owner := v.reservedForNodes(key); owner != "" {
		v.keyProblem(at, "use a prefix of your own, such as example.com/",
			"%s is reserved on nodes: the prefix belongs to %s", wording.Quote(key), owner)
	}
}

func (v *validator) taints(list strict.Path, taints []Taint) {
	if len(taints) > maxTaints {
		v.problem(list, "remove some", "has %d taints; EKS allows %d", len(taints), maxTaints)
	}
	v.repeatedTaints(list, taints)
	for i, t := range taints {
		at := list.Index(i)
		if !v.doc.Sound(at.Field("key")) {
			continue
		}
		if reason, remedy := tooLongOnNodes(t.Key); reason != "" {
			v.problem(at.Field("key"), remedy, "%s", reason)
		} else {
			v.taintKey(at.Field("key"), t.Key)
		}
		v.labelValue(at.Field("value"), "a taint", t.Value)
	}
}

func (v *validator) repeatedTaints(list strict.Path, taints []Taint) {
	same := func(t Taint) string { return t.Key + ":" + string(t.Effect) }
	repeated(taints, same, func(i, first int) {
		v.problem(list.Index(i), "a node has at most one taint with a key and effect: remove one",
			"%s is already used at line %d", wording.Quote(same(taints[i])), v.line(list.Index(first)))
	})
}

func (v *validator) taintKey(at strict.Path, key string) {
	owner := v.reservedForNodes(key)
	switch {
	case len(validation.IsQualifiedName(key)) > 0:
		v.problem(at, keyRemedy, "%s cannot be the key of a taint", wording.Quote(key))
	case owner != "":
		v.problem(at, "use a prefix of your own, such as example.com/",
			"%s is reserved on nodes: the prefix belongs to %s", wording.Quote(key), owner)
	}
}

// Architecture of the group's nodes; validation holds all its instance types to
// the same one.
func (g NodeGroup) Architecture() awsfacts.Architecture {
	if len(g.InstanceTypes) == 0 {
		return awsfacts.AMD64
	}
	return awsfacts.ArchitectureOf(g.InstanceTypes[0])
}
