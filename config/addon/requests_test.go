package addon

import (
	"os"
	"testing"

	"gotest.tools/v3/assert"
	"sigs.k8s.io/yaml"
)

// values of a release, as far as they say how many pods there are and what these ask for.
type released struct {
	Replicas     int
	ReplicaCount int
	Controller   struct {
		Resources struct{ Requests struct{ CPU, Memory string } }
	}
	Webhook, Cainjector struct{ ReplicaCount int }
}

// TestRequestsAreTheTrees: what is held against node groups is what the trees release.
func TestRequestsAreTheTrees(t *testing.T) {
	fluxValues := func(file string) (v released) {
		t.Helper()
		var o struct{ Spec struct{ Values released } }
		text, err := os.ReadFile("../../platform/flux/addons/" + file)
		assert.NilError(t, err)
		assert.NilError(t, yaml.Unmarshal(text, &o))
		return o.Spec.Values
	}
	argocdValues := func(file string) (v released) {
		t.Helper()
		text, err := os.ReadFile("../../platform/argocd/addons/" + file)
		assert.NilError(t, err)
		assert.NilError(t, yaml.Unmarshal(text, &v))
		return v
	}
	for _, v := range []released{fluxValues("karpenter/release.yaml"), argocdValues("karpenter/values.yaml")} {
		assert.DeepEqual(t, requests["karpenter"], []Request{{Pods: v.Replicas, CPU: 250, Memory: 512, Apart: true}})
		assert.Equal(t, v.Controller.Resources.Requests.CPU, "250m")
		assert.Equal(t, v.Controller.Resources.Requests.Memory, "512Mi")
	}
	trust := fluxValues("cert-manager/crds/trust-manager.yaml")
	for _, v := range []released{fluxValues("cert-manager/crds/cert-manager.yaml"), argocdValues("cert-manager/values.yaml")} {
		want := []Request{{Pods: v.ReplicaCount}, {Pods: v.Webhook.ReplicaCount}, {Pods: v.Cainjector.ReplicaCount}, {Pods: trust.ReplicaCount}}
		assert.DeepEqual(t, requests["cert-manager"], want)
	}
	for _, a := range All() {
		_, counted := requests[a.Name]
		assert.Equal(t, counted, a.Stage == Definitions || a.Stage == Karpenter, "%s: is in the stage %s", a.Name, a.Stage)
	}
}
