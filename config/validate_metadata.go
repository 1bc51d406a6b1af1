package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"tombolo/config/strict"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// maxAnnotations is the size of all annotations of an object together, in
// bytes (TotalAnnotationSizeLimitB in Kubernetes).
const maxAnnotations = 256 << 10

// metadata checks what describes the cluster itself.
func (v *validator) metadata() {
	v.labels("labels", v.c.Labels)
	v.annotations("annotations", v.c.Annotations)
	own, ofAddons := append(names.InfraKeyNames(string(v.c.Cloud.Provider)), names.ChannelType), v.addonKeys()
	for _, key := range slices.Sorted(maps.Keys(v.c.Values)) {
		at := strict.Path("values").Key(key)
		switch {
		case !valueKey.MatchString(key):
			v.keyProblem(at, "use letters, digits and underscores, and start with no digit",
				"%s cannot be the name of a variable in manifests", wording.Quote(key))
		case slices.Contains(own, key):
			v.keyProblem(at, "use another key", "is published by Tombolo itself")
		case ofAddons[key] != "":
			v.keyProblem(at, "use another key", "is published for the addon %s", ofAddons[key])
		}
		if source, ok := v.c.Values[key].Source(); ok {
			v.source(at, source)
		}
	}
}

// labels checks Kubernetes labels.
func (v *validator) labels(p strict.Path, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		at, value := p.Key(key), labels[key]
		v.qualifiedKey(at, "a label", key)
		v.labelValue(at, "a label", value)
	}
}

// labelValue checks the value of a label or taint.
func (v *validator) labelValue(at strict.Path, of, value string) {
	if len(validation.IsValidLabelValue(value)) > 0 {
		v.problem(at, fmt.Sprintf("use at most %d letters, digits, dashes, dots and underscores, with a letter or digit at both ends",
			validation.LabelValueMaxLength), "%s cannot be the value of %s", wording.Quote(value), of)
	}
}

const keyRemedy = "write it as name or example.com/name, with at most 63 letters, digits, dashes, dots and underscores in the name"

// qualifiedKey checks the key of a label or annotation.
func (v *validator) qualifiedKey(at strict.Path, of, key string) {
	if len(validation.IsQualifiedName(key)) > 0 {
		v.keyProblem(at, keyRemedy, "%s cannot be the key of %s", wording.Quote(key), of)
	}
}

func (v *validator) annotations(p strict.Path, annotations map[string]string) {
	size := 0
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		v.qualifiedKey(p.Key(key), "an annotation", strings.ToLower(key))
		size += len(key) + len(annotations[key])
	}
	if size > maxAnnotations {
		v.problem(p, "move long texts elsewhere", "annotations have %d bytes; Kubernetes allows %d", size, maxAnnotations)
	}
}

// reservedForNodes says who owns a label or taint key on nodes, or "".
func (v *validator) reservedForNodes(key string) string {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok {
		return ""
	}
	switch {
	case prefix == "eks.amazonaws.com" || strings.HasSuffix(prefix, ".eks.amazonaws.com"):
		return "EKS"
	case v.c.onAzure() && isReservedPrefix(prefix):
		return "AKS"
	case prefix == "kubernetes.io" || strings.HasSuffix(prefix, ".kubernetes.io"),
		prefix == "k8s.io" || strings.HasSuffix(prefix, ".k8s.io"):
		return "Kubernetes"
	}
	return ""
}

// namespaces checks the namespaces that bootstrap makes.
func (v *validator) namespaces() {
	list := strict.Path("namespaces")
	unique(v, list, "name", v.c.Namespaces, func(n Namespace) string { return n.Name }, "give the namespace once")
	for i, n := range v.c.Namespaces {
		at := list.Index(i)
		if n.Name == "default" || strings.HasPrefix(n.Name, "kube-") {
			v.problem(at.Field("name"), "use a namespace of your own", "%s belongs to Kubernetes", wording.Quote(n.Name))
		}
		v.labels(at.Field("labels"), n.Labels)
		if _, ok := n.Labels["kubernetes.io/metadata.name"]; ok {
			v.keyProblem(at.Field("labels").Key("kubernetes.io/metadata.name"), "remove it", "is set by Kubernetes")
		}
		v.annotations(at.Field("annotations"), n.Annotations)
	}
}
