// Package kubetest makes clusters for tests: the objects are given as YAML, and
// kept in memory.
package kubetest

import (
	"encoding/base64"
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"tombolo/automation/kube"
)

// Kinds are the kinds that a cluster's API knows, besides those that every
// cluster in a test has: ConfigMap, Secret and Namespace.
type Kinds []schema.GroupVersionKind

// FluxKinds are those of Flux.
func FluxKinds() Kinds {
	var out Kinds
	for _, kind := range []string{"GitRepository", "OCIRepository", "Bucket", "HelmRepository", "HelmChart"} {
		out = append(out, schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: kind})
	}
	return append(out,
		schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"},
		schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"})
}

// New is a cluster with the kinds and the objects.
func New(t *testing.T, kinds Kinds, texts ...string) kube.Cluster {
	t.Helper()
	var objects []runtime.Object
	for _, text := range texts {
		objects = append(objects, Object(t, text))
	}
	lists := map[schema.GroupVersionResource]string{
		{Version: "v1", Resource: "configmaps"}: "ConfigMapList", {Version: "v1", Resource: "secrets"}: "SecretList",
		{Version: "v1", Resource: "namespaces"}: "NamespaceList",
	}
	var versions []schema.GroupVersion
	for _, kind := range kinds {
		versions = append(versions, kind.GroupVersion())
	}
	mapper := meta.NewDefaultRESTMapper(versions)
	for _, kind := range kinds {
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		lists[resource] = kind.Kind + "List"
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	return kube.Cluster{
		Client:   fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, objects...),
		Discover: func() (meta.RESTMapper, error) { return mapper, nil },
	}
}

// Fake is the client of a cluster that New has made.
func Fake(k kube.Cluster) *fake.FakeDynamicClient { return k.Client.(*fake.FakeDynamicClient) }

// Fail has the API answer every request with the error.
func Fail(k kube.Cluster, err error) {
	Fake(k).PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
}

// ArgoCD is a cluster with Argo CD's kinds and the objects.
func ArgoCD(t *testing.T, texts ...string) kube.Cluster {
	t.Helper()
	version := schema.GroupVersion{Group: "argoproj.io", Version: "v1alpha1"}
	return New(t, Kinds{version.WithKind("ApplicationSet"), version.WithKind("Application")}, texts...)
}

// Registration is the Secret by which a cluster is registered with Argo CD. The
// cluster mgmt is the one that Argo CD is in. labels are added, each after a comma.
func Registration(name, labels string) string {
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	server := "https://" + name + ".test"
	if name == "mgmt" {
		server = "https://kubernetes.default.svc"
	}
	return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {namespace: argocd, name: cluster-%s, labels: {argocd.argoproj.io/secret-type: cluster, tombolo/cluster: %s%s}}\ndata: {name: %s, server: %s}",
		name, name, labels, encoded(name), encoded(server))
}

// Application is an Application for the cluster spoke.
func Application(name string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {namespace: argocd, name: " + name + "}\nspec: {destination: {name: spoke}}"
}

// Object reads an object's YAML.
func Object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	raw, err := yaml.YAMLToJSON([]byte(text))
	assert.NilError(t, err)
	assert.NilError(t, o.UnmarshalJSON(raw))
	return o
}
