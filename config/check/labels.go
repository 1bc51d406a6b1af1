package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// maxAnnotations is the size of all annotations of an object together, in
// bytes (TotalAnnotationSizeLimitB in Kubernetes).
const maxAnnotations = 256 << 10

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

// KeyRemedy is what to do about a key of a label, an annotation or a taint.
const KeyRemedy = "write it as name or example.com/name, with at most 63 letters, digits, dashes, dots and underscores in the name"

// QualifiedKey checks the key of a label or annotation.
func (v *File) QualifiedKey(at strict.Path, of, key string) {
	if len(validation.IsQualifiedName(key)) > 0 {
		v.KeyProblem(at, KeyRemedy, "%s cannot be the key of %s", wording.Quote(key), of)
	}
}

// Annotations checks Kubernetes annotations, and their size together.
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
