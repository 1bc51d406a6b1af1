package bootstrap

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"sigs.k8s.io/yaml"

	"tombolo/components/infraconfig"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/stacks/handoff"
)

// AddonsAnnotation of the general ConfigMap names the addons that are
// turned on, separated by commas.
const AddonsAnnotation = "tombolo/addons"

// addons adds what is published for the addons that are turned on: keys of the
// general ConfigMap, and a ConfigMap of Helm values each.
func addons(args *infraconfig.InfraConfigArgs, c *config.Cluster, h handoff.Handoff) {
	args.AddonKeys = map[string]pulumi.StringInput{}
	facts := c.AddonFacts()
	for _, a := range c.Addons.Enabled() {
		outputs := partOf(c).addonOutputs(a.Name, h)
		for _, key := range a.Keys() {
			args.AddonKeys[key.Name] = outputs.ApplyT(func(out any) string {
				return key.Value(facts, a.Options, out.(addon.Outputs))
			}).(pulumi.StringOutput)
		}
		if !a.HasValues() {
			continue
		}
		args.Addons = append(args.Addons, infraconfig.Addon{
			Name: a.Name, Namespace: a.Namespace,
			Values: addonValues(c, a, h).ApplyT(func(values any) (string, error) {
				text, err := yaml.Marshal(values)
				if err != nil {
					return "", fmt.Errorf("render values of addon %s: %w", a.Name, err)
				}
				return string(text), nil
			}).(pulumi.StringOutput),
		})
	}
}

// addonValues are the addon's Helm values: an output of map[string]any, which is
// empty for an addon that has none.
func addonValues(c *config.Cluster, a addon.Enabled, h handoff.Handoff) pulumi.Output {
	facts := c.AddonFacts()
	return partOf(c).addonOutputs(a.Name, h).ApplyT(func(out any) any {
		if !a.HasValues() {
			return map[string]any{}
		}
		return a.Values(facts, a.Options, out.(addon.Outputs))
	})
}
