package preflight

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"slices"
	"strings"
)

// plugins are the providers that the stacks use, by the module of their SDK,
// whose version is the plugin's.
var plugins = []struct{ name, module string }{
	{"aws", "github.com/pulumi/pulumi-aws/sdk/v6"},
	{"eks", "github.com/pulumi/pulumi-eks/sdk/v2"},
	{"kubernetes", "github.com/pulumi/pulumi-kubernetes/sdk/v4"},
}

// programs that the stacks start, besides the Pulumi CLI.
var programs = []struct{ name, remedy string }{
	{"aws", "install the AWS CLI, version 2: it gets the tokens for the Kubernetes API"},
	{"node", "install Node.js 20 or newer: the EKS component runs in it"},
	{"git", "install git: the repository is read and pushed to with it"},
}

// checkTools looks for everything that an up starts.
func (d Doctor) checkTools(ctx context.Context) []Finding {
	const check = "tools"
	var found []Finding
	for _, p := range programs {
		if !d.Has(p.name) {
			found = append(found, Bad(check, Fail, p.remedy, "%s is not in PATH", p.name))
		}
	}
	if err := d.CLI(ctx); err != nil {
		return append(found, because(err, check, ""))
	}
	if len(found) == 0 {
		found = append(found, Good(check, "pulumi, aws, node and git are there"))
	}
	return append(found, d.checkPlugins(ctx))
}

// checkPlugins looks for the providers. The engine fetches one that is missing,
// where it may.
func (d Doctor) checkPlugins(ctx context.Context) Finding {
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
		return Bad(check, Warn, "look at `pulumi plugin ls`", "they cannot be listed: %s", firstLine(err))
	}
	var missing []string
	for _, p := range plugins {
		version := moduleVersion(p.module)
		there := slices.ContainsFunc(installed, func(i struct{ Name, Kind, Version string }) bool {
			return i.Name == p.name && (version == "" || i.Version == version)
		})
		if !there && !d.attached(p.name) {
			missing = append(missing, strings.TrimSpace(p.name+" "+version))
		}
	}
	switch {
	case len(missing) == 0:
		return Good(check, "aws, eks and kubernetes are there")
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
