package cloudmanager

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"gopkg.in/yaml.v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// nodeClasses are Karpenter's descriptions of nodes.
var nodeClasses = schema.GroupVersionResource{Group: "karpenter.k8s.aws", Version: "v1", Resource: "ec2nodeclasses"}

// tagsFrom are the tags that a controller's chart was given at a path of its values; none
// without the chart. The lab's charts keep what they are given in a ConfigMap.
func (w *watch) tagsFrom(ctx context.Context, chart string, path ...string) (map[string]string, error) {
	given, err := w.client.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + chart})
	if err != nil {
		return nil, fmt.Errorf("look up what the chart %s was given: %w", chart, err)
	}
	for _, m := range given.Items {
		if !strings.HasSuffix(m.Name, "-received") {
			continue
		}
		var values map[string]any
		if err := yaml.Unmarshal([]byte(m.Data["values.yaml"]), &values); err != nil {
			return nil, fmt.Errorf("read what the chart %s was given: %w", chart, err)
		}
		found, _, err := unstructured.NestedMap(values, path...)
		if err != nil {
			return nil, fmt.Errorf("read the tags that the chart %s was given: %w", chart, err)
		}
		return asTexts(found), nil
	}
	return nil, nil
}

// asTexts are the values as a command line has them.
func asTexts(values map[string]any) map[string]string {
	out := map[string]string{}
	for key, value := range values {
		out[key] = fmt.Sprint(value)
	}
	return out
}

// withTags are tags with those that somebody asked for. What a controller sets itself wins.
func withTags(asked map[string]string, own map[string]any) map[string]any {
	all := map[string]any{}
	for key, value := range asked {
		all[key] = value
	}
	maps.Copy(all, own)
	return all
}

// classTags are the tags of an EC2NodeClass; none when it does not exist.
func (w *watch) classTags(ctx context.Context, class string) (map[string]string, error) {
	found, err := w.objects.Resource(nodeClasses).Get(ctx, class, metav1.GetOptions{})
	if class == "" || apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up the node class %s: %w", class, err)
	}
	tags, _, err := unstructured.NestedStringMap(found.Object, "spec", "tags")
	return tags, err
}
