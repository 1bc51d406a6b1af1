package teardown

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/internal/names"
)

// Ours tells, of a cluster that others own, what a destruction may delete: what is in the
// namespaces that it made, what the engine has applied, and what follows from those. All
// else is others', whatever it is.
type Ours struct {
	// Namespaces that bootstrap has made.
	Namespaces []string
	// Engine that runs on the cluster, and is ours; "" for none, as on a spoke, whose
	// applications its hub has deleted before.
	Engine config.Engine

	// sets are the Kustomizations and HelmReleases of the cluster's Flux, by their kind and
	// name: a Flux elsewhere may apply objects here, too, with the same labels.
	sets map[string]bool
	// claims and pools are those that were ours when they were last seen: their volumes and
	// nodes outlive them for a while.
	claims, pools map[string]bool
}

// originLabels are on what Flux applies, with the name and the namespace of the object that
// had it do so; by the kind of that. Sources: "origin labels" in
// https://fluxcd.io/flux/components/helm/helmreleases/ and "garbage collection" in
// https://fluxcd.io/flux/components/kustomize/kustomizations/
var originLabels = map[string][2]string{
	"Kustomization": {names.FluxLabel, "kustomize.toolkit.fluxcd.io/namespace"},
	"HelmRelease":   {"helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"},
}

// Karpenter's label of a node's pool: https://karpenter.sh/docs/concepts/scheduling/
const poolLabel = "karpenter.sh/nodepool"

// learn finds out what Flux on the cluster works on.
func (o *Ours) learn(ctx context.Context, c Cluster) error {
	o.sets, o.claims, o.pools = map[string]bool{}, map[string]bool{}, map[string]bool{}
	if o.Engine != config.Flux {
		return nil
	}
	mapper, err := c.Mapper()
	if err != nil {
		return err
	}
	for _, kind := range fluxKinds {
		all, err := c.list(ctx, mapper, kind)
		if err != nil {
			return err
		}
		for _, set := range all {
			o.sets[set.String()] = true
		}
	}
	return nil
}

// apart puts what is ours and what is others' apart. Claims come before volumes and pools
// before nodes, as in stages.
func (o *Ours) apart(all []remaining) (ours, others []remaining) {
	for _, r := range all {
		if o.has(r.Unstructured) {
			ours = append(ours, r)
		} else {
			others = append(others, r)
		}
	}
	return ours, others
}

// has says whether an object is ours, and remembers what others follow from.
func (o *Ours) has(object *unstructured.Unstructured) bool {
	ours := o.applied(object) || slices.Contains(o.Namespaces, object.GetNamespace())
	switch object.GetKind() {
	case "PersistentVolumeClaim":
		if ours {
			o.claims[object.GetNamespace()+"/"+object.GetName()] = true
		}
	case "PersistentVolume":
		namespace := kube.Text(object, "spec", "claimRef", "namespace")
		return slices.Contains(o.Namespaces, namespace) || o.claims[namespace+"/"+kube.Text(object, "spec", "claimRef", "name")]
	case "NodePool":
		if ours {
			o.pools[object.GetName()] = true
		}
	case "NodeClaim":
		return o.pools[object.GetLabels()[poolLabel]]
	}
	return ours
}

// applied says that the engine has applied the object from Git.
func (o *Ours) applied(object *unstructured.Unstructured) bool {
	if o.Engine == config.ArgoCD {
		return object.GetAnnotations()[names.ArgoCDAnnotation] != ""
	}
	for kind, keys := range originLabels {
		labels := object.GetLabels()
		if o.sets[kind+" "+labels[keys[1]]+"/"+labels[keys[0]]] {
			return true
		}
	}
	return false
}

// uses says whether a pod with claims is ours to stop: one in a namespace of ours, or one
// that holds a claim of ours.
func (o *Ours) uses(pod *unstructured.Unstructured) bool {
	if slices.Contains(o.Namespaces, pod.GetNamespace()) {
		return true
	}
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	for _, v := range volumes {
		volume, _ := v.(map[string]any)
		claim, _, _ := unstructured.NestedString(volume, "persistentVolumeClaim", "claimName")
		if claim != "" && o.claims[pod.GetNamespace()+"/"+claim] {
			return true
		}
	}
	return false
}
