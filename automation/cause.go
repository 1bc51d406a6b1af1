package automation

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// firstCause finds, among the checks that did not pass, the one that waits
// for no other: a Kustomization waits for its source, for the Kustomizations
// it depends on, and for what it applied itself.
func (p *platform) firstCause(checks []Check) (Check, bool) {
	failing := map[ref]Check{}
	var start []ref
	for _, c := range checks {
		if !c.Ready {
			r := ref{Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}
			failing[r] = c
			start = append(start, r)
		}
	}
	for _, r := range start {
		if !p.waitsFor(r, failing) {
			return failing[r], true
		}
	}
	if len(start) > 0 { // they wait for one another
		return failing[start[0]], true
	}
	return Check{}, false
}

// waitsFor says whether one of the object's needs is failing too.
func (p *platform) waitsFor(r ref, failing map[ref]Check) bool {
	o, ok := p.objects[r]
	if !ok {
		return false
	}
	for _, need := range needs(o) {
		if _, ok := failing[need]; ok && need != r {
			return true
		}
	}
	return false
}

// needs lists the Flux objects that an object waits for.
func needs(o *unstructured.Unstructured) []ref {
	var out []ref
	for _, path := range [][]string{
		{"spec", "sourceRef"},                  // Kustomization, HelmChart
		{"spec", "chartRef"},                   // HelmRelease
		{"spec", "chart", "spec", "sourceRef"}, // HelmRelease
	} {
		if r, ok := sourceRef(o, path...); ok {
			out = append(out, r)
		}
	}
	if namespace, name, ok := strings.Cut(text(o, "status", "helmChart"), "/"); ok {
		out = append(out, ref{Kind: "HelmChart", Namespace: namespace, Name: name})
	}
	return append(append(out, dependsOn(o)...), applied(o)...)
}

func dependsOn(o *unstructured.Unstructured) []ref {
	var out []ref
	list, _, _ := unstructured.NestedSlice(o.Object, "spec", "dependsOn")
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, _ := m["name"].(string)
		namespace, _ := m["namespace"].(string)
		if namespace == "" {
			namespace = o.GetNamespace()
		}
		if name != "" {
			out = append(out, ref{Kind: o.GetKind(), Namespace: namespace, Name: name})
		}
	}
	return out
}

// applied lists the Flux objects that a Kustomization made, from its
// inventory of "namespace_name_group_kind".
func applied(o *unstructured.Unstructured) []ref {
	var out []ref
	entries, _, _ := unstructured.NestedSlice(o.Object, "status", "inventory", "entries")
	for _, item := range entries {
		m, _ := item.(map[string]any)
		id, _ := m["id"].(string)
		parts := strings.Split(id, "_")
		if len(parts) != 4 || !strings.HasSuffix(parts[2], ".toolkit.fluxcd.io") {
			continue
		}
		out = append(out, ref{Kind: parts[3], Namespace: parts[0], Name: parts[1]})
	}
	return out
}
