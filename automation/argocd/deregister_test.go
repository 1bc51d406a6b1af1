package argocd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
)

const logging = `[{clusters: {selector: {matchLabels: {logging: "on"}}}}]`

// fleet is a hub with two spokes that one ApplicationSet reaches.
func fleet(t *testing.T, more ...string) *world {
	t.Helper()
	return newWorld(t, append([]string{
		registered("mgmt", ""), registered("a", `logging: "on"`), registered("b", `logging: "on"`),
		set("promtail", logging, ""),
		application("platform", "", "server: "+InCluster),
	}, more...)...)
}

func quick(notes *[]string) Options {
	return Options{
		Settle: 50 * time.Millisecond, Timeout: 500 * time.Millisecond, Poll: time.Millisecond,
		Note: func(s string) { *notes = append(*notes, s) },
	}
}

func spokeA() Leaving { return Leaving{Cluster: Cluster{Name: "a", Server: "https://a.test"}} }

func TestDeregisterRemovesTheClustersApplicationsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fleet(t, application("by-hand", "", `server: "https://a.test/"`), application("other", "", "name: b"))
		var notes []string
		assert.NilError(t, w.Deregister(t.Context(), spokeA(), quick(&notes)))
		got := w.left()
		assert.Check(t, got == "other platform promtail-b", "left are %s", got)
		got = strings.Join(w.cascaded, " ")
		assert.Check(t, got == "promtail-a by-hand", "deleted with what they made, in order: %s", got)
		if r := w.registration("a"); !r.Leaving() || r.secret.GetUID() != "secret-a" || len(r.Labels()) != 2 || !w.known("a") {
			t.Errorf("the registration is %v", r.secret.Object["metadata"])
		}
		b := w.registration("b")
		assert.Check(t, !b.Leaving() && b.Labels()["logging"] == "on", "the other registration is %v", b.Labels())
		assert.Check(t, len(notes) == 0, "people read %q", notes)
		assert.Check(t, w.Deregister(t.Context(), spokeA(), quick(&notes)), "again")
	})
}

// TestDeregisterLooksTwice: a controller that was in the middle makes an Application again, right
// after a look has found none.
func TestDeregisterLooksTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fleet(t)
		again := false
		w.client.PrependReactor("list", "applications", func(clienttesting.Action) (bool, runtime.Object, error) {
			if !again && w.get(Namespace, "promtail-a") == nil {
				again = true
				w.create("promtail-a", "ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: promtail, uid: s}]")
			}
			return false, nil, nil
		})
		var notes []string
		assert.NilError(t, w.Deregister(t.Context(), spokeA(), quick(&notes)))
		assert.Equal(t, strings.Join(w.cascaded, " "), "promtail-a promtail-a")
		assert.Equal(t, w.left(), "platform promtail-b")
	})
}

func TestReturnUndoesADeregistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fleet(t)
		var notes []string
		back, err := w.Return(t.Context(), "a")
		assert.Check(t, err == nil && !back, "nothing to undo: %v, %v", back, err)
		for range 2 { // a second one must not forget the labels
			assert.NilError(t, w.Deregister(t.Context(), spokeA(), quick(&notes)))
		}
		back, err = w.Return(t.Context(), "a")
		assert.Assert(t, err == nil && back, "undone: %v, %v", back, err)
		w.work()
		if r := w.registration("a"); r.Leaving() || r.Labels()["logging"] != "on" || r.secret.GetAnnotations()[labelsAnnotation] != "" {
			t.Errorf("the registration is %v", r.secret.Object["metadata"])
		}
		got := w.left()
		assert.Check(t, got == "platform promtail-a promtail-b", "applications are %s", got)
	})
}

func TestAppOfAppsGoesWithItsChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fleet(t, set("apps", logging, ""))
		w.children["apps-a"] = []string{"dns-a", "metrics-a"}
		w.children["apps-b"] = []string{"dns-b"}
		w.remove("apps-a") // made before the world knew that it has children
		w.work()
		w.work()
		var notes []string
		assert.NilError(t, w.Deregister(t.Context(), spokeA(), quick(&notes)))
		got := w.left()
		assert.Check(t, got == "apps-b dns-b platform promtail-b", "left are %s", got)
	})
}

func TestADeadClusterIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fleet(t, application("by-hand", ", finalizers: ["+resourcesFinalizer+"]", "name: a"))
		w.dead = []string{"a"}
		l := spokeA()
		var notes []string
		if err := w.Deregister(t.Context(), l, quick(&notes)); err == nil || !strings.Contains(err.Error(), "after 500ms Argo CD still has Application argocd/by-hand, Application argocd/promtail-a") {
			t.Errorf("not knowing that it is dead: %v", err)
		}
		l.LetGo = true
		assert.NilError(t, w.Deregister(t.Context(), l, quick(&notes)))
		got := w.left()
		assert.Check(t, got == "platform promtail-b", "left are %s", got)
		assert.Check(t, len(notes) == 2, "each is reported once: %q", notes)
		want := "Application argocd/by-hand is released: what it has made on a is not deleted; Application argocd/promtail-a is released: what it has made on a is not deleted"
		got = strings.Join(notes, "; ")
		assert.Check(t, got == want, "people read %q, want %q", got, want)
		assert.Check(t, len(w.cascaded) == 0, "deleted with what they made: %v", w.cascaded)
	})
}

// TestAnArgoCDThatDeletesNothing is destroyed with its cluster: it runs no more, or it cannot reach the cluster.
func TestAnArgoCDThatDeletesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fleet(t, application("by-hand", ", finalizers: ["+resourcesFinalizer+"]", "name: a"))
		w.dead = []string{"a"}
		var notes []string
		o := quick(&notes)
		o.TakeOff = true
		assert.NilError(t, w.Deregister(t.Context(), spokeA(), o))
		assert.Check(t, is.Equal(w.left(), "platform promtail-b"))
		assert.Check(t, is.Contains(strings.Join(notes, "; "),
			"Application argocd/by-hand is released: Argo CD has not deleted it in 500ms; what it has made on a is not deleted"))
		assert.Check(t, is.Len(w.cascaded, 0))
	})
}

func TestKeptWorkloadsAreNeverDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fleet(t, application("by-hand", ", finalizers: ["+resourcesFinalizer+"]", "name: a"))
		l := spokeA()
		l.LetGo = true
		var notes []string
		assert.NilError(t, w.Deregister(t.Context(), l, quick(&notes)))
		assert.Check(t, w.left() == "platform promtail-b" && len(w.cascaded) == 0,
			"left are %s; deleted with what they made: %v", w.left(), w.cascaded)
		_, err := w.Return(t.Context(), "a")
		assert.Check(t, err == nil && w.known("a"), "the hub knows the cluster again: %v, %v", w.known("a"), err)
	})
}

func TestGeneratorsThatReachEveryClusterAreRefusedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fleet(t, set("agents", "[{clusters: {}}]", ""), set("list", "[{matrix: {generators: [{list: {}}, {clusters: {}}]}}]", ""))
		var notes []string
		err := w.Deregister(t.Context(), spokeA(), quick(&notes))
		want := "ApplicationSet argocd/agents, ApplicationSet argocd/list would make Applications for a again: its cluster generator reaches clusters that leave; " +
			"nothing was changed: give the generator a selector in the platform tree, such as matchExpressions: [{key: tombolo/leaving, operator: DoesNotExist}], push, and run the command again"
		assert.Error(t, err, want)
		assert.Check(t, !w.registration("a").Leaving() && strings.Contains(w.left(), "promtail-a"), "something was changed")
		excluded := fleet(t, set("agents", "[{clusters: {selector: {matchExpressions: [{key: tombolo/leaving, operator: DoesNotExist}]}}}]", ""))
		assert.Check(t, excluded.Deregister(t.Context(), spokeA(), quick(&notes)), "with the selector")
	})
}

