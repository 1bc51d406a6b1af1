package distribution

import (
	"encoding/base64"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apiextensions"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
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
	args := metav1.ObjectMetaArgs{
		Name: pulumi.String(o.Meta("name")), Namespace: pulumi.String(o.Meta("namespace")), Annotations: annotations,
	}
	if list, ok := meta["finalizers"].([]any); ok {
		finalizers := pulumi.StringArray{}
		for _, f := range list {
			if text, ok := f.(string); ok {
				finalizers = append(finalizers, pulumi.String(text))
			}
		}
		args.Finalizers = finalizers
	}
	return apiextensions.NewCustomResource(ctx, name, &apiextensions.CustomResourceArgs{
		ApiVersion: pulumi.String(o.Text("apiVersion")), Kind: pulumi.String(o.Kind()),
		Metadata: args, OtherFields: map[string]any{"spec": Input(o["spec"])},
	}, opts...)
}

// SecretData is the data of a Secret; what is nil is left out. It is data, not
// stringData: server-side apply does not track the latter, and a removed key
// would stay.
func SecretData(values map[string]pulumi.StringInput) pulumi.StringMap {
	data := pulumi.StringMap{}
	for key, value := range values {
		if value == nil {
			continue
		}
		data[key] = value.ToStringOutput().ApplyT(func(s string) string {
			return base64.StdEncoding.EncodeToString([]byte(s))
		}).(pulumi.StringOutput)
	}
	return data
}
