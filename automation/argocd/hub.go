package argocd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// Hub is a cluster with an Argo CD.
type Hub struct {
	Client dynamic.Interface
	// Owner is the identity of the cluster whose registration is changed: one with
	// another's is never. Required by what changes a registration.
	Owner string
}

func (h Hub) applications() dynamic.NamespaceableResourceInterface {
	return h.Client.Resource(schema.GroupVersionResource{Group: Group, Version: Version, Resource: "applications"})
}

func (h Hub) sets() dynamic.NamespaceableResourceInterface {
	return h.Client.Resource(schema.GroupVersionResource{Group: Group, Version: Version, Resource: "applicationsets"})
}

func (h Hub) secrets() dynamic.ResourceInterface {
	return h.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(Namespace)
}

// Applications lists those of all namespaces, sorted by name. Without Argo CD
// there are none.
func (h Hub) Applications(ctx context.Context) ([]Application, error) {
	return list(ctx, h.applications(), "Applications", "", asApplication)
}

// OwnApplications lists those in Argo CD's own namespace, sorted by name. Without Argo CD
// there are none.
func (h Hub) OwnApplications(ctx context.Context) ([]Application, error) {
	return list(ctx, h.applications().Namespace(Namespace), "Applications", "", asApplication)
}

func asApplication(o *unstructured.Unstructured) Application { return Application{o} }

// DeleteRegistration deletes the registration that was read, and no other one of its
// name. One that is gone is no error.
func (h Hub) DeleteRegistration(ctx context.Context, r Registration) error {
	if !r.IsOf(h.Owner) {
		return r.strangers(h.Owner)
	}
	uid := r.secret.GetUID()
	err := h.secrets().Delete(ctx, r.Name(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the registration of cluster %s: %w", r.Cluster(), err)
	}
	return nil
}

// Sets lists the ApplicationSets of all namespaces, sorted by name. Without
// Argo CD there are none.
func (h Hub) Sets(ctx context.Context) ([]Set, error) {
	return list(ctx, h.sets(), "ApplicationSets", "", func(o *unstructured.Unstructured) Set { return Set{o} })
}

// Registrations lists the clusters that the hub knows or is about to forget,
// itself included, sorted by name.
func (h Hub) Registrations(ctx context.Context) ([]Registration, error) {
	var all []Registration
	for _, selector := range []string{secretType + "=" + secretTypeCluster, LeavingLabel + "," + secretType + "!=" + secretTypeCluster} {
		found, err := list(ctx, h.secrets(), "registrations", selector, func(o *unstructured.Unstructured) Registration { return Registration{o} })
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b Registration) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// Registration reads that of a cluster; nil when there is none.
func (h Hub) Registration(ctx context.Context, cluster string) (*Registration, error) {
	o, err := h.secrets().Get(ctx, SecretName(cluster), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the registration of cluster %s: %w", cluster, err)
	}
	return &Registration{o}, nil
}

// RefreshAnnotation is on an Application that Argo CD was asked to compare with
// Git; it removes it when it has.
const RefreshAnnotation = "argocd.argoproj.io/refresh"

// Refresh asks Argo CD to look at Git for the Application now. The field manager
// owns the annotation, and nothing else of the Application. One that is gone is
// no error.
func (h Hub) Refresh(ctx context.Context, a Application, manager string) error {
	request := &unstructured.Unstructured{}
	request.SetGroupVersionKind(a.GroupVersionKind())
	request.SetNamespace(a.GetNamespace())
	request.SetName(a.GetName())
	request.SetUID(a.GetUID())
	request.SetAnnotations(map[string]string{RefreshAnnotation: "normal"})
	_, err := h.applications().Namespace(a.GetNamespace()).Apply(ctx, a.GetName(), request, metav1.ApplyOptions{FieldManager: manager, Force: true})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// lister is what list needs of a resource.
type lister interface {
	List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error)
}

// list lists what labels select, sorted by name; "" selects all. as is what an object is to this package.
func list[T any](ctx context.Context, resource lister, what, labels string, as func(*unstructured.Unstructured) T) ([]T, error) {
	found, err := resource.List(ctx, metav1.ListOptions{LabelSelector: labels})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list Argo CD's %s: %w", what, err)
	}
	slices.SortFunc(found.Items, func(a, b unstructured.Unstructured) int { return strings.Compare(id(&a), id(&b)) })
	out := make([]T, len(found.Items))
	for i := range found.Items {
		out[i] = as(&found.Items[i])
	}
	return out, nil
}

// refreshSetAnnotation is on an ApplicationSet that the controller was asked to
// generate anew, until it has.
const refreshSetAnnotation = "argocd.argoproj.io/application-set-refresh"

// refreshSet has the controller generate the set's Applications anew. A Secret
// that is no registration any more tells it nothing by itself.
func (h Hub) refreshSet(ctx context.Context, s Set) error {
	if _, asked := s.GetAnnotations()[refreshSetAnnotation]; asked {
		return nil
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"true"}}}`, refreshSetAnnotation)
	_, err := h.sets().Namespace(s.GetNamespace()).Patch(ctx, s.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("have %s generate anew: %w", s, err)
	}
	return nil
}
