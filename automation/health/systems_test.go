package health

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/automation/kube/kubetest"
)

// ofSystem are the objects of a system whose delivery has a status.
func ofSystem(name, status string) []string {
	return []string{
		fmt.Sprintf(`
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {namespace: systems, name: %[1]s, generation: 1}
spec: {values: {team: team-%[1]s}, chart: {spec: {sourceRef: {kind: GitRepository, name: platform, namespace: flux-system}}}}
status: {observedGeneration: 1, conditions: [{type: Ready, status: "True"}]}`, name),
		fmt.Sprintf(`
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {namespace: %s, name: system, generation: 1}
spec: {sourceRef: {kind: GitRepository, name: system}}
status: {observedGeneration: 1, lastAppliedRevision: "main@sha1:1", conditions: [%s]}`, name, status),
	}
}

// event is a warning about a system's delivery, so many minutes after midnight.
func event(system, message string, minute int) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Event
metadata: {namespace: %[1]s, name: %[1]s-%[3]d}
involvedObject: {kind: Kustomization, namespace: %[1]s, name: system}
type: Warning
reason: ReconciliationFailed
message: %[2]s
lastTimestamp: "2026-01-02T00:%02[3]d:00Z"`, system, message, minute)
}

// TestSystems: nothing waits for a system, and each says why it is not ready, while it is
// tried again, too.
func TestSystems(t *testing.T) {
	texts := []string{infra, repository, platformYAML, chart, charts, release}
	texts = append(texts, ofSystem("good", `{type: Ready, status: "True"}`)...)
	texts = append(texts, ofSystem("refused", `{type: Ready, status: "False", reason: ReconciliationFailed, message: forbidden}`)...)
	texts = append(texts, ofSystem("retried", `{type: Ready, status: Unknown, reason: Progressing, message: Reconciliation in progress}`)...)
	texts = append(texts, ofSystem("starting", `{type: Ready, status: Unknown, reason: Progressing, message: Reconciliation in progress}`)...)
	texts = append(texts, event("retried", "older", 5), event("retried", "type must be ClusterIP", 7), event("good", "long ago", 1))
	kinds := append(kubetest.FluxKinds(), schema.GroupVersionKind{Version: "v1", Kind: "Event"})
	v, err := fluxOn(kubetest.New(t, kinds, texts...)).await(t.Context(), Options{Timeout: 10 * time.Second})
	assert.NilError(t, err)
	assert.DeepEqual(t, v.Systems, []System{
		{Name: "good", Team: "team-good", Ready: true, Revision: "main@sha1:1"},
		{Name: "refused", Team: "team-refused", Revision: "main@sha1:1", Refusal: "Kustomization refused/system: ReconciliationFailed: forbidden"},
		{Name: "retried", Team: "team-retried", Revision: "main@sha1:1", Refusal: "Kustomization retried/system: ReconciliationFailed: type must be ClusterIP"},
		{Name: "starting", Team: "team-starting", Revision: "main@sha1:1", Refusal: "Kustomization starting/system: Progressing: Reconciliation in progress"},
	})
}
