package plan

import (
	"fmt"
	"path"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/value"
	"tombolo/internal/names"
)

// publishes says what GitOps reads at a path of a resource; where is the path of
// a difference within it. It is nil for what GitOps does not read.
func publishes(m apitype.StepEventMetadata, at resource.PropertyPath, where string) *Published {
	id := objectOf(m)
	inner, within := "", false
	if i := strings.LastIndex(where, arrow); i >= 0 {
		inner, within = where[i+len(arrow):], true
	}
	at, last, ok := lastKey(at, where)
	switch {
	case !ok:
		return nil
	case m.Type == configMapType && at[0] == "data" && IsInfraConfig(m.Type, id):
		return &Published{Object: id, Key: last}
	case m.Type == configMapType && at[0] == "data" && strings.HasSuffix(path.Base(id), names.Values("")):
		if within {
			last = inner
		}
		return &Published{Object: id, Key: last}
	case (IsRegistration(m.Type, id) || IsInfraConfig(m.Type, id)) && len(at) > 2 && at[0] == "metadata" && (at[1] == "annotations" || at[1] == "labels"):
		return &Published{Object: id, Key: last, Annotation: true}
	}
	return nil
}

// lastKey is the key that a path ends with, or that of a difference within it,
// with the whole path to it.
func lastKey(at resource.PropertyPath, where string) (whole resource.PropertyPath, last string, ok bool) {
	outer, _, _ := strings.Cut(where, arrow)
	if parsed, err := resource.ParsePropertyPath(outer); err == nil && len(parsed) > len(at) {
		at = parsed
	}
	if len(at) < 2 {
		return at, "", false
	}
	last, ok = at[len(at)-1].(string)
	return at, last, ok
}

// objectOf is the namespace/name of a Kubernetes object.
func objectOf(m apitype.StepEventMetadata) string {
	for _, state := range []*apitype.StepEventStateMetadata{m.New, m.Old} {
		if state == nil {
			continue
		}
		namespace, _ := value.At(state.Inputs, resource.PropertyPath{"metadata", "namespace"})
		name, _ := value.At(state.Inputs, resource.PropertyPath{"metadata", "name"})
		if name != nil {
			return fmt.Sprintf("%v/%v", namespace, name)
		}
	}
	return ""
}

// arrow leads into a text.
const arrow = " → "
