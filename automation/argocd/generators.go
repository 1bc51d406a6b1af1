package argocd

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// Reaches says whether a generator of the set surely selects a cluster whose
// registration has these labels. What depends on more than labels (lists, Git,
// filters on parameters) is not judged: false.
func (s Set) Reaches(registration map[string]string) bool {
	if registration[secretType] != secretTypeCluster {
		return false // for Argo CD it is no cluster
	}
	generators, _, _ := unstructured.NestedSlice(s.Object, "spec", "generators")
	return anyReaches(generators, labels.Set(registration))
}

func anyReaches(generators []any, registration labels.Set) bool {
	for _, item := range generators {
		g, _ := item.(map[string]any)
		if _, filtered := g["selector"]; filtered {
			continue
		}
		if clusters, ok := g["clusters"].(map[string]any); ok && selects(clusters, registration) {
			return true
		}
		for _, combination := range []string{"matrix", "merge"} {
			inner, _, _ := unstructured.NestedSlice(g, combination, "generators")
			if anyReaches(inner, registration) {
				return true
			}
		}
	}
	return false
}

// followsClusters says whether another registration may have the set make other Applications. Of Argo CD's
// generators these do: https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators/
// A plugin may do anything.
func (s Set) followsClusters() bool {
	generators, _, _ := unstructured.NestedSlice(s.Object, "spec", "generators")
	return anyFollows(generators)
}

func anyFollows(generators []any) bool {
	for _, item := range generators {
		g, _ := item.(map[string]any)
		for kind, of := range g {
			switch kind {
			case "clusters", "clusterDecisionResource", "plugin":
				return true
			case "matrix", "merge":
				m, _ := of.(map[string]any)
				if inner, _ := m["generators"].([]any); anyFollows(inner) {
					return true
				}
			}
		}
	}
	return false
}

// selects judges a cluster generator. One without a selector selects every
// cluster.
func selects(clusters map[string]any, registration labels.Set) bool {
	raw, _, _ := unstructured.NestedMap(clusters, "selector")
	var selector metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(maps.Clone(raw), &selector); err != nil {
		return false
	}
	s, err := metav1.LabelSelectorAsSelector(&selector)
	return err == nil && s.Matches(registration)
}

// ByClustersAlone says that the set makes one Application for each cluster that
// it reaches: its generators are cluster generators, and no list of them is
// flattened into one.
func (s Set) ByClustersAlone() bool {
	generators, _, _ := unstructured.NestedSlice(s.Object, "spec", "generators")
	for _, item := range generators {
		g, _ := item.(map[string]any)
		clusters, ok := g["clusters"].(map[string]any)
		_, filtered := g["selector"]
		if flat, _, _ := unstructured.NestedBool(clusters, "flatList"); !ok || filtered || flat {
			return false
		}
	}
	return len(generators) > 0
}
