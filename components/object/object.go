// Package object makes objects of a cluster.
//
// It describes them by their names in Kubernetes' API, as manifests do, and leaves the
// typed SDK of the Kubernetes provider out: a package that only mentions a type of it with
// metadata compiles 7,900 functions of Pulumi's own types, for seconds and to 23 MB.
package object

import (
	"encoding/base64"
	"fmt"
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
	if args.Kind == "Receiver" { // of Flux, which writes there what a caller may have to know alone
		opts = append(opts, pulumi.AdditionalSecretOutputs([]string{"status"}))
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

// RBAC is the group of Kubernetes' API that rights are in.
const RBAC = "rbac.authorization.k8s.io"

// ConfigMap is a ConfigMap with the data.
func ConfigMap(meta Meta, data pulumi.StringMap) Args {
	return Args{APIVersion: "v1", Kind: "ConfigMap", Meta: meta, Fields: map[string]any{"data": data}}
}

// Secret is a Secret with the data, not in base64; what is nil is left out, and without a
// map there is none. An empty type is Opaque. It is data, not stringData: server-side apply
// does not track the latter, and a removed key would stay.
func Secret(meta Meta, kind string, data map[string]pulumi.StringInput) Args {
	fields := map[string]any{}
	if kind != "" {
		fields["type"] = kind
	}
	if data != nil {
		fields["data"] = pulumi.ToSecret(encoded(data))
	}
	return Args{APIVersion: "v1", Kind: "Secret", Meta: meta, Fields: fields}
}

func encoded(values map[string]pulumi.StringInput) pulumi.StringMap {
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

// ClusterRole is a role with the rules, each by its fields in the API.
func ClusterRole(name string, rules ...map[string]any) Args {
	return Args{APIVersion: RBAC + "/v1", Kind: "ClusterRole", Meta: Meta{Name: name}, Fields: map[string]any{"rules": list(rules)}}
}

// ClusterRoleBinding gives subjects, each by its fields in the API, the ClusterRole of the
// same name.
func ClusterRoleBinding(name string, subjects ...map[string]any) Args {
	return Args{APIVersion: RBAC + "/v1", Kind: "ClusterRoleBinding", Meta: Meta{Name: name}, Fields: map[string]any{
		"roleRef":  map[string]any{"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
		"subjects": list(subjects),
	}}
}

// Group is a group as a subject of a binding.
func Group(name string) map[string]any {
	return map[string]any{"apiGroup": RBAC, "kind": "Group", "name": name}
}

func list(of []map[string]any) []any {
	all := make([]any, len(of))
	for i, one := range of {
		all[i] = one
	}
	return all
}

// Input turns decoded YAML into Pulumi inputs. Nulls are left out: they say
// nothing, and server-side apply would take them for a wish.
func Input(v any) pulumi.Input {
	switch v := v.(type) {
	case map[string]any:
		m := pulumi.Map{}
		for k, e := range v {
			if in := Input(e); in != nil {
				m[k] = in
			}
		}
		return m
	case []any:
		a := make(pulumi.Array, 0, len(v))
		for _, e := range v {
			if in := Input(e); in != nil {
				a = append(a, in)
			}
		}
		return a
	case []string:
		return pulumi.ToStringArray(v)
	case pulumi.Input:
		return v
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
