// Package infraconfig publishes values of the infrastructure to the GitOps
// tree: one general ConfigMap for variables in manifests, and one ConfigMap of
// Helm values for each service.
package infraconfig

import (
	"errors"
	"fmt"
	"maps"
	"regexp"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

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
	// General is the general ConfigMap.
	General *object.Object
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
			c.General, c.Data = made, made.Data
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
	if a == nil || a.Namespace == "" {
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