func TestWhatWouldBeMadeAgainIsHeld(t *testing.T) {
	byList := application("edge-a", ", ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: edge, uid: s}]", "name: a")
	for name, test := range map[string]struct {
		objects  []string
		children map[string][]string
		want     string
	}{
		"by a list": {
			objects: []string{set("edge", "[{list: {}}]", ""), byList},
			want:    "a leaves, and would be made again: Application argocd/edge-a by ApplicationSet argocd/edge; take the cluster out of it in the platform tree, push, and run the command again",
		},
		"by Git": {
			children: map[string][]string{"platform": {"dns-a"}},
			want:     "a leaves, and would be made again: Application argocd/dns-a by Application argocd/platform; take the cluster out of it in the platform tree, push, and run the command again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := fleet(t, test.objects...)
				w.children = test.children
				var notes []string
				err := w.Deregister(t.Context(), spokeA(), quick(&notes))
				var held *fault.Error
				assert.Check(t, errors.As(err, &held) && err.Error() == test.want && held.Class == fault.Deployment,
					"error is\n%v, want\n%s", err, test.want)
			})
		})
	}
}

func TestAHubLosesItsRootLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, registered("mgmt", `logging: "on"`),
			set("promtail", logging, `, annotations: {argocd.argoproj.io/tracking-id: "platform:argoproj.io/ApplicationSet:argocd/promtail"}`),
			application("platform", "", "server: "+InCluster))
		var notes []string
		l := Leaving{Cluster: Cluster{Name: "mgmt", Server: InCluster}, Hub: true}
		assert.NilError(t, w.Deregister(t.Context(), l, quick(&notes)))
		got := strings.Join(w.cascaded, " ")
		assert.Check(t, got == "promtail-mgmt platform" && w.left() == "", "deleted in order %s; left are %q", got, w.left())
	})
}

// TestAHubWaitsForGeneratorsThatFollowClusters: nothing leaves a list when the cluster's labels do.
func TestAHubWaitsForGeneratorsThatFollowClusters(t *testing.T) {
	const git = `{git: {repoURL: x}}`
	for generators, waits := range map[string]bool{
		`[{list: {elements: [{a: b}]}}]`: false, `[{list: {elements: []}}, {matrix: {generators: [` + git + `, {pullRequest: {}}]}}]`: false,
		`[{list: {elements: []}}, {matrix: {generators: [` + git + `, {clusters: {selector: {matchLabels: {x: y}}}}]}}]`: true, `[{list: {}}, {plugin: {}}]`: true,
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, registered("mgmt", ""),
				set("listed", generators, `, annotations: {argocd.argoproj.io/tracking-id: "platform:argoproj.io/ApplicationSet:argocd/listed"}`),
				application("platform", "", "server: "+InCluster))
			w.create("listed-x", "ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: listed, uid: s}]")
			var notes []string
			var began []bool
			o := quick(&notes)
			start := time.Now()
			o.Waiting = func(string) {
				began = append(began, w.get(Namespace, "platform") == nil && time.Since(start) < o.Settle)
			}
			l := Leaving{Cluster: Cluster{Name: "mgmt", Server: InCluster}, Hub: true}
			_ = w.Deregister(t.Context(), l, o) // no garbage collector takes what the set has made
			assert.Check(t, is.Equal(slices.Contains(began, true), !waits), generators)
		})
	}
}

func TestDeregisterSaysWhyItTookTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := application("stuck", ", finalizers: [example.com/wait]", "name: a") +
			"\nstatus: {conditions: [{type: DeletionError, message: project platform is gone}]}"
		w := fleet(t, stuck)
		var notes []string
		err := w.Deregister(t.Context(), spokeA(), quick(&notes))
		hub := Leaving{Cluster: Cluster{Name: "mgmt", Server: InCluster}, Hub: true}
		assert.Check(t, is.ErrorContains(newWorld(t, stuck).Deregister(t.Context(), hub, quick(&notes)), "run `tombolo destroy mgmt --leftovers delete`"))
		want := "after 500ms Argo CD still has Application argocd/stuck; it cannot delete Application argocd/stuck: project platform is gone; " +
			"look at `kubectl -n argocd describe application stuck` on the hub, resolve the cause, and run the command again; where what it made may stay, set gitops.argocd.applications: keep"
		assert.Error(t, err, want)
	})
}

