package health

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
)

// patched has the fake take patches: it answers with the error, and keeps the
// last patch.
func patched(k kube.Cluster, answer error) *clienttesting.PatchActionImpl {
	var last clienttesting.PatchActionImpl
	kubetest.Fake(k).PrependReactor("patch", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		last = a.(clienttesting.PatchActionImpl)
		return true, &unstructured.Unstructured{Object: map[string]any{}}, answer
	})
	return &last
}

func TestFetchOwnsTheAnnotationAlone(t *testing.T) {
	k := fluxWithout(t, nil, repository)
	patch := patched(k, nil)
	assert.NilError(t, (flux{}).fetch(t.Context(), k, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), false))
	var got map[string]any
	assert.NilError(t, json.Unmarshal(patch.Patch, &got))
	meta := got["metadata"].(map[string]any)
	at := meta["annotations"].(map[string]any)[requestedAt]
	assert.Check(t, at == "2026-01-02T03:04:05Z" && got["spec"] == nil, "the patch is %s", patch.Patch)
	assert.Check(t, patch.PatchType == types.ApplyPatchType && patch.Name == "platform", "patched %s by %s", patch.Name, patch.PatchType)
	s, seen := fluxOn(k), &witness{}
	s.Observer = seen
	if s.Fetch(t.Context()); len(seen.lines) > 0 {
		t.Errorf("observer was told %v", seen.lines)
	}
}

func TestFetchThatIsForbiddenIsNoted(t *testing.T) {
	k := fluxWithout(t, nil, repository)
	patched(k, errors.New("forbidden"))
	s, seen := fluxOn(k), &witness{}
	s.Observer = seen
	s.Fetch(t.Context())
	if said := strings.Join(seen.lines, "\n"); !strings.Contains(said, "verifying what Flux fetched last, as it cannot be asked to fetch now: forbidden") {
		t.Errorf("observer was told %q", said)
	}
}

// TestFetchAgain: a clone that takes longer than the time between two requests has to come to its end.
func TestFetchAgain(t *testing.T) {
	const at = `, annotations: {reconcile.fluxcd.io/requestedAt: "1"}`
	failed := strings.Replace(repository, `status: "True"`, `status: "False"`, 1)
	busy := strings.Replace(failed, "generation: 1}", "generation: 1"+at+"}", 1)
	for object, asks := range map[string]bool{
		failed: true, busy: false, repository: false,
		strings.Replace(busy, "status:", "status:\n  lastHandledReconcileAt: \"1\"", 1): true,
	} {
		k := fluxWithout(t, nil, object)
		patch := patched(k, nil)
		assert.NilError(t, (flux{}).fetch(t.Context(), k, time.Now(), true))
		assert.Check(t, (patch.Patch != nil) == asks, object)
	}
}

func TestFetchWithoutRepositoryOrItsKind(t *testing.T) {
	for name, k := range map[string]kube.Cluster{
		"no repository": fluxWithout(t, nil), "no kind": fluxWithout(t, []string{"GitRepository"}),
	} {
		assert.Check(t, (flux{}).fetch(t.Context(), k, time.Now(), false), "%s", name)
	}
}

func TestAskedAndNotYetDone(t *testing.T) {
	waiting := strings.Replace(repository, "generation: 1}", "generation: 1, annotations: {"+requestedAt+": t2}}", 1)
	p := newPlatform(flux{}, nil)
	c := p.engine.check(p, kubetest.Object(t, waiting))
	assert.Check(t, !c.Ready && c.Message == "was asked to reconcile now and has not yet", "before: %+v", c)
	handled := strings.Replace(waiting, "status:\n", "status:\n  lastHandledReconcileAt: t2\n", 1)
	c = p.engine.check(p, kubetest.Object(t, handled))
	assert.Check(t, c.Ready, "afterwards: %+v", c)
}
