package bootstrap

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"sigs.k8s.io/yaml"

	"tombolo/components/distribution"
	"tombolo/components/infraconfig"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/stacks/handoff"
)

// addons adds what is published for the addons that are turned on: keys of the
// general ConfigMap, and a ConfigMap of Helm values each.
func addons(args *infraconfig.InfraConfigArgs, c *config.Cluster, h handoff.Handoff) {
	args.AddonKeys = map[string]pulumi.StringInput{}
	facts := c.AddonFacts()
	for _, a := range c.Addons.Enabled() {
		for _, key := range a.Keys() {
			args.AddonKeys[key.Name] = addonOutput(c, a, h, func(out addon.Outputs) any {
				return key.Value(facts, a.Options, out)
			}).ApplyT(func(v any) string { return v.(string) }).(pulumi.StringOutput)
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
	return addonOutput(c, a, h, func(out addon.Outputs) any {
		if !a.HasValues() {
			return map[string]any{}
		}
		return a.Values(facts, a.Options, out)
	})
}

// addonInput is one of the values that core tells about an addon.
type addonInput struct {
	value pulumi.Output
	// sample is some value of its type; nil when nothing can be tried with it.
	sample any
	set    func(o *addon.Outputs, v any)
}

// addonOutput is what f makes of what core tells about an addon: an output of any. It
// waits for what f uses and for nothing else, so that a preview that does not know one
// of core's outputs knows all that does not follow from it.
func addonOutput(c *config.Cluster, a addon.Enabled, h handoff.Handoff, f func(addon.Outputs) any) pulumi.Output {
	var used []addonInput
	var values []any
	for _, in := range usedBy(f, partOf(c).addonInputs(a.Name, h)) {
		used, values = append(used, in), append(values, in.value)
	}
	return pulumi.All(values...).ApplyT(func(v []any) any {
		out := addon.Outputs{Made: map[string]string{}}
		for i, in := range used {
			in.set(&out, v[i])
		}
		return f(out)
	})
}

// usedBy are the inputs without which f makes something else of samples.
func usedBy(f func(addon.Outputs) any, inputs []addonInput) []addonInput {
	without := func(left int) any {
		out := addon.Outputs{Made: map[string]string{}}
		for i, in := range inputs {
			if i != left && in.sample != nil {
				in.set(&out, in.sample)
			}
		}
		return f(out)
	}
	var used []addonInput
	all := without(len(inputs))
	for i, in := range inputs {
		if in.sample == nil || !reflect.DeepEqual(all, without(i)) {
			used = append(used, in)
		}
	}
	return used
}

// madeInputs are what was made for an addon: each on its own where the outputs' names
// are known, else all together.
func madeInputs(name string, h handoff.Handoff) []addonInput {
	entries, known := h.AddonEntries(name)
	if !known {
		return []addonInput{{value: h.AddonOutputs, set: func(o *addon.Outputs, v any) {
			all := v.(map[string]string)
			o.Made, o.Certificate = madeFor(name, all), madeFor("certificate", all)[addon.CertificateARN]
		}}}
	}
	var out []addonInput
	if certificates, _ := h.AddonEntries("certificate"); certificates[addon.CertificateARN] != nil {
		arn := certificates[addon.CertificateARN].ToStringOutput()
		out = append(out, addonInput{arn, "arn", func(o *addon.Outputs, v any) { o.Certificate = v.(string) }})
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		out = append(out, addonInput{entries[key].ToStringOutput(), key, func(o *addon.Outputs, v any) { o.Made[key] = v.(string) }})
	}
	return out
}

// madeFor are the entries of one addon, by the names of its outputs.
func madeFor(name string, all map[string]string) map[string]string {
	made := map[string]string{}
	for key, value := range all {
		if output, ok := strings.CutPrefix(key, name+"/"); ok {
			made[output] = value
		}
	}
	return made
}

// pullPasswordPath is where the cluster file refers to the password of the mirrors.
const pullPasswordPath = "egress.images.pullSecret.password"

// manifestOf is the engine's distribution as the cluster gets it: what was released, changed
// so that no team has it run a command, and that it goes by the file's egress. Files for Git are
// made of the same.
func manifestOf(ctx context.Context, product distribution.Product, c *config.Cluster) ([]byte, error) {
	manifest, err := product.Load(ctx, source(c))
	if err == nil {
		manifest, err = product.Environment.Set(manifest)
	}
	if err != nil {
		return nil, err
	}
	return engineEgress(c).Change(manifest)
}

func engineEgress(c *config.Cluster) distribution.Egress {
	e := c.Egress
	out := distribution.Egress{
		Proxy: e.Proxy.URL, CertificateAuthority: e.Certificates(), Mirrors: e.Images.Mirrors, PullSecret: e.Images.PullSecret != nil,
	}
	if out.Proxy != "" {
		out.NoProxy = c.NoProxy()
	}
	return out
}

// pullConfig has the credentials for the engine's images; nil for none.
func (p *program) pullConfig() (pulumi.StringInput, error) {
	images := p.c.Egress.Images
	if images.PullSecret == nil {
		return nil, nil
	}
	password, err := p.secrets().resolve(pullPasswordPath, images.PullSecret.Password)
	if err != nil {
		return nil, err
	}
	return password.ToStringOutput().ApplyT(func(password string) (string, error) {
		return dockerConfig(images, password)
	}).(pulumi.StringOutput), nil
}

// dockerConfig has the credentials for every mirror, by its host. Source of the form:
// https://kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry/
func dockerConfig(images config.ImageSources, password string) (string, error) {
	user := images.PullSecret.Username
	auths := map[string]any{}
	for _, host := range images.MirrorHosts() {
		auths[host] = map[string]string{
			"username": user, "password": password, "auth": base64.StdEncoding.EncodeToString([]byte(user + ":" + password)),
		}
	}
	text, err := json.Marshal(map[string]any{"auths": auths})
	return string(text), err
}
