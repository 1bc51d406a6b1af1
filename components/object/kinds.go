package object

import (
	"encoding/base64"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

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
