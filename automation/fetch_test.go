package automation

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// patched has the fake take patches: it answers with the error, and keeps the
// last patch.
func patched(k cluster, answer error) *clienttesting.PatchActionImpl {
	var last clienttesting.PatchActionImpl
	k.dynamic.(*fake.FakeDynamicClient).PrependReactor("patch", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		last = a.(clienttesting.PatchActionImpl)
		return true, &unstructured.Unstructured{Object: map[string]any{}}, answer
	})
	return &last
}

func TestFetchOwnsTheAnnotationAlone(t *testing.T) {
	b := newBench(t)
	b.now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	k := fakeCluster(t, nil, repository)
	patch := patched(k, nil)
	b.fetchNow(t.Context(), demo(), flux{}, k)
	var got map[string]any
	if err := json.Unmarshal(patch.Patch, &got); err != nil {
		t.Fatal(err)
	}
	meta := got["metadata"].(map[string]any)
	if at := meta["annotations"].(map[string]any)[requestedAt]; at != "2026-01-02T03:04:05Z" || got["spec"] != nil {
		t.Errorf("the patch is %s", patch.Patch)
	}
	if patch.PatchType != types.ApplyPatchType || patch.Name != "platform" {
		t.Errorf("patched %s by %s", patch.Name, patch.PatchType)
	}
	if len(b.seen.lines) > 0 {
		t.Errorf("observer was told %v", b.seen.lines)
	}
}

func TestFetchThatIsForbiddenIsNoted(t *testing.T) {
	b := newBench(t)
	k := fakeCluster(t, nil, repository)
	patched(k, errors.New("forbidden"))
	b.fetchNow(t.Context(), demo(), flux{}, k)
	if said := strings.Join(b.seen.lines, "\n"); !strings.Contains(said, "verifying what Flux fetched last, as it cannot be asked to fetch now: forbidden") {
		t.Errorf("observer was told %q", said)
	}
}

func TestFetchWithoutRepositoryOrItsKind(t *testing.T) {
	for name, k := range map[string]cluster{
		"no repository": fakeCluster(t, nil), "no kind": fakeCluster(t, []string{"GitRepository"}),
	} {
		if err := (flux{}).fetch(t.Context(), k, time.Now()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAskedAndNotYetDone(t *testing.T) {
	waiting := strings.Replace(repository, "generation: 1}", "generation: 1, annotations: {"+requestedAt+": t2}}", 1)
	p := newPlatform(flux{}, nil)
	if c := p.engine.check(p, object(t, waiting)); c.Ready || c.Message != "was asked to reconcile now and has not yet" {
		t.Errorf("before: %+v", c)
	}
	handled := strings.Replace(waiting, "status:\n", "status:\n  lastHandledReconcileAt: t2\n", 1)
	if c := p.engine.check(p, object(t, handled)); !c.Ready {
		t.Errorf("afterwards: %+v", c)
	}
}
