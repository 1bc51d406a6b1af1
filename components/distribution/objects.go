package distribution

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/object"
)

// This file makes objects that are not the distribution's, but come with it:
// what tells the product what to follow, and with which credentials.

// Custom makes an object of a kind that the distribution defines, from its
// metadata and its spec.
func Custom(ctx *pulumi.Context, name string, o Object, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	meta, _ := o["metadata"].(map[string]any)
	annotations := pulumi.StringMap{}
	declared, _ := meta["annotations"].(map[string]any)
	for key, value := range declared {
		if text, ok := value.(string); ok {
			annotations[key] = pulumi.String(text)
		}
	}
	args := object.Args{
		APIVersion: o.Text("apiVersion"), Kind: o.Kind(), Fields: map[string]any{"spec": o["spec"]},
		Meta: object.Meta{Name: o.Meta("name"), Namespace: o.Meta("namespace"), Annotations: annotations},
	}
	list, _ := meta["finalizers"].([]any)
	for _, f := range list {
		if text, ok := f.(string); ok {
			args.Meta.Finalizers = append(args.Meta.Finalizers, text)
		}
	}
	return object.New(ctx, name, args, opts...)
}
