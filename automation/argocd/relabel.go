package argocd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// metadata is what relabel changes of a registration.
type metadata struct{ labels, annotations map[string]string }

// leave takes away from the registration all labels that generators select by,
// and keeps them for comeBack. When hidden, Argo CD forgets the cluster at once:
// it then deletes nothing there.
func leave(hidden bool) func(*metadata) error {
	return func(m *metadata) error {
		if m.labels[LeavingLabel] == "" {
			kept, err := json.Marshal(m.labels)
			if err != nil {
				return fmt.Errorf("keep labels: %w", err)
			}
			m.annotations[labelsAnnotation] = string(kept)
		}
		m.labels = map[string]string{LeavingLabel: "true"}
		if !hidden {
			m.labels[secretType] = secretTypeCluster
		}
		return nil
	}
}

// comeBack undoes leave.
func comeBack(m *metadata) error {
	if m.labels[LeavingLabel] == "" {
		return nil
	}
	labels := map[string]string{}
	if kept := m.annotations[labelsAnnotation]; kept != "" {
		if err := json.Unmarshal([]byte(kept), &labels); err != nil {
			return fmt.Errorf("read the annotation %s: %w", labelsAnnotation, err)
		}
	}
	labels[secretType] = secretTypeCluster
	m.labels = labels
	delete(m.annotations, labelsAnnotation)
	return nil
}

// Return registers a cluster again whose destruction was begun and not ended. It
// says whether there was something to do.
func (h Hub) Return(ctx context.Context, cluster string) (bool, error) {
	r, err := h.Registration(ctx, cluster)
	if err != nil || r == nil || !r.Leaving() {
		return false, err
	}
	return true, h.relabel(ctx, cluster, comeBack)
}

// relabel changes a registration in place, in the name of the field manager that applied it:
// it keeps the fields, and its next apply decides about them. A
// registration without a field manager is updated.
func (h Hub) relabel(ctx context.Context, cluster string, change func(*metadata) error) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		r, err := h.Registration(ctx, cluster)
		if err != nil || r == nil {
			return err
		}
		if !r.IsOf(h.Owner) {
			return r.strangers(h.Owner)
		}
		if manager := applier(r.secret); manager != "" {
			return h.reapply(ctx, r.secret, manager, change)
		}
		if err := edit(r.secret, change); err != nil {
			return err
		}
		_, err = h.secrets().Update(ctx, r.secret, metav1.UpdateOptions{FieldManager: "tombolo-deregister"})
		return err
	})
	if err != nil {
		return fmt.Errorf("change the labels of Secret %s/%s: %w", Namespace, SecretName(cluster), err)
	}
	return nil
}

// reapply applies what the manager applied last, with other metadata.
func (h Hub) reapply(ctx context.Context, o *unstructured.Unstructured, manager string, change func(*metadata) error) error {
	applied, err := appliedBy(o, manager)
	if err != nil {
		return err
	}
	if err := edit(applied, change); err != nil {
		return err
	}
	applied.SetResourceVersion(o.GetResourceVersion())
	_, err = h.secrets().Apply(ctx, o.GetName(), applied, metav1.ApplyOptions{FieldManager: manager, Force: true})
	return err
}

// appliedBy is the part of an object that a field manager has applied.
func appliedBy(o *unstructured.Unstructured, manager string) (*unstructured.Unstructured, error) {
	var fields fieldpath.Set
	for _, entry := range o.GetManagedFields() {
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.FieldsV1 != nil {
			if err := fields.FromJSON(strings.NewReader(entry.FieldsV1.GetRawString())); err != nil {
				return nil, fmt.Errorf("read the fields of %s: %w", manager, err)
			}
		}
	}
	whole, err := typed.DeducedParseableType.FromUnstructured(o.Object)
	if err != nil {
		return nil, err
	}
	part, _ := whole.ExtractItems(fields.Leaves()).AsValue().Unstructured().(map[string]any)
	applied := &unstructured.Unstructured{Object: map[string]any{}}
	maps.Copy(applied.Object, part)
	applied.SetGroupVersionKind(o.GroupVersionKind())
	applied.SetNamespace(o.GetNamespace())
	applied.SetName(o.GetName())
	return applied, nil
}

// applier is the field manager that applied what makes the Secret a
// registration; "" without one.
func applier(o *unstructured.Unstructured) string {
	for _, entry := range o.GetManagedFields() {
		if entry.Operation != metav1.ManagedFieldsOperationApply || entry.FieldsV1 == nil {
			continue
		}
		fields := entry.FieldsV1.GetRawString()
		if strings.Contains(fields, `"f:`+secretType+`"`) || strings.Contains(fields, `"f:`+LeavingLabel+`"`) {
			return entry.Manager
		}
	}
	return ""
}

// edit changes the labels and annotations of an object.
func edit(o *unstructured.Unstructured, change func(*metadata) error) error {
	m := metadata{labels: map[string]string{}, annotations: map[string]string{}}
	maps.Copy(m.labels, o.GetLabels())
	maps.Copy(m.annotations, o.GetAnnotations())
	err := change(&m)
	o.SetLabels(m.labels)
	o.SetAnnotations(m.annotations)
	return err
}
