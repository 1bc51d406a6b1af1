package distribution

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/object"
)

// leftAlone has Pulumi keep an object and ignore its content: a change, here or in
// the cluster, is neither a diff nor reverted.
func leftAlone() pulumi.ResourceOption { return pulumi.IgnoreChanges([]string{"*"}) }

// Installation says how the objects of a distribution are registered.
type Installation struct {
	// Product that the objects are of.
	Product
	// HandedOver leaves the objects as they are, whatever they hold by now.
	// Otherwise the manifest is applied, even to fields with other owners.
	HandedOver bool
	// Retained leaves the objects where they are when Pulumi's stack is destroyed.
	Retained bool
	// Configure makes what controllers read when they start, after the objects
	// that it changes. Nil for nothing.
	Configure func(after pulumi.ResourceOption) ([]pulumi.Resource, error)
	// Parent of the resources.
	Parent pulumi.Resource
}

// Installed is a distribution that was registered.
type Installed struct {
	// Resources in the order of their stages.
	Resources []pulumi.Resource

	identities []string
}

// Install registers the objects in stages; each waits for the one before.
func (i Installation) Install(ctx *pulumi.Context, name string, objects []Object) (Installed, error) {
	var all Installed
	var before []pulumi.Resource
	for n, stage := range stages(objects) {
		if n == controllers && i.Configure != nil {
			configured, err := i.Configure(pulumi.DependsOn(all.Resources))
			if err != nil {
				return Installed{}, err
			}
			before = append(before, configured...)
		}
		made, err := i.stage(ctx, name, stage, pulumi.DependsOn(before))
		if err != nil {
			return Installed{}, err
		}
		all.Resources = append(all.Resources, made...)
		if len(made) > 0 {
			before = made
		}
	}
	for _, o := range objects {
		all.identities = append(all.identities, o.Identity())
	}
	return all, nil
}

func (i Installation) stage(ctx *pulumi.Context, name string, objects []Object, after pulumi.ResourceOption) ([]pulumi.Resource, error) {
	var made []pulumi.Resource
	for _, o := range objects {
		r := &pulumi.CustomResourceState{}
		direct(o)
		inputs, _ := object.Input(map[string]any(o)).(pulumi.Map)
		opts := []pulumi.ResourceOption{pulumi.Parent(i.Parent), after, pulumi.RetainOnDelete(i.Retained)}
		if o.Kind() == "Secret" {
			// What the product writes into it is in the state after a refresh.
			opts = append(opts, pulumi.AdditionalSecretOutputs([]string{"data", "stringData"}))
		}
		if i.HandedOver {
			opts = append(opts, leftAlone())
		}
		if err := ctx.RegisterResource(object.Token(o.Text("apiVersion"), o.Kind()), name+"-"+o.resourceName(i.Namespace), inputs, r, opts...); err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.Kind(), o.Meta("name"), err)
		}
		made = append(made, r)
	}
	return made, nil
}

// Made lists the objects once every one of them is there: what failed half of
// the way must not count as applied.
func (i Installed) Made() pulumi.StringArrayOutput {
	names := slices.Sorted(slices.Values(i.identities))
	registered := make([]any, len(i.Resources))
	for n, r := range i.Resources {
		registered[n] = r.URN()
	}
	return pulumi.All(registered...).ApplyT(func([]any) []string { return names }).(pulumi.StringArrayOutput)
}

// direct says to the Kubernetes provider how to treat an object. It takes the
// fields that were set by hand: who asks for a distribution gets all
// of it. And it does not look whether a controller is well: readiness belongs
// to whoever verifies the cluster; here, a refresh that met a failing controller
// would have the next up apply its first manifest again, over Flux's changes.
func direct(o Object) {
	o.Annotate(PatchForce, "true")
	if o.isController() || o.Kind() == "Service" {
		o.Annotate("pulumi.com/skipAwait", "true")
	}
}

// PatchForce is an annotation, "true", that has the provider apply an object although another manager owns
// fields of it.
const PatchForce = "pulumi.com/patchForce"
