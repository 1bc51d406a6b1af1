package flux

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// handedOver has Pulumi make an object and then forget its content: whatever
// changes, here or in the cluster, is neither a diff nor reverted.
func handedOver() pulumi.ResourceOption { return pulumi.IgnoreChanges([]string{"*"}) }

// install registers the distribution in stages; each waits for the one before.
func install(ctx *pulumi.Context, name string, objects []object, parent pulumi.Resource) ([]pulumi.Resource, error) {
	var before, all []pulumi.Resource
	for _, stage := range stages(objects) {
		var made []pulumi.Resource
		for _, o := range stage {
			r := &pulumi.CustomResourceState{}
			skipAwait(o)
			err := ctx.RegisterResource(o.token(), name+"-"+o.resourceName(), inputs(o), r,
				pulumi.Parent(parent), pulumi.DependsOn(before), handedOver())
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", o.kind(), o.meta("name"), err)
			}
			made = append(made, r)
		}
		all = append(all, made...)
		if len(made) > 0 {
			before = made
		}
	}
	return all, nil
}

// skipAwait has Pulumi not look whether a controller is well. Readiness belongs
// to whoever verifies the cluster; here, a refresh that met an ill controller
// would have the next up apply its first manifest again, over Flux's changes.
func skipAwait(o object) {
	if kind := o.kind(); kind != "Deployment" && kind != "Service" {
		return
	}
	meta, _ := o["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		meta["annotations"] = annotations
	}
	annotations["pulumi.com/skipAwait"] = "true"
}

func inputs(o object) pulumi.Map {
	m, _ := input(map[string]any(o)).(pulumi.Map)
	return m
}

// input turns decoded YAML into Pulumi inputs. Nulls are left out: they say
// nothing, and server-side apply would take them for a wish.
func input(v any) pulumi.Input {
	switch v := v.(type) {
	case object:
		return input(map[string]any(v))
	case map[string]any:
		m := pulumi.Map{}
		for k, e := range v {
			if in := input(e); in != nil {
				m[k] = in
			}
		}
		return m
	case []any:
		a := make(pulumi.Array, 0, len(v))
		for _, e := range v {
			if in := input(e); in != nil {
				a = append(a, in)
			}
		}
		return a
	case string:
		return pulumi.String(v)
	case bool:
		return pulumi.Bool(v)
	case int:
		return pulumi.Int(v)
	case float64:
		return pulumi.Float64(v)
	case nil:
		return nil
	default:
		return pulumi.String(fmt.Sprint(v))
	}
}
