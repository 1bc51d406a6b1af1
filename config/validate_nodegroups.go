package config

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The limits of a managed node group, by CreateNodegroup in the EKS API.
const (
	maxInstanceTypes = 20
	maxTaints        = 50
	maxNodeLabels    = 50
)

func (v *validator) nodeGroups(groups []NodeGroup) {
	list := path("kubernetes.nodeGroups")
	unique(v, list, "name", groups, func(g NodeGroup) string { return g.Name }, "give each node group its own name")
	for i, g := range groups {
		at := list.index(i)
		v.fits(at.field("name"), growth{"the node group", g.Name + nodeGroupEnd, maxNodeGroupName})
		v.instanceTypes(at.field("instanceTypes"), g.InstanceTypes)
		v.size(at.field("size"), g.Size)
		v.nodeLabels(at.field("labels"), g.Labels)
		v.taints(at.field("taints"), g.Taints)
	}
}

func (v *validator) instanceTypes(at path, types []string) {
	unique(v, at, "", types, itself, "give each instance type once")
	if len(types) > maxInstanceTypes {
		v.problem(at, fmt.Sprintf("use at most %d", maxInstanceTypes), "has %d instance types", len(types))
	}
	if !v.sound(at) {
		return
	}
	first := slices.IndexFunc(types, instance.MatchString)
	for i, t := range types {
		if first < 0 || !instance.MatchString(t) {
			continue
		}
		if a, want := ArchitectureOf(t), ArchitectureOf(types[first]); a != want {
			v.problem(at.index(i), "make a node group for each architecture",
				"%s is %s, and %s is %s: a node group has one architecture", quote(t), a, quote(types[first]), want)
			return
		}
	}
}

func (v *validator) size(at path, s Size) {
	lower, upper, desired := at.field("min"), at.field("max"), at.field("desired")
	if !v.sound(lower, upper, desired) {
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

func (v *validator) nodeLabels(at path, labels map[string]string) {
	if len(labels) > maxNodeLabels {
		v.problem(at, "remove some", "has %d labels; EKS allows %d", len(labels), maxNodeLabels)
	}
	v.labels(at, labels)
	for key := range labels {
		v.notReserved(at.key(key), key)
	}
}

func (v *validator) notReserved(at path, key string) {
	if owner := reservedForNodes(key); owner != "" {
		v.keyProblem(at, "use a prefix of your own, such as example.com/",
			"%s is reserved on nodes: the prefix belongs to %s", quote(key), owner)
	}
}

func (v *validator) taints(list path, taints []Taint) {
	if len(taints) > maxTaints {
		v.problem(list, "remove some", "has %d taints; EKS allows %d", len(taints), maxTaints)
	}
	same := func(t Taint) string { return t.Key + ":" + string(t.Effect) }
	repeated(taints, same, func(i, first int) {
		v.problem(list.index(i), "a node has one taint of a key and effect: remove one",
			"%s is already used at line %d", quote(same(taints[i])), v.line(list.index(first)))
	})
	for i, t := range taints {
		at := list.index(i)
		if !v.sound(at.field("key")) {
			continue
		}
		switch owner := reservedForNodes(t.Key); {
		case len(validation.IsQualifiedName(t.Key)) > 0:
			v.problem(at.field("key"), keyRemedy, "%s cannot be the key of a taint", quote(t.Key))
		case owner != "":
			v.problem(at.field("key"), "use a prefix of your own, such as example.com/",
				"%s is reserved on nodes: the prefix belongs to %s", quote(t.Key), owner)
		}
		v.labelValue(at.field("value"), "a taint", t.Value)
	}
}
