package builtin

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	helm "github.com/fluxcd/helm-controller/api/v2"
	kustomize "github.com/fluxcd/kustomize-controller/api/v1"
	notification "github.com/fluxcd/notification-controller/api/v1"
	notificationbeta "github.com/fluxcd/notification-controller/api/v1beta3"
	source "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// fluxScheme has the kinds of Flux v2.9, by its own packages.
var fluxScheme = sync.OnceValue(func() *runtime.Scheme {
	out := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		kustomize.AddToScheme, helm.AddToScheme, source.AddToScheme, notification.AddToScheme, notificationbeta.AddToScheme,
	} {
		if err := add(out); err != nil {
			panic(err) // the kinds of two packages are not the same
		}
	}
	return out
})

// schemes of addresses that the definitions take. Source: config/crd/bases of the controllers.
var schemes = map[string][]string{
	"GitRepository": {"http://", "https://", "ssh://"}, "HelmRepository": {"http://", "https://", "oci://"}, "OCIRepository": {"oci://"},
}

// RefusedOfFlux is what the API refuses of an object of Flux: a kind that Flux does not have, fields that the kind does
// not have, and values of a wrong type. Of others it is nothing. kustomize-controller applies on the server,
// which refuses a field that is not in the definition.
func RefusedOfFlux(text string) []Problem {
	raw, err := yaml.YAMLToJSON([]byte(text))
	var o unstructured.Unstructured
	if err != nil || json.Unmarshal(raw, &o.Object) != nil {
		return nil
	}
	kind := o.GroupVersionKind()
	if !fluxScheme().Recognizes(kind) {
		return unknownOfFlux(kind)
	}
	if name := o.GetName(); len(validation.IsDNS1123Subdomain(name)) > 0 && name != "" {
		return []Problem{{
			Path: []string{"metadata", "name"}, Message: "the name " + name + " has other things than lower case letters, digits, - and .",
		}}
	}
	return append(decoded(raw, kind, fluxScheme()), wrongAddress(o, schemes[kind.Kind])...)
}

func wrongAddress(o unstructured.Unstructured, schemes []string) []Problem {
	url, ok, _ := unstructured.NestedString(o.Object, "spec", "url")
	if !ok || len(schemes) == 0 || slices.ContainsFunc(schemes, func(s string) bool { return strings.HasPrefix(url, s) }) {
		return nil
	}
	return []Problem{{
		Path: []string{"spec", "url"}, Message: "spec.url begins with none of " + strings.Join(schemes, ", "), Remedy: "correct the address",
	}}
}

// unknownOfFlux says that a group of Flux has no such kind; a version that it does not have is looked at elsewhere.
func unknownOfFlux(kind schema.GroupVersionKind) []Problem {
	if !strings.HasSuffix(kind.Group, ".toolkit.fluxcd.io") || !fluxScheme().IsGroupRegistered(kind.Group) {
		return nil
	}
	for known := range fluxScheme().AllKnownTypes() {
		if known.Group == kind.Group && known.Kind == kind.Kind {
			return nil
		}
	}
	return []Problem{{Path: []string{"kind"}, Message: "Flux has no " + kind.Kind + " in " + kind.Group, Remedy: "correct the kind"}}
}

// noDuration is how a duration is refused.
var noDuration = regexp.MustCompile(`time: .*duration "(.*)"`)

// durationAt is where an object has a duration that is refused.
func durationAt(value any, text string, at []string) []string {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	for key, below := range fields {
		here := append(slices.Clone(at), key)
		if below == text {
			return here
		}
		if found := durationAt(below, text, here); found != nil {
			return found
		}
	}
	return nil
}
