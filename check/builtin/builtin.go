// Package builtin says what the API refuses of objects of Kubernetes' own kinds, by the decoder and
// the calendar of the API server's own packages.
package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"tombolo/check/definition"
)

// Problem is something that the API refuses.
type Problem struct {
	// Path of the field, with [] for any item of a list; apiVersion or kind for those of the object.
	Path []string
	// Message says what is wrong, Remedy what to write; it may be "".
	Message, Remedy string
	// IsType says that a value has the wrong type, IsText that it has to be text, and IsField that the kind does not
	// have the field.
	IsType, IsText, IsField bool
}

// others are kinds of the API server that the packages do not have, with the release that has them no more
// and the version to write.
// Source: https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v1-22
var others = map[string]struct {
	minor int
	write string
}{
	"apiextensions.k8s.io/v1beta1/CustomResourceDefinition": {22, "apiextensions.k8s.io/v1"},
	"apiregistration.k8s.io/v1beta1/APIService":             {22, "apiregistration.k8s.io/v1"},
}

// Refused is what the API of a release, such as 1.35, refuses of an object: a version or kind that it does
// not serve, fields that the kind does not have, and values of a wrong type. Without a release, versions are not
// looked at.
func Refused(text, release string) []Problem {
	var of metav1.TypeMeta
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil || json.Unmarshal(raw, &of) != nil || of.Kind == "" {
		return nil
	}
	kind := schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
	if problem, ok := wrongName(kind, raw); ok {
		return []Problem{problem}
	}
	if problem, ok := notServed(kind, release); ok {
		return []Problem{problem}
	}
	if !scheme.Scheme.Recognizes(kind) {
		return wrongMetadata(raw)
	}
	strict := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, serializer.SerializerOptions{Strict: true})
	_, _, err = strict.Decode(raw, nil, nil)
	if fields, ok := runtime.AsStrictDecodingError(err); ok {
		return unknown(kind.Kind, fields.Errors())
	}
	return unread(err)
}

// wrongName is a name that the API does not take.
func wrongName(kind schema.GroupVersionKind, raw []byte) (Problem, bool) {
	var of struct{ Metadata struct{ Name string } }
	if err := json.Unmarshal(raw, &of); err != nil {
		return Problem{}, false // its own finding
	}
	return RefusedName(kind, of.Metadata.Name)
}

// RefusedName says that the API does not take the name of an object; an empty one is none. Those of roles and their bindings
// may have other characters. Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
func RefusedName(kind schema.GroupVersionKind, name string) (Problem, bool) {
	p := Problem{Path: []string{"metadata", "name"}}
	switch {
	case name == "" || kind.Group == rbac.GroupName:
	case kind.Group == "" && kind.Kind == "Namespace" && len(validation.IsDNS1123Label(name)) > 0:
		p.Message, p.Remedy = fmt.Sprintf("%q is no name of a namespace", name), "use lower case letters, digits and -, 63 at most"
	case kind.Group == "" && kind.Kind == "Service" && len(validation.IsDNS1035Label(name)) > 0:
		p.Message, p.Remedy = fmt.Sprintf("%q is no name of a Service", name), "use lower case letters, digits and -, with a letter first, 63 at most"
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		p.Message, p.Remedy = fmt.Sprintf("%q is no name", name), "use lower case letters, digits, - and ., with a letter or digit at both ends, 253 at most"
	}
	return p, p.Message != ""
}

// lifecycle is what the API's own types say of their kind.
type lifecycle interface {
	APILifecycleRemoved() (major, minor int)
}

// replaced is a kind that another one has taken the place of.
type replaced interface {
	APILifecycleReplacement() schema.GroupVersionKind
}

