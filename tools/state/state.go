package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kube-state-metrics/v2/pkg/customresourcestate"
	"k8s.io/kube-state-metrics/v2/pkg/metric"
	"sigs.k8s.io/yaml"
)

// values are those of kube-prometheus-stack that kube-state-metrics gets.
type values struct {
	KubeStateMetrics struct {
		MetricLabelsAllowlist []string
		RBAC                  struct {
			ExtraRules []struct {
				APIGroups, Resources, Verbs []string
			}
		}
		CustomResourceState struct {
			Enabled bool
			Config  struct {
				Kind string
				Spec customresourcestate.MetricsSpec
			}
		}
	} `json:"kube-state-metrics"`
}

// valuesOf reads a HelmRelease, or a file of values.
func valuesOf(text []byte) (values, error) {
	var release struct {
		Spec struct{ Values json.RawMessage }
	}
	if err := yaml.Unmarshal(text, &release); err != nil {
		return values{}, fmt.Errorf("read the release: %w", err)
	}
	if release.Spec.Values != nil {
		text = release.Spec.Values
	}
	var out values
	if err := yaml.Unmarshal(text, &out); err != nil {
		return values{}, fmt.Errorf("read the values: %w", err)
	}
	return out, nil
}

// stateOf are the metrics that kube-state-metrics makes of a list of objects: of those that its
// configuration names, and the labels of namespaces. The code for the latter is internal to
// it, so they are written here as it does: allowed labels alone, at
// https://github.com/kubernetes/kube-state-metrics/blob/v2.19.1/internal/store/namespace.go
func stateOf(release, objects []byte) (string, error) {
	v, err := valuesOf(release)
	if err != nil {
		return "", err
	}
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal(objects, &list); err != nil {
		return "", fmt.Errorf("read the objects: %w", err)
	}
	var out strings.Builder
	for _, item := range list.Items {
		o := &unstructured.Unstructured{Object: item}
		if o.GroupVersionKind().String() == "/v1, Kind=Namespace" {
			out.WriteString(namespaceLabels(v, o))
			continue
		}
		for _, r := range v.KubeStateMetrics.CustomResourceState.Config.Spec.Resources {
			if g := r.GroupVersionKind; g.Group != o.GroupVersionKind().Group || g.Version != o.GroupVersionKind().Version || g.Kind != o.GetKind() {
				continue
			}
			made, err := resourceState(r, o)
			if err != nil {
				return "", err
			}
			out.WriteString(made)
		}
	}
	return out.String(), nil
}

// resourceState is what kube-state-metrics itself makes of an object.
func resourceState(r customresourcestate.Resource, o *unstructured.Unstructured) (string, error) {
	for i := range r.Metrics { // as its FromConfig does
		r.Metrics[i].Each.Type = metric.Type(strings.ToLower(string(r.Metrics[i].Each.Type)))
	}
	factory, err := customresourcestate.NewCustomResourceMetrics(r)
	if err != nil {
		return "", fmt.Errorf("the configuration of kube-state-metrics for %s: %w", r.GroupVersionKind.Kind, err)
	}
	var out strings.Builder
	for _, g := range factory.MetricFamilyGenerators() {
		out.Write(g.Generate(o).ByteSlice())
	}
	return out.String(), nil
}

func namespaceLabels(v values, o *unstructured.Unstructured) string {
	labels := fmt.Sprintf("namespace=%q", o.GetName())
	for _, allowed := range v.KubeStateMetrics.MetricLabelsAllowlist {
		names, isNamespaces := strings.CutPrefix(strings.TrimSuffix(allowed, "]"), "namespaces=[")
		for name := range strings.SplitSeq(names, ",") {
			if text, has := o.GetLabels()[name]; isNamespaces && has {
				labels += fmt.Sprintf(",label_%s=%q", strings.NewReplacer("/", "_", "-", "_", ".", "_").Replace(name), text)
			}
		}
	}
	return "kube_namespace_labels{" + labels + "} 1\n"
}
