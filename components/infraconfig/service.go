package infraconfig

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"sigs.k8s.io/yaml"
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
	return pulumi.All(f.ClusterName, f.Region, f.AccountID, f.VPCID, role).ApplyT(func(v []any) (string, error) {
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

// validate names the facts that are missing.
func (f Facts) validate() []error {
	var problems []error
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		if v.Field(i).IsNil() {
			problems = append(problems, fmt.Errorf("fact %s is missing", v.Type().Field(i).Name))
		}
	}
	return problems
}
