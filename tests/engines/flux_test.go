//go:build lab

package engines

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"tombolo/check/published"
	"tombolo/internal/names"
	"tombolo/lab/controlplane"
	"tombolo/lab/git"
	"tombolo/tests/tier"
	"tombolo/tests/trees"
)

// variables that bootstrap publishes.
var variables = map[string]string{"region": "eu-central-1", "cluster_name": "one", "account_id": "111122223333"}

// fluxKinds are the objects of Flux that trees have, and that say whether they are ready.
var fluxKinds = []schema.GroupVersionResource{
	{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"},
	{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"},
}

var sources = schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "gitrepositories"}

// A source has a few trees: for each of its Kustomizations, Flux unpacks all that the source has. Each
// tree calls its own platform.
const treesOfASource = 5

var platform = regexp.MustCompile(`\bplatform\b`)

// sourceOf is the name of the source that has the tree with a number.
func sourceOf(i int) string { return fmt.Sprintf("platform-%d", i/treesOfASource) }

// bySource are the files of all trees, each with its source's name.
func bySource(all []trees.Tree) map[string]string {
	out := map[string]string{}
	for i, tree := range all {
		for name, text := range tree.Files {
			out[name] = platform.ReplaceAllString(text, sourceOf(i))
		}
	}
	return out
}

// TestFluxAgrees: check has an error in a tree exactly where Flux stops at it.
func TestFluxAgrees(t *testing.T) {
	tier.Short(t, "check says of random trees what the real Flux says")
	all, again := given(t, trees.Flux, 40)
	began := time.Now()
	c := start(t, bySource(all))
	release := c.installFlux(t)
	t.Logf("Flux %s runs after %v", release, time.Since(began).Round(time.Millisecond))
	c.kubectl(t, bootstrapObjects(all), "apply", "--server-side", "-f", "-")
	c.awaitSources(t)
	c.kubectl(t, startObjects(all), "apply", "--server-side", "-f", "-")
	engine := c.settleFlux(t, all)
	t.Logf("Flux has said of all trees after %v", time.Since(began).Round(time.Millisecond))
	compare(t, trees.Flux, again, all, engine, publishedTo(release))
}

// installFlux installs what the lab has of Flux, without the controller of notifications, and says which
// release it is.
func (c *cluster) installFlux(t *testing.T) (release string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.tools, "..", "share", "flux-install.yaml"))
	assert.NilError(t, err)
	// Where nobody hears of events, each one is tried for 15 s.
	text = regexp.MustCompile(`(?m)^ +- --events-addr=.*\n`).ReplaceAll(text, nil)
	var wanted []string
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		if !strings.Contains(document, "\nkind: Deployment\n") || !strings.Contains(document, "name: notification-controller\n") {
			wanted = append(wanted, document)
		}
	}
	c.install(t, wanted)
	found := regexp.MustCompile(`app.kubernetes.io/version: (v\S+)`).FindSubmatch(text)
	assert.Assert(t, found != nil, "the manifest says no version")
	return string(found[1])
}

// bootstrapObjects are what every tree uses: variables, and the repository.
func bootstrapObjects(all []trees.Tree) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata:\n", names.InfraConfig, names.FluxNamespace)
	for name, value := range variables {
		fmt.Fprintf(&b, "  %s: %q\n", name, value)
	}
	for first := 0; first < len(all); first += treesOfASource {
		var dirs []string
		for _, tree := range all[first:min(first+treesOfASource, len(all))] {
			dirs = append(dirs, tree.Name)
		}
		fmt.Fprintf(&b, `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %s, namespace: %s}
spec: {interval: 1h, url: %q, ref: {branch: main}, sparseCheckout: [%s]}
`, sourceOf(first), names.FluxNamespace, trees.Repository, strings.Join(dirs, ", "))
	}
	return b.String()
}

// startObjects are a Kustomization for each tree.
func startObjects(all []trees.Tree) string {
	var b strings.Builder
	for i, tree := range all {
		fmt.Fprintf(&b, `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %s, namespace: %s}
spec:
  interval: 1h
  path: ./%s
  prune: true
  sourceRef: {kind: GitRepository, name: %s}
  postBuild: {substituteFrom: [{kind: ConfigMap, name: %s}]}
`, tree.Name, names.FluxNamespace, tree.Start(), sourceOf(i), names.InfraConfig)
	}
	return b.String()
}