func notServed(kind schema.GroupVersionKind, release string) (Problem, bool) {
	p := Problem{Path: []string{"apiVersion"}}
	var minor int
	if _, err := fmt.Sscanf(release, "1.%d", &minor); err != nil {
		return p, false
	}
	gone := func(since int, write string) (Problem, bool) {
		p.Message = fmt.Sprintf("Kubernetes serves %s of %s until 1.%d, and the cluster has %s", kind.GroupVersion(), kind.Kind, since-1, release)
		if write != "" {
			p.Remedy = "write " + write
		}
		return p, minor >= since
	}
	if other, ok := others[kind.GroupVersion().String()+"/"+kind.Kind]; ok {
		return gone(other.minor, other.write)
	}
	o, err := scheme.Scheme.New(kind)
	if err != nil {
		return p.unknownKind(kind)
	}
	ends, ok := o.(lifecycle)
	if !ok {
		return p, false
	}
	write := ""
	if by, ok := o.(replaced); ok {
		write = by.APILifecycleReplacement().GroupVersion().String()
	}
	_, since := ends.APILifecycleRemoved()
	return gone(since, write)
}

// unknownKind says that a group of Kubernetes has no such kind, or not in that version.
func (p Problem) unknownKind(kind schema.GroupVersionKind) (Problem, bool) {
	if !scheme.Scheme.IsGroupRegistered(kind.Group) {
		return p, false
	}
	p.Message = fmt.Sprintf("Kubernetes has no %s in %s", kind.Kind, kind.GroupVersion())
	p.Path, p.Remedy = []string{"kind"}, "correct the kind, or its apiVersion"
	for _, version := range scheme.Scheme.PrioritizedVersionsForGroup(kind.Group) {
		if !scheme.Scheme.Recognizes(version.WithKind(kind.Kind)) {
			continue
		}
		p.Path, p.Remedy = []string{"apiVersion"}, "write "+version.String()
		if strings.HasPrefix(kind.Version, version.Version) {
			break // v2 has become of v2beta2
		}
	}
	return p, true
}

// unknownField is how the decoder names a field that a kind does not have.
var unknownField = regexp.MustCompile(`^unknown field "(.*)"$`)

// unknown are the fields that a kind does not have. A key that is there twice is none of them: the engines'
// own readers have taken one of the two before.
func unknown(kind string, all []error) []Problem {
	var out []Problem
	for _, err := range all {
		if m := unknownField.FindStringSubmatch(err.Error()); m != nil {
			out = append(out, Problem{Path: pathOf(m[1]), IsField: true, Message: fmt.Sprintf("%s has no field %s", kind, m[1])})
		}
	}
	return out
}

// wrongMetadata is a value of a wrong type in what every object has.
func wrongMetadata(raw []byte) []Problem {
	return wrongType(json.Unmarshal(raw, &metav1.PartialObjectMetadata{}))
}

// wrongType is the value of a wrong type that a decoder names.
func wrongType(err error) []Problem {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return nil
	}
	return []Problem{ofType(wrong.Field, wrong.Value, wrong.Type.Kind().String())}
}

// fieldOfType is how the decoder of the API server names a value of a wrong type.
var fieldOfType = regexp.MustCompile(`cannot unmarshal (\w+) into Go struct field \w+\.(\S+) of type (\S+)`)

// unread is what the API's decoder could not read.
func unread(err error) []Problem {
	if err == nil {
		return nil
	}
	if found := wrongType(err); found != nil {
		return found
	}
	if m := fieldOfType.FindStringSubmatch(err.Error()); m != nil {
		return []Problem{ofType(m[2], m[1], m[3])}
	}
	return []Problem{{Path: []string{"metadata", "name"}, IsType: true, Message: "the API cannot read it: " + err.Error()}}
}

// ofType is a field that has a type of JSON, and has to have one of Go.
func ofType(field, is, wanted string) Problem {
	remedy := "give it that type"
	if wanted == "string" && (is == "number" || is == "bool") {
		remedy = "put it into quotes"
	}
	return Problem{
		Remedy: remedy, Path: pathOf(field), IsType: true, IsText: wanted == "string",
		Message: fmt.Sprintf("%s is %s, and has to be %s", field, definition.Word(is), definition.Word(wanted)),
	}
}

var index = regexp.MustCompile(`\[\d+\]`)

// pathOf are the keys of a field that the decoder names, such as spec.containers[0].image.
func pathOf(field string) []string {
	return strings.Split(index.ReplaceAllString(field, ".[]"), ".")
}
