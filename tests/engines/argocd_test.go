//go:build lab

package engines

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"tombolo/check/published"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/lab/controlplane"
	"tombolo/tests/tier"
	"tombolo/tests/trees"
)

// The objects of Argo CD that trees have.
var (
	applications    = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
	applicationSets = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applicationsets"}
)

// TestArgoCDAgrees: check has an error in a tree exactly where Argo CD stops at it.
func TestArgoCDAgrees(t *testing.T) {
	tier.Short(t, "check says of random trees what the real Argo CD says")
	all, again := given(t, trees.ArgoCD, 30)
	texts := map[string]string{}
	for _, tree := range all {
		for name, text := range tree.Files {
			texts[name] = text
		}
	}
	began := time.Now()
	c := start(t, texts)
	release := c.installArgoCD(t)
	c.kubectl(t, rootApplications(all), "apply", "--server-side", "-f", "-")
	engine := c.settleArgoCD(t, all)
	t.Logf("Argo CD has said of all trees after %v", time.Since(began).Round(time.Millisecond))
	compare(t, trees.ArgoCD, again, all, engine, registered(release))
}

// argocdObjects are what bootstrap, and the server at its first start, make: a project, and the registration
// of the cluster.
const argocdObjects = `apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec:
  sourceRepos: ["*"]
  destinations: [{server: "*", namespace: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
---
apiVersion: v1
kind: Secret
metadata:
  name: cluster-one
  namespace: argocd
  labels: {argocd.argoproj.io/secret-type: cluster, environment: test}
stringData: {name: one, server: "https://kubernetes.default.svc", config: "{}"}
`

// registered is what bootstrap publishes about the cluster.
func registered(release string) published.Set {
	return published.Set{Cluster: "one", Distribution: release, Released: true, Kubernetes: controlplane.Version, Registration: &published.Registration{
		Hub: "one", Version: release, Server: "https://kubernetes.default.svc",
		Labels:      map[string]string{"argocd.argoproj.io/secret-type": "cluster", "environment": "test"},
		Annotations: map[string]string{config.RepositoryAnnotation: trees.Repository, config.RevisionAnnotation: "main"},
	}}
}

// installArgoCD installs what of Argo CD follows trees, and says which release it is.
func (c *cluster) installArgoCD(t *testing.T) (release string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.tools, "..", "share", "argocd-install.yaml"))
	assert.NilError(t, err)
	others := regexp.MustCompile(`(?m)^kind: Deployment$(?s:.*?)^  name: argocd-(server|dex-server|notifications-controller)$`)
	var wanted []string
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		if !others.MatchString(document) {
			// The server, which does not run, would make the key.
			wanted = append(wanted, regexp.MustCompile(`(?m)^kind: Secret$(?s:.*)^  name: argocd-secret$`).ReplaceAllString(document, "stringData: {server.secretkey: of-this-test}\n$0"))
		}
	}
	c.kubectl(t, "", "create", "namespace", names.ArgoCDNamespace)
	c.install(t, wanted, "-n", names.ArgoCDNamespace)
	c.kubectl(t, argocdObjects, "apply", "--server-side", "-f", "-")
	found := regexp.MustCompile(`quay.io/argoproj/argocd:(v\S+)`).FindSubmatch(text)
	assert.Assert(t, found != nil, "the manifest says no version")
	return string(found[1])
}

// rootApplications are one for each tree, as bootstrap makes it.
func rootApplications(all []trees.Tree) string {
	var b strings.Builder
	for _, tree := range all {
		fmt.Fprintf(&b, `---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %s, namespace: argocd}
spec:
  project: default
  source: {repoURL: %q, targetRevision: main, path: %s}
  destination: {server: "https://kubernetes.default.svc", namespace: argocd}
  syncPolicy: {automated: {prune: true, selfHeal: true}, syncOptions: [ServerSideApply=true]}
`, tree.Name, trees.Repository, tree.Start())
	}
	return b.String()
}

// settleArgoCD waits until Argo CD has said twice how the objects are.
func (c *cluster) settleArgoCD(t *testing.T, all []trees.Tree) said {
	t.Helper()
	return settled(t, trees.ArgoCD, all, func(int) { c.refresh(t) }, func(ctx context.Context, _ int) (said, string, int, error) {
		apps, err := c.client.Resource(applications).Namespace(names.ArgoCDNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, "", 0, err
		}
		sets, err := c.client.Resource(applicationSets).Namespace(names.ArgoCDNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, "", 0, err
		}
		now, open := outcomes(slices.Concat(apps.Items, sets.Items))
		return now, open, len(apps.Items), nil
	})
}

