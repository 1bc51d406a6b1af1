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

// checkMetadata checks what describes the cluster itself.
func checkMetadata(v *File, c *Cluster) {
	v.Labels("labels", c.Labels)
	v.Annotations("annotations", c.Annotations)
	own, ofAddons := append(names.InfraKeyNames(string(c.Cloud.Provider)), names.ChannelType), checkAddonKeys(v, c)
	for _, key := range slices.Sorted(maps.Keys(c.Values)) {
		at := strict.Path("values").Key(key)
		switch {
		case !valueKey.MatchString(key):
			v.KeyProblem(at, "use letters, digits and underscores, and start with no digit",
				"%s cannot be the name of a variable in manifests", wording.Quote(key))
		case slices.Contains(own, key):
			v.KeyProblem(at, "use another key", "is published by Tombolo itself")
		case ofAddons[key] != "":
			v.KeyProblem(at, "use another key", "is published for the addon %s", ofAddons[key])
		}
		if source, ok := c.Values[key].Source(); ok {
			CheckSource(v, at, source)
		}
	}
}

// Labels checks Kubernetes labels.
func (v *File) Labels(p strict.Path, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		at, value := p.Key(key), labels[key]
		v.QualifiedKey(at, "a label", key)
		v.LabelValue(at, "a label", value)
	}
}

// LabelValue checks the value of a label or taint.
func (v *File) LabelValue(at strict.Path, of, value string) {
	if len(validation.IsValidLabelValue(value)) > 0 {
		v.Problem(at, fmt.Sprintf("use at most %d letters, digits, dashes, dots and underscores, with a letter or digit at both ends",
			validation.LabelValueMaxLength), "%s cannot be the value of %s", wording.Quote(value), of)
	}
}

const keyRemedy = "write it as name or example.com/name, with at most 63 letters, digits, dashes, dots and underscores in the name"

// QualifiedKey checks the key of a label or annotation.
func (v *File) QualifiedKey(at strict.Path, of, key string) {
	if len(validation.IsQualifiedName(key)) > 0 {
		v.KeyProblem(at, keyRemedy, "%s cannot be the key of %s", wording.Quote(key), of)
	}
}

func (v *File) Annotations(p strict.Path, annotations map[string]string) {
	size := 0
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		v.QualifiedKey(p.Key(key), "an annotation", strings.ToLower(key))
		size += len(key) + len(annotations[key])
	}
	if size > maxAnnotations {
		v.Problem(p, "move long texts elsewhere", "annotations have %d bytes; Kubernetes allows %d", size, maxAnnotations)
	}
}

// reservedForNodes says who owns a label or taint key on nodes, or "".
func reservedForNodes(v *File, key string) string {
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

// CheckNamespaces checks the namespaces that bootstrap makes.
func CheckNamespaces(v *File, namespaces []Namespace) {
	list := strict.Path("namespaces")
	Unique(v, list, "name", namespaces, func(n Namespace) string { return n.Name }, "give the namespace once")
	for i, n := range namespaces {
		at := list.Index(i)
		if n.Name == "default" || strings.HasPrefix(n.Name, "kube-") {
			v.Problem(at.Field("name"), "use a namespace of your own", "%s belongs to Kubernetes", wording.Quote(n.Name))
		}
		v.Labels(at.Field("labels"), n.Labels)
		if _, ok := n.Labels["kubernetes.io/metadata.name"]; ok {
			v.KeyProblem(at.Field("labels").Key("kubernetes.io/metadata.name"), "remove it", "is set by Kubernetes")
		}
		v.Annotations(at.Field("annotations"), n.Annotations)
	}
}
