package infraconfig

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"sigs.k8s.io/yaml"

	"tombolo/internal/names"
)

// Service is a service that gets Helm values.
type Service struct {
	// Name of the service; the ConfigMap is named <Name>-values.
	Name string
	// Namespace of the ConfigMap.
	Namespace string
	// ServiceAccount that the chart is to create and use; "" publishes none.
	ServiceAccount string
	// RoleARN annotates the service account for IRSA. Nil for none.
	RoleARN pulumi.StringInput
	// Values merged over the published ones: maps key by key, all else by
	// replacement.
	Values map[string]any
}

// render is the service's values.yaml.
func (s Service) render(f Facts) pulumi.StringOutput {
	role := s.RoleARN
	if role == nil {
		role = pulumi.String("")
	}
	return pulumi.All(f["cluster_name"], f["region"], f["account_id"], f["vpc_id"], role).ApplyT(func(v []any) (string, error) {
		values := map[string]any{
			"clusterName": v[0], "region": v[1], "accountId": v[2], "vpcId": v[3],
		}
		if s.ServiceAccount != "" {
			account := map[string]any{"create": true, "name": s.ServiceAccount}
			if arn := v[4].(string); arn != "" {
				account["annotations"] = map[string]any{"eks.amazonaws.com/role-arn": arn}
			}
			values["serviceAccount"] = account
		}
		text, err := yaml.Marshal(merge(values, s.Values))
		if err != nil {
			return "", fmt.Errorf("render values of service %s: %w", s.Name, err)
		}
		return string(text), nil
	}).(pulumi.StringOutput)
}

// merge lays over on base; neither is changed.
func merge(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	for k, v := range over {
		below, isMap := out[k].(map[string]any)
		if above, ok := v.(map[string]any); ok && isMap {
			out[k] = merge(below, above)
			continue
		}
		out[k] = v
	}
	return out
}

// validate finds keys without a value, and values without a key.
func (f Facts) validate() []error {
	var problems []error
	keys := names.InfraKeyNames()
	for _, key := range keys {
		if f[key] == nil {
			problems = append(problems, fmt.Errorf("fact %s is missing", key))
		}
	}
	for key := range f {
		if !slices.Contains(keys, key) {
			problems = append(problems, fmt.Errorf("fact %s is no key of the infra ConfigMap", key))
		}
	}
	return problems
}
