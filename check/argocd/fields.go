package argocd

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// fieldsText has the fields of Argo CD's kinds and their types: below a field that is a list are those of its items;
// one without a type is text. Source: manifests/crds of argoproj/argo-cd v3.5.7; TestFieldsOfArgoCD in tests/engines
// holds them to the manifest.
//
//go:embed fields.yaml
var fieldsText []byte

var knownFields = sync.OnceValue(func() (out map[string]any) {
	if err := yaml.Unmarshal(fieldsText, &out); err != nil {
		panic(err) // the file is part of the program
	}
	return out
})

// lastKnown is the release of Argo CD whose fields these are: a later one may have more.
const lastKnown = "v3.5"

// checkFields reports what the API refuses or drops of an object of Argo CD, and says whether it found anything. Argo CD
// does not ask the server for strict validation: newApplyOptions in pkg/utils/kube/resource_ops.go of its gitops-engine
// sets no ValidationDirective. So a field that a kind does not have is dropped, and the object is never as it is in Git.
func (w *Walk) checkFields(in *walk.Origin, o manifest.Object, text string) (found bool) {
	of, ok := knownFields()[o.Kind].(map[string]any)
	content, err := manifest.Decode[map[string]any](text)
	if !ok || err != nil || strings.Contains(text, manifest.Unset) || semver.Compare(semver.MajorMinor(w.Published.Distribution), lastKnown) > 0 {
		return false
	}
	c := fieldChecks{w, in, o, len(w.Findings)}
	if o.APIVersion != group+"/v1alpha1" {
		c.refuse([]string{"apiVersion"}, o.APIVersion, fmt.Sprintf("Argo CD has no %s in %s: the API refuses it", o.Kind, o.APIVersion), "write "+group+"/v1alpha1")
	}
	c.each([]string{"spec"}, content["spec"], of)
	return len(w.Findings) > c.before
}

// fieldChecks look at the fields of an object.
type fieldChecks struct {
	*Walk
	in     *walk.Origin
	object manifest.Object
	before int
}

func (c fieldChecks) refuse(at []string, value any, message, remedy string) {
	path, text := walk.First(at, value)
	c.Refer(c.in, tree.Wanted{Object: c.object, Path: path, Value: text}, finding.Errorf("%s: %s", c.object.Identity(), message).
		WithRemedy(remedy))
}

// each looks at a value of which the fields or the type are known.
func (c fieldChecks) each(at []string, value, known any) {
	fields, isObject := known.(map[string]any)
	items, isList := value.([]any)
	below, isMap := value.(map[string]any)
	switch {
	case value == nil:
	case isObject && isList:
		for _, item := range items {
			c.each(append(slices.Clip(at), "[]"), item, known)
		}
	case isObject && isMap:
		for _, key := range slices.Sorted(maps.Keys(below)) {
			c.field(append(slices.Clip(at), key), below[key], fields)
		}
	default:
		if wanted := wrongType(value, known); wanted != "" {
			c.refuse(at, value, strings.Join(at, ".")+" has to be "+wanted+": the API refuses it", "")
		}
	}
}

// field looks at one field. A kind of generator that there is not is its own finding.
func (c fieldChecks) field(at []string, value any, fields map[string]any) {
	key := at[len(at)-1]
	known, ok := fields[key]
	switch {
	case ok:
		c.each(at, value, known)
	case len(at) < 3 || at[len(at)-3] != "generators":
		c.refuse(at, value, fmt.Sprintf("%s has no field %s: the API drops it, and Argo CD never calls the object synced", c.object.Kind, strings.Join(at, ".")),
			near.DidYouMean(key, slices.Sorted(maps.Keys(fields)), "correct or remove it"))
	}
}

// wrongType is what a value has to be and is not; "" when it is well.
func wrongType(value, known any) string {
	var ok bool
	wanted := "text"
	switch known {
	case "any":
		ok = true
	case "bool":
		wanted = "true or false"
		_, ok = value.(bool)
	case "number":
		wanted = "a number"
		_, ok = value.(float64)
	case "list":
		wanted = "a list"
		_, ok = value.([]any)
	case "map":
		wanted = "a mapping"
		_, ok = value.(map[string]any)
	case nil:
		_, ok = value.(string)
	default:
		wanted = "a mapping"
	}
	if ok {
		return ""
	}
	return wanted
}
