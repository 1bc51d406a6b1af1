package flux

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// leftAlone has Pulumi keep an object and forget its content: whatever
// changes, here or in the cluster, is neither a diff nor reverted.
func leftAlone() pulumi.ResourceOption { return pulumi.IgnoreChanges([]string{"*"}) }

// install registers the distribution in stages; each waits for the one before.
// The resources come in the order of the objects' stages.
func install(ctx *pulumi.Context, name string, objects []object, handedOver bool, parent pulumi.Resource) ([]pulumi.Resource, error) {
	var before, all []pulumi.Resource
	for _, stage := range stages(objects) {
		var made []pulumi.Resource
		for _, o := range stage {
			r := &pulumi.CustomResourceState{}
			direct(o)
			opts := []pulumi.ResourceOption{pulumi.Parent(parent), pulumi.DependsOn(before)}
			if handedOver {
				opts = append(opts, leftAlone())
			}
			if err := ctx.RegisterResource(o.token(), name+"-"+o.resourceName(), inputs(o), r, opts...); err != nil {
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

// made lists the objects once every one of them is there: what failed half of
// the way must not count as applied.
func made(objects []object, installed []pulumi.Resource) pulumi.StringArrayOutput {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.identity()
	}
	slices.Sort(names)
	registered := make([]any, len(installed))
	for i, r := range installed {
		registered[i] = r.URN()
	}
	return pulumi.All(registered...).ApplyT(func([]any) []string { return names }).(pulumi.StringArrayOutput)
}

// direct says to the Kubernetes provider how to treat an object. It takes the
// fields that somebody else set by hand: who asks for a distribution gets all
// of it. And it does not look whether a controller is well: readiness belongs
// to whoever verifies the cluster; here, a refresh that met an ill controller
// would have the next up apply its first manifest again, over Flux's changes.
func direct(o object) {
	o.annotate(patchForce, "true")
	if kind := o.kind(); kind == "Deployment" || kind == "Service" {
		o.annotate("pulumi.com/skipAwait", "true")
	}
}

// patchForce has the provider apply an object although somebody else owns
// fields of it.
const patchForce = "pulumi.com/patchForce"

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
