// Package argocd reads what Argo CD has on a hub: the registrations of
// clusters, Applications and ApplicationSets. It has a hub forget a cluster.
//
// It knows the API argoproj.io/v1alpha1 by its fields, and imports nothing of
// Argo CD, whose modules pull in a Kubernetes of their own.
package argocd

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/internal/names"
)

const (
	// Group of Argo CD's API.
	Group = "argoproj.io"
	// Version of what is read of it.
	Version = "v1alpha1"
	// Namespace of Argo CD on a hub.
	Namespace = names.ArgoCDNamespace
	// Root is the name of the Application that bootstrap makes.
	Root = "platform"
	// InCluster is the server of the cluster that Argo CD itself is in.
	InCluster = "https://kubernetes.default.svc"
)

// Cluster is how Argo CD's objects name a cluster.
type Cluster struct {
	// Name in its registration: the cluster's.
	Name string
	// Server is the URL of its Kubernetes API; InCluster for the hub itself.
	Server string
}

// Application is an Application.
type Application struct{ *unstructured.Unstructured }

// String names the Application for people.
func (a Application) String() string { return "Application " + id(a.Unstructured) }

// IsOf says that the Application belongs to the cluster: it deploys there, or
// says so by the label of registrations. An app of apps deploys to the hub,
// whatever cluster its applications are for.
func (a Application) IsOf(c Cluster) bool {
	if a.IsLabelled(c.Name) {
		return true
	}
	name, server := kube.Text(a.Unstructured, "spec", "destination", "name"), kube.Text(a.Unstructured, "spec", "destination", "server")
	return name != "" && name == c.Name ||
		server != "" && strings.TrimSuffix(server, "/") == strings.TrimSuffix(c.Server, "/") ||
		name == "in-cluster" && c.Server == InCluster
}

// IsLabelled says that the Application says of itself that it is the cluster's.
func (a Application) IsLabelled(cluster string) bool {
	return a.GetLabels()[names.ClusterLabel] == cluster
}

// Set is the name of the ApplicationSet that made the Application, in its own
// namespace; "" when none did.
func (a Application) Set() string {
	for _, owner := range a.GetOwnerReferences() {
		if owner.Kind == "ApplicationSet" && strings.HasPrefix(owner.APIVersion, Group+"/") {
			return owner.Name
		}
	}
	return ""
}

// Parent is namespace/name of the Application that declares the object; "" when
// none does.
func Parent(o *unstructured.Unstructured) string {
	tracking, ok := o.GetAnnotations()[names.ArgoCDAnnotation]
	if !ok {
		if name := o.GetLabels()["app.kubernetes.io/instance"]; name != "" {
			return Namespace + "/" + name
		}
		return ""
	}
	// "<application>:<group>/<kind>:<namespace>/<name>"; a copy of another
	// object's annotation tracks nothing.
	parts := strings.Split(tracking, ":")
	if len(parts) != 3 || !strings.HasSuffix(parts[2], "/"+o.GetName()) {
		return ""
	}
	if namespace, name, ok := strings.Cut(parts[0], "_"); ok {
		return namespace + "/" + name
	}
	return Namespace + "/" + parts[0]
}

// finalizers of Argo CD on an Application begin with one of these.
const (
	resourcesFinalizer  = "resources-finalizer.argocd.argoproj.io"
	postDeleteFinalizer = "post-delete-finalizer.argocd.argoproj.io"
)

// cascades says that Argo CD deletes what the Application has made with it.
func (a Application) cascades() bool {
	return slices.ContainsFunc(a.GetFinalizers(), func(f string) bool { return strings.HasPrefix(f, resourcesFinalizer) })
}

// foreignFinalizers are those that are not Argo CD's.
func (a Application) foreignFinalizers() []string {
	return slices.DeleteFunc(slices.Clone(a.GetFinalizers()), func(f string) bool {
		return strings.HasPrefix(f, resourcesFinalizer) || strings.HasPrefix(f, postDeleteFinalizer)
	})
}

func (a Application) deleting() bool { return a.GetDeletionTimestamp() != nil }

// problem is why Argo CD cannot delete the Application; "" when it does not say.
func (a Application) problem() string {
	if c := meta.FindStatusCondition(kube.Conditions(a.Unstructured), "DeletionError"); c != nil {
		return c.Message
	}
	return ""
}

// Set is an ApplicationSet.
type Set struct{ *unstructured.Unstructured }

// String names the ApplicationSet for people.
func (s Set) String() string { return "ApplicationSet " + id(s.Unstructured) }

// deletes says whether the set deletes Applications that it makes no more.
func (s Set) deletes() bool {
	policy := kube.Text(s.Unstructured, "spec", "syncPolicy", "applicationsSync")
	return policy != "create-only" && policy != "create-update"
}

// Registration is a cluster Secret. It may hold credentials: it is never shown.
type Registration struct{ secret *unstructured.Unstructured }

const (
	secretType        = "argocd.argoproj.io/secret-type"
	secretTypeCluster = "cluster"
	// LeavingLabel is on the registration of a cluster that is being destroyed.
	// A generator without a selector of its own leaves such clusters out by
	// {key: tombolo/leaving, operator: DoesNotExist}.
	LeavingLabel = "tombolo/leaving"
	// labelsAnnotation keeps the labels of a leaving registration.
	labelsAnnotation = "tombolo/labels"
)

// SecretName is the name of the Secret by which a cluster is registered.
func SecretName(cluster string) string { return "cluster-" + cluster }

// Name of the Secret.
func (r Registration) Name() string { return r.secret.GetName() }

// Cluster is the name of the cluster, as its Secret says.
func (r Registration) Cluster() string {
	if name := r.datum("name"); name != "" {
		return name
	}
	return strings.TrimPrefix(r.Name(), SecretName(""))
}

// Labels of the Secret.
func (r Registration) Labels() map[string]string { return r.secret.GetLabels() }

// Server of the cluster; "" when the Secret holds none.
func (r Registration) Server() string { return r.datum("server") }

func (r Registration) datum(key string) string {
	raw, err := base64.StdEncoding.DecodeString(kube.Text(r.secret, "data", key))
	if err != nil {
		return ""
	}
	return string(raw)
}

// Owner is the identity of the cluster; "" when it was registered without one.
func (r Registration) Owner() string { return r.secret.GetAnnotations()[names.OwnerKey] }

// IsOf says that the registration may be the cluster's with the identity: no other owner
// has it.
func (r Registration) IsOf(owner string) bool { return r.Owner() == "" || r.Owner() == owner }

// strangers says that the registration is another owner's.
func (r Registration) strangers(owner string) error {
	return &fault.Error{
		What:   fmt.Sprintf("Secret %s/%s registers another cluster %s: its owner is %s, and this cluster is %q", Namespace, r.Name(), r.Cluster(), r.Owner(), owner),
		Remedy: "nothing was changed: use the backend that has that cluster (--backend), or give this one another name",
	}
}

// Leaving says that the cluster is being destroyed.
func (r Registration) Leaving() bool { return r.secret.GetLabels()[LeavingLabel] != "" }

func id(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }
