package preflight

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"slices"
	"strings"

	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/internal/wording"
)

// tools are the programs and plugins of all the clusters' clouds, and of every
// cluster.
func (d Doctor) tools(clusters []*config.Cluster) (programs []Program, plugins []Plugin) {
	for _, c := range clusters {
		cloud := d.Cloud(c)
		programs = append(programs, cloud.Programs()...)
		plugins = append(plugins, cloud.Plugins()...)
	}
	programs = append(programs, Program{"git", "install git: the repository is read and pushed to with it"})
	plugins = append(plugins, Plugin{"kubernetes", "github.com/pulumi/pulumi-kubernetes/sdk/v4"})
	return once(programs), once(plugins)
}

// once leaves out what was there before.
func once[T comparable](all []T) []T {
	var out []T
	for _, one := range all {
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

// checkTools looks for everything that an up starts.
func (d Doctor) checkTools(ctx context.Context, clusters []*config.Cluster) []Finding {
	const check = "tools"
	programs, plugins := d.tools(clusters)
	var found []Finding
	there := []string{"pulumi"}
	for _, p := range programs {
		there = append(there, p.Name)
		if !d.Has(p.Name) {
			found = append(found, Bad(check, Fail, p.Remedy, "%s is not in PATH", p.Name))
		}
	}
	if err := d.CLI(ctx); err != nil {
		return append(found, because(err, check, ""))
	}
	if len(found) == 0 {
		found = append(found, Good(check, "%s are there", wording.And(there)))
	}
	return append(found, d.checkPlugins(ctx, plugins))
}

// checkPlugins looks for the providers. The engine fetches one that is missing,
// where it may.
func (d Doctor) checkPlugins(ctx context.Context, plugins []Plugin) Finding {
	const check = "plugins"
	if d.CLI(ctx) != nil {
		return withoutCLI(check)
	}
	listing, err := d.Plugins(ctx)
	var installed []struct{ Name, Kind, Version string }
	if err == nil {
		err = json.Unmarshal([]byte(listing), &installed)
	}
	if err != nil {
		return Bad(check, Warn, "look at `pulumi plugin ls`", "they cannot be listed: %s", pulumicli.FirstLine(err.Error()))
	}
	var there, missing []string
	for _, p := range plugins {
		there = append(there, p.Name)
		version := moduleVersion(p.Module)
		found := slices.ContainsFunc(installed, func(i struct{ Name, Kind, Version string }) bool {
			return i.Name == p.Name && (version == "" || i.Version == version)
		})
		if !found && !d.attached(p.Name) {
			missing = append(missing, strings.TrimSpace(p.Name+" "+version))
		}
	}
	switch {
	case len(missing) == 0:
		return Good(check, "%s are there", wording.And(there))
	case d.Env("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION") == "true":
		return Bad(check, Fail, "build them with `make tools`, or install them with `pulumi plugin install`",
			"missing: %s", strings.Join(missing, ", "))
	}
	return Bad(check, Warn, "nothing, if this machine may download them: the first operation does",
		"missing: %s", strings.Join(missing, ", "))
}

// attached says that a provider runs already, as the lab's does.
func (d Doctor) attached(name string) bool {
	for provider := range strings.SplitSeq(d.Env("PULUMI_DEBUG_PROVIDERS"), ",") {
		if strings.HasPrefix(provider, name+":") {
			return true
		}
	}
	return false
}

// moduleVersion is the version of a module that this program was built with,
// without its v; empty when it does not say.
func moduleVersion(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return ""
}
