package automation

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Check is what verify found about one object.
type Check struct {
	// Kind, Namespace and Name of the object.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Ready at the object's own generation and at the expected revision.
	Ready bool `json:"ready"`
	// Revision that the object is at.
	Revision string `json:"revision,omitempty"`
	// Message of the object, or why it does not count as ready.
	Message string `json:"message,omitempty"`
	// Since is when the object's readiness last changed; zero when unknown.
	Since time.Time `json:"since,omitzero"`
}

func (c Check) String() string {
	name := c.Kind
	if c.Name != "" {
		name += " " + c.Namespace + "/" + c.Name
	}
	return name + ": " + c.Message
}

// remedy for a check that did not pass.
func (c Check) remedy() string {
	resources := map[string]string{
		"GitRepository": "check the repository's URL, branch and credentials in the cluster file",
		"HelmRelease":   fmt.Sprintf("look at `kubectl -n %s describe helmrelease %s`", c.Namespace, c.Name),
		"Kustomization": fmt.Sprintf("look at `kubectl -n %s describe kustomization %s`", c.Namespace, c.Name),
		"ConfigMap":     "run `tombolo up` again",
	}
	if r, ok := resources[c.Kind]; ok {
		return r
	}
	return "resolve the cause and run `tombolo verify` again"
}

// check judges one object.
func (p *platform) check(o *unstructured.Unstructured) Check {
	c := Check{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), Revision: revision(o)}
	ready, reason := condition(o, "Ready")
	c.Message, c.Since = ready.message, ready.since
	switch {
	case suspended(o):
		c.Message = "is suspended: resume it"
	case static(o):
		c.Ready, c.Message = true, "needs no reconciliation"
	case !ready.found:
		c.Message = "not reconciled yet: is its controller running?"
	case behind(o, ready):
		c.Message = "its latest change is not reconciled yet"
	case ready.status != "True":
		c.Message = strings.TrimSpace(reason + ": " + ready.message)
	case asked(o):
		c.Message = "was asked to reconcile now and has not yet"
	default:
		c.Ready = true
		if expected, ok := p.expected(o); ok && c.Revision != expected {
			c.Ready = false
			c.Message = fmt.Sprintf("is at revision %s, and its source at %s", orNone(c.Revision), expected)
		}
	}
	return c
}

func orNone(revision string) string {
	if revision == "" {
		return "none"
	}
	return revision
}

// revision that an object has applied, or a source has fetched.
func revision(o *unstructured.Unstructured) string {
	paths := map[string][]string{
		"Kustomization": {"status", "lastAppliedRevision"},
		"HelmRelease":   {"status", "lastAttemptedRevision"},
	}
	path, ok := paths[o.GetKind()]
	if !ok {
		path = []string{"status", "artifact", "revision"}
	}
	return text(o, path...)
}

// expected is the revision of the source that a Kustomization or HelmRelease
// should be at, where the two can be compared.
func (p *platform) expected(o *unstructured.Unstructured) (string, bool) {
	var source ref
	switch o.GetKind() {
	case "Kustomization":
		source, _ = sourceRef(o, "spec", "sourceRef")
	case "HelmRelease":
		// A chart from an OCIRepository is recorded in another form there.
		namespace, name, ok := strings.Cut(text(o, "status", "helmChart"), "/")
		if !ok {
			return "", false
		}
		source = ref{Kind: "HelmChart", Namespace: namespace, Name: name}
	default:
		return "", false
	}
	s, ok := p.objects[source]
	if !ok {
		return "", false
	}
	r := revision(s)
	return r, r != ""
}

// sourceRef reads a reference whose namespace defaults to the object's own.
func sourceRef(o *unstructured.Unstructured, path ...string) (ref, bool) {
	m, ok, err := unstructured.NestedStringMap(o.Object, path...)
	if !ok || err != nil || m["name"] == "" {
		return ref{}, false
	}
	r := ref{Kind: m["kind"], Namespace: m["namespace"], Name: m["name"]}
	if r.Namespace == "" {
		r.Namespace = o.GetNamespace()
	}
	return r, true
}

// conditionState is one of an object's conditions.
type conditionState struct {
	found    bool
	status   string
	message  string
	observed int64
	since    time.Time
}

func condition(o *unstructured.Unstructured, kind string) (c conditionState, reason string) {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok || m["type"] != kind {
			continue
		}
		c.found = true
		c.status, _ = m["status"].(string)
		c.message, _ = m["message"].(string)
		c.observed, _, _ = unstructured.NestedInt64(m, "observedGeneration")
		since, _ := m["lastTransitionTime"].(string)
		c.since, _ = time.Parse(time.RFC3339, since)
		reason, _ = m["reason"].(string)
	}
	return c, reason
}

// behind says that the status is about an older generation of the object.
func behind(o *unstructured.Unstructured, ready conditionState) bool {
	observed, ok, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	if ok && observed >= 0 && observed < o.GetGeneration() {
		return true
	}
	return ready.observed > 0 && ready.observed < o.GetGeneration()
}

func suspended(o *unstructured.Unstructured) bool {
	s, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend")
	return s
}

// static objects have no status: an OCI HelmRepository is only an address.
func static(o *unstructured.Unstructured) bool {
	return o.GetKind() == "HelmRepository" && text(o, "spec", "type") == "oci"
}

func text(o *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(o.Object, path...)
	return s
}