func TestDeregisterWithoutArgoCD(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var notes []string
		assert.Check(t, w.Deregister(t.Context(), spokeA(), quick(&notes)), "nothing to forget")
	})
}

func TestDeregisterInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fleet(t)
		w.stopped = true
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		var notes []string
		err := w.Deregister(ctx, spokeA(), Options{Poll: time.Millisecond})
		assert.Check(t, errors.Is(err, context.DeadlineExceeded), "error is %v", err)
		w.stopped = false
		err = w.Deregister(t.Context(), spokeA(), quick(&notes))
		assert.Check(t, err == nil && w.left() == "platform promtail-b", "going on: %v; left are %s", err, w.left())
	})
}

// TestRelabelActsForWhoeverApplied: labels that somebody else owned would not
// go when the cluster file no longer has them.
func TestRelabelActsForWhoeverApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secret := strings.Replace(registered("a", `logging: "on"`), "metadata: {", `metadata: {resourceVersion: "7", annotations: {region: here, not-theirs: x}, managedFields: [
			{manager: someone, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:annotations": {"f:not-theirs": {}}}}},
			{manager: pulumi-1, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {
				"f:metadata": {"f:labels": {"f:logging": {}, "f:argocd.argoproj.io/secret-type": {}}, "f:annotations": {"f:region": {}}}, "f:data": {"f:name": {}, "f:server": {}}}}], `, 1)
		w := newWorld(t, secret)
		var applied clienttesting.PatchActionImpl
		w.client.PrependReactor("patch", "secrets", func(a clienttesting.Action) (bool, runtime.Object, error) {
			applied = a.(clienttesting.PatchActionImpl)
			return true, w.registration("a").secret, nil
		})
		assert.NilError(t, w.relabel(t.Context(), "a", leave(false)))
		o := kubetest.Object(t, string(applied.Patch))
		assert.Check(t, applied.PatchOptions.FieldManager == "pulumi-1" && applied.PatchOptions.Force != nil && *applied.PatchOptions.Force,
			"applied with %+v", applied.PatchOptions)
		labels, annotations := o.GetLabels(), o.GetAnnotations()
		assert.Check(t, len(labels) == 2 && labels[LeavingLabel] == "true" && labels[secretType] == "cluster", "labels are %v", labels)
		assert.Check(t, annotations["region"] == "here" && annotations["not-theirs"] == "" && strings.Contains(annotations[labelsAnnotation], `"logging":"on"`),
			"annotations are %v", annotations)
		assert.Check(t, kube.Text(o, "data", "server") == encoded("https://a.test") && o.GetResourceVersion() == "7",
			"applied %s", applied.Patch)
		if _, err := w.client.Tracker().Get(secrets, Namespace, SecretName("a"), metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// TestAnotherOwnersRegistration is never changed.
func TestAnotherOwnersRegistration(t *testing.T) {
	text := strings.Replace(kubetest.Registration("spoke", ""), "labels: {", "annotations: {cluster_owner: theirs}, labels: {", 1)
	w := newWorld(t, text, kubetest.Application("one"))
	w.Owner = "ours"
	leaving := Leaving{Cluster: Cluster{Name: "spoke"}}
	for what, err := range map[string]error{
		"deregister":  w.Deregister(t.Context(), leaving, Options{}),
		"drop addons": w.DropAddons(t.Context(), "spoke", []string{"dns"}),
	} {
		if refused := new(fault.Error); !errors.As(err, &refused) || !strings.Contains(err.Error(), "registers another cluster spoke: its owner is theirs") {
			t.Errorf("%s: error %v", what, err)
		}
	}
	r, err := w.Registration(t.Context(), "spoke")
	assert.Check(t, err == nil && !r.Leaving() && w.get("argocd", "one") != nil, "the registration is %v, error %v", r, err)
}