const refreshAnnotation = "argocd.argoproj.io/refresh"

// refresh has Argo CD look again at the Applications.
func (c *cluster) refresh(t *testing.T) {
	t.Helper()
	apps := c.client.Resource(applications).Namespace(names.ArgoCDNamespace)
	list, err := apps.List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	for _, app := range list.Items {
		if _, stops, _ := outcome(app); stops {
			_, err := apps.Patch(t.Context(), app.GetName(), types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+refreshAnnotation+`":"normal"}}}`), metav1.PatchOptions{})
			assert.NilError(t, err)
		}
	}
}

// outcomes are why the objects of each tree stop, by the tree; open is one of which nothing is known yet.
func outcomes(objects []unstructured.Unstructured) (out said, open string) {
	out = said{}
	makers := map[string]string{}
	for _, o := range objects {
		makers[o.GetKind()+"/"+o.GetName()] = maker(o)
	}
	for _, o := range objects {
		id := o.GetKind() + "/" + o.GetName()
		why, stops, known := outcome(o)
		if !known {
			open = id + ": " + why
		}
		if !stops {
			continue
		}
		root := id
		for makers[root] != "" {
			root = makers[root]
		}
		name := strings.TrimPrefix(root, "Application/")
		out[name] = append(out[name], id+": "+why)
	}
	for _, lines := range out {
		slices.Sort(lines)
	}
	return out, open
}

// maker is the object that an object comes from, as kind/name; "" for a tree's first Application.
func maker(o unstructured.Unstructured) string {
	for _, owner := range o.GetOwnerReferences() {
		return owner.Kind + "/" + owner.Name
	}
	if by, _, found := strings.Cut(o.GetAnnotations()["argocd.argoproj.io/tracking-id"], ":"); found {
		return "Application/" + by
	}
	return ""
}

// outcome is whether Argo CD stops at an object, and why; it is not known while Argo CD is at work.
func outcome(o unstructured.Unstructured) (why string, stops, known bool) {
	if o.GetKind() == "ApplicationSet" {
		return outcomeOfSet(o)
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		kind, _ := condition["type"].(string)
		if strings.HasSuffix(kind, "Error") {
			why += fmt.Sprintf("%s: %v; ", kind, condition["message"])
			stops = true
		}
	}
	_, asked := o.GetAnnotations()[refreshAnnotation]
	synced, _, _ := unstructured.NestedString(o.Object, "status", "sync", "status")
	phase, _, _ := unstructured.NestedString(o.Object, "status", "operationState", "phase")
	message, _, _ := unstructured.NestedString(o.Object, "status", "operationState", "message")
	// An operation that has failed is tried again, later each time.
	retries, _, _ := unstructured.NestedInt64(o.Object, "status", "operationState", "retryCount")
	if failed := phase == "Failed" || phase == "Error" || phase == "Running" && retries > 0; failed || phase == "Succeeded" && synced == "OutOfSync" {
		stops = true
	}
	refused := refusals(o)
	why += fmt.Sprintf("%s, operation %s: %s%s", synced, phase, message, refused)
	// While it begins another try, it does not say what the last one failed at.
	begins := refused == "" && strings.HasPrefix(message, "Retrying operation")
	return why, stops, !asked && (stops && !begins || synced == "Synced")
}

// refusals are what the last operation says of the objects that it could not apply: between two tries, its message is that
// it tries again.
func refusals(o unstructured.Unstructured) string {
	var out strings.Builder
	results, _, _ := unstructured.NestedSlice(o.Object, "status", "operationState", "syncResult", "resources")
	for _, r := range results {
		if result, _ := r.(map[string]any); result["status"] == "SyncFailed" {
			fmt.Fprintf(&out, "; %v %v: %v", result["kind"], result["name"], result["message"])
		}
	}
	return out.String()
}

func outcomeOfSet(o unstructured.Unstructured) (why string, stops, known bool) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		switch {
		case condition["type"] == "ErrorOccurred" && condition["status"] == "True":
			return fmt.Sprintf("%v: %v", condition["reason"], condition["message"]), true, true
		case condition["type"] == "ResourcesUpToDate" && condition["status"] == "True":
			known = true
		}
	}
	return "not up to date yet", false, known
}
