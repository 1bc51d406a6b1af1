// Package infraconfig publishes values of the infrastructure to the GitOps
// tree: one general ConfigMap for variables in manifests, and one ConfigMap of
// Helm values for each service.
package infraconfig

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"sigs.k8s.io/yaml"

	"tombolo/components/object"
	"tombolo/internal/names"
)

const infraConfigType = "tombolo:infraconfig:InfraConfig"

// Facts are what the infrastructure hands to the GitOps tree: a value for each of
// names.InfraKeys of the cluster's cloud, by the key's name.
type Facts map[string]pulumi.StringInput

// InfraConfigArgs are the arguments of an InfraConfig.
type InfraConfigArgs struct {
	// Cloud that the cluster is on, which has keys of its own: aws or azure.
	Cloud string
	// Namespace of the general ConfigMap.
	Namespace string
	// Facts about the infrastructure; all are required.
	Facts Facts
	// Extra keys of the general ConfigMap.
	Extra map[string]string
	// Labels and Annotations that describe the cluster, put on the general
	// ConfigMap.
	Labels, Annotations map[string]string
	// AddonKeys are further keys of the general ConfigMap, from what was made
	// for addons, and the type of the platform's channel.
	AddonKeys map[string]pulumi.StringInput
	// Services that get Helm values.
	Services []Service
	// Addons that get Helm values.
	Addons []Addon
}

// Addon is an addon that gets Helm values.
type Addon struct {
	// Name of the addon; the ConfigMap is named <Name>-values and carries it in
	// the label names.AddonLabel.
	Name string
	// Namespace of the ConfigMap.
	Namespace string
	// Values as YAML.
	Values pulumi.StringInput
}

// InfraConfig is the ConfigMaps. Their names are fixed and they are updated in
// place, provided that the Kubernetes provider has enableConfigMapMutable:
// consumers never find one missing.
type InfraConfig struct {
	pulumi.ResourceState

	// Data of the general ConfigMap.
	Data pulumi.StringMapOutput
	// Keys and values of the general ConfigMap before it is made: the keys are
	// known in every preview.
	Keys pulumi.StringMap
	// Resources are all that it is made of, to depend on (distribution.Engine says why).
	Resources []pulumi.Resource
}

// NewInfraConfig makes the ConfigMaps.
func NewInfraConfig(ctx *pulumi.Context, name string, args *InfraConfigArgs, opts ...pulumi.ResourceOption) (*InfraConfig, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("infra config %s: %w", name, err)
	}
	c := &InfraConfig{}
	if err := ctx.RegisterComponentResourceV2(infraConfigType, name, pulumi.Map{"namespace": pulumi.String(args.Namespace)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register infra config %s: %w", name, err)
	}
	c.Keys = args.data()
	for i, m := range args.configMaps(c.Keys) {
		made, err := object.New(ctx, name+"-"+m.resource, object.ConfigMap(m.metadata(), m.Data), pulumi.Parent(c))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.what, err)
		}
		c.Resources = append(c.Resources, made)
		if i == 0 {
			c.Data = made.Data
		}
	}
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"data": c.Data})
}

// ConfigMap is one of the ConfigMaps.
type ConfigMap struct {
	Namespace, Name string
	Data            pulumi.StringMap

	resource, what      string
	labels, annotations map[string]string
}

// ConfigMaps are all that NewInfraConfig makes, the general one first.
func (a *InfraConfigArgs) ConfigMaps() []ConfigMap { return a.configMaps(a.data()) }

func (a *InfraConfigArgs) configMaps(keys pulumi.StringMap) []ConfigMap {
	all := []ConfigMap{{
		Namespace: a.Namespace, Name: names.InfraConfig, Data: keys,
		resource: "general", what: "general ConfigMap", labels: a.Labels, annotations: a.Annotations,
	}}
	for _, s := range a.Services {
		all = append(all, ConfigMap{
			Namespace: s.Namespace, Name: names.Values(s.Name), Data: pulumi.StringMap{names.ValuesKey: s.render(a.Cloud, a.Facts)},
			resource: s.Name, what: "values of service " + s.Name,
		})
	}
	for _, addon := range a.Addons {
		all = append(all, ConfigMap{
			Namespace: addon.Namespace, Name: names.Values(addon.Name), Data: pulumi.StringMap{names.ValuesKey: addon.Values},
			resource: "addon-" + addon.Name, what: "values of addon " + addon.Name, labels: map[string]string{names.AddonLabel: addon.Name},
		})
	}
	return all
}

// metadata labels the object so that Flux's controllers look again at once
// when it changes.
func (m ConfigMap) metadata() object.Meta {
	all := pulumi.StringMap{"reconcile.fluxcd.io/watch": pulumi.String("Enabled")}
	for k, v := range m.labels {
		all[k] = pulumi.String(v)
	}
	meta := object.Meta{Name: m.Name, Namespace: m.Namespace, Labels: all}
	if len(m.annotations) > 0 {
		meta.Annotations = pulumi.ToStringMap(m.annotations)
	}
	return meta
}

func (a *InfraConfigArgs) data() pulumi.StringMap {
	data := pulumi.ToStringMap(a.Extra)
	if data == nil {
		data = pulumi.StringMap{}
	}
	for key, value := range a.Facts {
		data[key] = value
	}
	maps.Copy(data, a.AddonKeys)
	return data
}

// variable is what Flux accepts between ${ and }.
var variable = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

func (a *InfraConfigArgs) validate() error {
	if a.Namespace == "" {
		return errors.New("a namespace is required")
	}
	problems := a.Facts.validate(a.Cloud)
	published := map[string]bool{}
	for _, key := range names.InfraKeyNames(a.Cloud) {
		published[key] = true
	}
	for key := range a.AddonKeys {
		if published[key] {
			problems = append(problems, fmt.Errorf("key %s of an addon is published from the infrastructure", key))
		}
		published[key] = true
	}
	for key := range a.Extra {
		if published[key] {
			problems = append(problems, fmt.Errorf("key %s is published from the infrastructure; choose another name", key))
		}
		if !variable.MatchString(key) {
			problems = append(problems, fmt.Errorf("key %q cannot be a variable; use letters, digits and _", key))
		}
	}
	return errors.Join(append(problems, a.validatePlaces()...)...)
}

// validatePlaces finds values without a place, and two with the same.
func (a *InfraConfigArgs) validatePlaces() []error {
	var problems []error
	taken := map[string]bool{}
	check := func(what, name, namespace string) {
		if name == "" || namespace == "" {
			problems = append(problems, fmt.Errorf("%s needs a name and a namespace", what))
		}
		if taken[name] {
			problems = append(problems, fmt.Errorf("%s is given twice", what))
		}
		taken[name] = true
	}
	for _, s := range a.Services {
		check("a service", s.Name, s.Namespace)
	}
	for _, addon := range a.Addons {
		check("an addon", addon.Name, addon.Namespace)
	}
	return problems
}

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
