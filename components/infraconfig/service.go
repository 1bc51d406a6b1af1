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
	// ClientID of the service's identity annotates the service account for Azure's workload
	// identity, and has the chart label its pods. Nil for none.
	ClientID pulumi.StringInput
	// Values merged over the published ones: maps key by key, all else by
	// replacement.
	Values map[string]any
}

// How service accounts and pods say which identity they have. Sources:
// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html and
// https://learn.microsoft.com/azure/aks/workload-identity-overview#service-account-labels-and-annotations
const (
	roleAnnotation   = "eks.amazonaws.com/role-arn"
	clientAnnotation = "azure.workload.identity/client-id"
	useLabel         = "azure.workload.identity/use"
)

// serviceValues are the Helm values of every service on a cloud, by the keys of the general
// ConfigMap that they have from.
func serviceValues(cloud string) map[string]string {
	values := map[string]string{"clusterName": "cluster_name", "region": "region", "accountId": "account_id"}
	if cloud == names.AzureCloud {
		values["tenantId"], values["vnetId"] = "tenant_id", "vnet_id"
	} else {
		values["vpcId"] = "vpc_id"
	}
	return values
}

// render is the service's values.yaml.
func (s Service) render(cloud string, f Facts) pulumi.StringOutput {
	inputs := pulumi.StringMap{roleAnnotation: or(s.RoleARN), clientAnnotation: or(s.ClientID)}
	keys := serviceValues(cloud)
	for value, key := range keys {
		inputs[value] = f[key]
	}
	return inputs.ToStringMapOutput().ApplyT(func(known map[string]string) (string, error) {
		values := map[string]any{}
		for value := range keys {
			values[value] = known[value]
		}
		if s.ServiceAccount != "" {
			account := map[string]any{"create": true, "name": s.ServiceAccount}
			if arn := known[roleAnnotation]; arn != "" {
				account["annotations"] = map[string]any{roleAnnotation: arn}
			}
			if id := known[clientAnnotation]; id != "" {
				account["annotations"] = map[string]any{clientAnnotation: id}
				values["podLabels"] = map[string]any{useLabel: "true"}
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

// or is the input, or "" for none.
func or(in pulumi.StringInput) pulumi.StringInput {
	if in == nil {
		return pulumi.String("")
	}
	return in
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

// validate finds keys of the cloud without a value, and values without a key.
func (f Facts) validate(cloud string) []error {
	var problems []error
	keys := names.InfraKeyNames(cloud)
	if len(keys) == 0 {
		return []error{fmt.Errorf("cloud %q has no keys", cloud)}
	}
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
