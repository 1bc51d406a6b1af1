package teardown

import (
	"context"
	"slices"
	"strings"

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
	// TakenOver says that others had installed this engine before, and that it stays: of
	// what it works on, ours is what follows from the platform.
	TakenOver bool
	// Applications that were ours when the destruction began, as Argo CD's tracking names
	// them: they are gone before what they have made is looked at.
	Applications []string

	// sets are our Kustomizations and HelmReleases, by their kind and name. Others may apply
	// objects here, too, with the same labels: a Flux elsewhere, or who had this Flux before.
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

// learn finds out what Flux on the cluster works on for us.
func (o *Ours) learn(ctx context.Context, c Cluster) error {
	o.sets, o.claims, o.pools = map[string]bool{}, map[string]bool{}, map[string]bool{}
	if o.Engine != config.Flux {
		return nil
	}
	mapper, err := c.Mapper()
	if err != nil {
		return err
	}
	var all []object
	for _, kind := range fluxKinds {
		found, err := c.list(ctx, mapper, kind)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if o.TakenOver {
		all = o.following(all)
	}
	for _, set := range all {
		o.sets[set.String()] = true
	}
	return nil
}

// platform is the Kustomization that all of ours follow from.
const platform = "Kustomization " + names.FluxNamespace + "/" + names.Platform

// following are the platform, what it has applied, what that has applied in turn, and what
// is in namespaces of ours.
func (o *Ours) following(all []object) []object {
	var ours []object
	for {
		n := len(ours)
		for _, set := range all {
			if name := set.String(); !o.sets[name] && (name == platform || slices.Contains(o.Namespaces, set.GetNamespace()) || o.applied(set.Unstructured)) {
				o.sets[name] = true
				ours = append(ours, set)
			}
		}
		if len(ours) == n {
			return ours
		}
	}
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
		application, _, _ := strings.Cut(object.GetAnnotations()[names.ArgoCDAnnotation], ":")
		return application != "" && slices.Contains(o.Applications, application)
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