// awaitSources waits until the trees are there for the controllers.
func (c *cluster) awaitSources(t *testing.T) {
	t.Helper()
	await(t, "Flux has the repository", time.Minute, func(ctx context.Context) (bool, string, error) {
		list, err := c.client.Resource(sources).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, "", err
		}
		for _, o := range list.Items {
			if status, why, _ := ready(o); status != "True" {
				return false, why, nil
			}
		}
		return true, "", nil
	})
}

// settleFlux waits until Flux has said twice whether the objects are ready.
func (c *cluster) settleFlux(t *testing.T, all []trees.Tree) said {
	t.Helper()
	return settled(t, trees.Flux, all, func(round int) { c.askAgain(t, strconv.Itoa(round)) }, func(ctx context.Context, round int) (said, string, int, error) {
		objects, err := c.fluxObjects(ctx)
		now, open := readiness(objects, strconv.Itoa(round))
		return now, open, len(objects), err
	})
}

// fluxObjects are those of Flux in the cluster.
func (c *cluster) fluxObjects(ctx context.Context) ([]unstructured.Unstructured, error) {
	var out []unstructured.Unstructured
	for _, kind := range fluxKinds {
		list, err := c.client.Resource(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		out = append(out, list.Items...)
	}
	return out, nil
}

// askAgain has Flux look again at what is not ready.
func (c *cluster) askAgain(t *testing.T, mark string) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"reconcile.fluxcd.io/requestedAt":%q}}}`, mark)
	for _, kind := range fluxKinds {
		list, err := c.client.Resource(kind).List(t.Context(), metav1.ListOptions{})
		assert.NilError(t, err)
		for _, o := range list.Items {
			if status, _, _ := ready(o); status == "True" {
				continue
			}
			_, err := c.client.Resource(kind).Namespace(o.GetNamespace()).Patch(t.Context(), o.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			assert.NilError(t, err)
		}
	}
}

// readiness is what the objects of each tree that are not ready say, by the tree; open is one of which
// nothing is known yet.
func readiness(objects []unstructured.Unstructured, mark string) (out said, open string) {
	out = said{}
	parents := map[string]string{}
	for _, o := range objects {
		if o.GetKind() == "Kustomization" {
			parents[o.GetNamespace()+"/"+o.GetName()] = parent(o)
		}
	}
	for _, o := range objects {
		status, why, known := ready(o)
		handled, _, _ := unstructured.NestedString(o.Object, "status", "lastHandledReconcileAt")
		asked := o.GetAnnotations()["reconcile.fluxcd.io/requestedAt"]
		if !known || asked == mark && handled != mark {
			open = fmt.Sprintf("%s %s/%s: %s", o.GetKind(), o.GetNamespace(), o.GetName(), why)
		}
		if status == "True" {
			continue
		}
		root := o.GetName()
		for at := parent(o); at != ""; at = parents[at] {
			root = at
		}
		root = strings.TrimPrefix(root, names.FluxNamespace+"/")
		out[root] = append(out[root], fmt.Sprintf("%s %s: %s", o.GetKind(), o.GetName(), why))
	}
	for _, lines := range out {
		slices.Sort(lines)
	}
	return out, open
}

// parent is the Kustomization that made an object, as namespace/name; "" for a tree's first one.
func parent(o unstructured.Unstructured) string {
	l := o.GetLabels()
	if l["kustomize.toolkit.fluxcd.io/name"] == "" {
		return ""
	}
	return l["kustomize.toolkit.fluxcd.io/namespace"] + "/" + l["kustomize.toolkit.fluxcd.io/name"]
}

// ready is the condition Ready of what the object is now.
func ready(o unstructured.Unstructured) (status, why string, known bool) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if condition["type"] != "Ready" {
			continue
		}
		status, _ = condition["status"].(string)
		generation, _ := condition["observedGeneration"].(int64)
		why = fmt.Sprintf("%v: %v", condition["reason"], condition["message"])
		return status, why, status != "Unknown" && generation == o.GetGeneration()
	}
	return "", "no condition yet", false
}

// publishedTo is what bootstrap publishes to the cluster.
func publishedTo(release string) published.Set {
	set := published.Set{
		Cluster: "one", Distribution: release, Released: true, Kubernetes: controlplane.Version,
		Repository: published.Repository{URL: trees.Repository, Branch: git.Branch}, Variables: map[string]published.Variable{},
	}
	for name, value := range variables {
		set.Variables[name] = published.Variable{Example: value}
	}
	return set
}
