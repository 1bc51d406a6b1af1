package teardown

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// heldAnnotation is on what a teardown has suspended. It keeps the
	// dependencies that the object had, as JSON.
	heldAnnotation = "tombolo/held"
	// neverThere is a dependency that does not exist.
	neverThere = "tombolo-teardown"
)

// fluxKinds apply things to the cluster, those first that apply the others.
var fluxKinds = []schema.GroupKind{
	{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"},
	{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"},
}

// Hold suspends all Kustomizations and HelmReleases, so that Flux does not make
// again what is deleted; with only, those of them that are ours. What was suspended before
// stays as it is. It returns how many are held.
func (c Cluster) Hold(ctx context.Context, only *Ours) (int, error) {
	if only != nil {
		if err := only.learn(ctx, c); err != nil {
			return 0, err
		}
	}
	held := 0
	err := c.eachOfFlux(ctx, func(o object) error {
		if only != nil && !only.sets[o.String()] {
			return nil
		}
		_, ours := o.GetAnnotations()[heldAnnotation]
		if !ours && suspended(o.Unstructured) {
			return nil
		}
		held++
		if ours {
			return o.patch(ctx, "suspend", map[string]any{"suspend": true}, nil)
		}
		before, _, _ := unstructured.NestedSlice(o.Object, "spec", "dependsOn")
		kept, err := json.Marshal(before)
		if err != nil {
			return fmt.Errorf("keep the dependencies of %s: %w", o, err)
		}
		return o.patch(ctx, "suspend", map[string]any{"suspend": true}, map[string]any{heldAnnotation: string(kept)})
	})
	return held, err
}

// Release prepares what is held for its deletion. Flux removes nothing that a
// suspended object has made; so it is suspended no longer, and waits for a
// dependency that is never there instead. That keeps Flux from applying it, and
// not from removing it.
func (c Cluster) Release(ctx context.Context) error {
	return c.eachOfFlux(ctx, func(o object) error {
		if _, ours := o.GetAnnotations()[heldAnnotation]; !ours {
			return nil
		}
		return o.patch(ctx, "release", map[string]any{
			"suspend": nil, "dependsOn": []any{map[string]any{"name": neverThere}},
		}, nil)
	})
}

// Resume makes what is held what it was before, and returns how many objects
// that were.
func (c Cluster) Resume(ctx context.Context) (int, error) {
	resumed := 0
	err := c.eachOfFlux(ctx, func(o object) error {
		kept, ours := o.GetAnnotations()[heldAnnotation]
		if !ours {
			return nil
		}
		var before []any
		if err := json.Unmarshal([]byte(kept), &before); err != nil {
			return fmt.Errorf("read annotation %s of %s: %w", heldAnnotation, o, err)
		}
		spec := map[string]any{"suspend": nil, "dependsOn": nil}
		if len(before) > 0 {
			spec["dependsOn"] = before
		}
		resumed++
		return o.patch(ctx, "resume", spec, map[string]any{heldAnnotation: nil})
	})
	return resumed, err
}

func (c Cluster) eachOfFlux(ctx context.Context, work func(object) error) error {
	mapper, err := c.Mapper()
	if err != nil {
		return err
	}
	for _, kind := range fluxKinds {
		objects, err := c.list(ctx, mapper, kind)
		if err != nil {
			return err
		}
		for _, o := range objects {
			if o.deleting() {
				continue
			}
			if err := work(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// patch merges into the object's spec and annotations. An object that is gone
// needs none.
func (o object) patch(ctx context.Context, what string, spec, annotations map[string]any) error {
	patch := map[string]any{"spec": spec}
	if annotations != nil {
		patch["metadata"] = map[string]any{"annotations": annotations}
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, o, err)
	}
	_, err = o.resource.Patch(ctx, o.GetName(), types.MergePatchType, raw, metav1.PatchOptions{FieldManager: manager})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("%s %s: %w", what, o, err)
	}
	return nil
}

func suspended(o *unstructured.Unstructured) bool {
	s, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend")
	return s
}
