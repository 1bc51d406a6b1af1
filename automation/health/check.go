package health

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/automation/kube"
	"tombolo/internal/wording"
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

// kubernetesAPI is the kind of a check that found no API that answers.
const kubernetesAPI = "Kubernetes API"

// addonKind is the kind of a check of an addon that nothing releases.
const addonKind = "Addon"

// Unreachable says that the cluster's API did not answer, so that nothing is
// known of what is in it.
func (c Check) Unreachable() bool { return c.Kind == kubernetesAPI }

func (c Check) String() string {
	name := c.Kind
	if c.Name != "" {
		name += " " + c.Namespace + "/" + c.Name
	}
	return name + ": " + wording.OneLine(c.Message)
}

// remedy for a check that did not pass.
func (c Check) remedy() string {
	remedies := map[string]string{
		addonKind:        "put its folder into the lists of the platform tree, as `tombolo init platform` does",
		"GitRepository":  "check the repository's URL, branch and credentials in the cluster file",
		"HelmRelease":    fmt.Sprintf("look at `kubectl -n %s describe helmrelease %s`", c.Namespace, c.Name),
		"Kustomization":  fmt.Sprintf("look at `kubectl -n %s describe kustomization %s`", c.Namespace, c.Name),
		"ConfigMap":      "run `tombolo up` again",
		"Secret":         "run `tombolo up` again",
		"ApplicationSet": fmt.Sprintf("look at `kubectl -n %s describe applicationset %s` on the hub", c.Namespace, c.Name),
		"Application":    fmt.Sprintf("look at `kubectl -n %s describe application %s` on the hub", c.Namespace, c.Name),
	}
	if r, ok := remedies[c.Kind]; ok {
		return r
	}
	return "resolve the cause and run `tombolo verify` again"
}

func orNone(revision string) string {
	if revision == "" {
		return "none"
	}
	return revision
}

// condition of an object; false when it has none of the kind.
func condition(o *unstructured.Unstructured, kind string) (metav1.Condition, bool) {
	if c := meta.FindStatusCondition(kube.Conditions(o), kind); c != nil {
		return *c, true
	}
	return metav1.Condition{}, false
}
