// Package object makes objects of a cluster.
//
// It describes them by their names in Kubernetes' API, as manifests do, and leaves the
// typed SDK of the Kubernetes provider out: a package that only mentions a type of it with
// metadata compiles 7,900 functions of Pulumi's own types, for seconds and to 23 MB.
package object

import (
	"maps"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
)

// Args are the arguments of an object.
type Args struct {
	// APIVersion and Kind, such as rbac.authorization.k8s.io/v1 and ClusterRole.
	APIVersion, Kind string
	Meta             Meta
	// Fields are the object's others by their names in the API, such as spec. Input turns
	// them into inputs.
	Fields map[string]any
	// Patch has the object own its fields of one that others make, and nothing else.
	Patch bool
}

// Meta is the metadata of an object. What is empty is left out.
type Meta struct {
	Name, Namespace     string
	Labels, Annotations pulumi.StringMap
	Finalizers          []string
}

// Object is an object of a cluster.
type Object struct {
	pulumi.CustomResourceState

	// Metadata as the cluster has it.
	Metadata pulumi.MapOutput `pulumi:"metadata"`
	// Data of a ConfigMap or a Secret; a Secret's is a secret, in base64.
	Data pulumi.StringMapOutput `pulumi:"data"`
}

// New makes an object. The provider in opts is the cluster's.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Object, error) {
	kind := args.Kind
	if args.Patch {
		kind += "Patch"
	}
	if args.Kind == "Secret" {
		opts = append(opts, pulumi.AdditionalSecretOutputs([]string{"data", "stringData"}))
		if data, ok := args.Fields["data"].(pulumi.Output); ok {
			var err error
			if args.Fields["data"], err = Known(ctx, data); err != nil {
				return nil, err
			}
		}
	}
	o := &Object{}
	return o, ctx.RegisterResource(Token(args.APIVersion, kind), name, args.inputs(), o, opts...)
}

// Known is a secret input of a resource. In a preview it waits for it, and one that is unknown is no
// secret: of a resource with an unknown secret the CLI cannot write a plan, but ends in a panic
// (SerializePropertyValue in pkg/resource/stack/deployment.go encrypts it for display, 3.250).
func Known(ctx *pulumi.Context, secret pulumi.Output) (pulumi.Output, error) {
	if !ctx.DryRun() {
		return secret, nil
	}
	found, err := internals.UnsafeAwaitOutput(ctx.Context(), secret)
	if err != nil || found.Known {
		return secret, err
	}
	return pulumi.Unsecret(secret), nil
}

// Name of the object, once the cluster has it.
func (o *Object) Name() pulumi.StringOutput {
	return o.Metadata.ApplyT(func(metadata map[string]any) string {
		name, _ := metadata["name"].(string)
		return name
	}).(pulumi.StringOutput)
}

// Token is the Pulumi type of a kind: kubernetes:<group/version>:<Kind>, where the core
// group is called core.
func Token(apiVersion, kind string) string {
	if !strings.Contains(apiVersion, "/") {
		apiVersion = "core/" + apiVersion
	}
	return "kubernetes:" + apiVersion + ":" + kind
}

func (a Args) inputs() pulumi.Map {
	all := map[string]any{"apiVersion": a.APIVersion, "kind": a.Kind, "metadata": a.Meta.fields()}
	maps.Copy(all, a.Fields)
	return Input(all).(pulumi.Map)
}

func (m Meta) fields() map[string]any {
	fields := map[string]any{}
	for key, text := range map[string]string{"name": m.Name, "namespace": m.Namespace} {
		if text != "" {
			fields[key] = text
		}
	}
	for key, entries := range map[string]pulumi.StringMap{"labels": m.Labels, "annotations": m.Annotations} {
		if entries != nil {
			fields[key] = entries
		}
	}
	if m.Finalizers != nil {
		fields["finalizers"] = m.Finalizers
	}
	return fields
}
