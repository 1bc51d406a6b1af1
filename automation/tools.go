package automation

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"slices"
	"strings"

	"tombolo/automation/fault"
	"tombolo/automation/preflight"
	"tombolo/automation/pulumicli"
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
func (d *Driver) checkTools(ctx context.Context) []preflight.Finding {
	const check = "tools"
	var found []preflight.Finding
	for _, p := range programs {
		if _, err := pulumicli.LookPath(p.name, d.opts.lookupEnv("PATH")); err != nil {
			found = append(found, preflight.Bad(check, preflight.Fail, p.remedy, "%s is not in PATH", p.name))
		}
	}
	_, err := d.pulumi.Program(ctx)
	switch precondition := new(fault.Precondition); {
	case errors.As(err, &precondition):
		return append(found, preflight.Bad(check, preflight.Fail, precondition.Remedy, "%s", precondition.What))
	case err != nil:
		return append(found, preflight.Bad(check, preflight.Fail, "", "%s", oneLine(err)))
	}
	if len(found) == 0 {
		found = append(found, preflight.Good(check, "pulumi, aws, node and git are there"))
	}
	return append(found, d.checkPlugins(ctx))
}

// checkPlugins looks for the providers. The engine fetches one that is missing,
// where it may.
func (d *Driver) checkPlugins(ctx context.Context) preflight.Finding {
	const check = "plugins"
	command, err := d.pulumi.Program(ctx)
	if err != nil {
		return withoutCLI(check)
	}
	stdout, stderr, _, err := command.Run(ctx, d.opts.Root, nil, nil, nil, pulumicli.Environ(d.env), "plugin", "ls", "--json")
	var installed []struct{ Name, Kind, Version string }
	if err == nil {
		err = json.Unmarshal([]byte(stdout), &installed)
	}
	if err != nil {
		return preflight.Bad(check, preflight.Warn, "look at `pulumi plugin ls`", "they cannot be listed: %s", pulumicli.FirstLine(stderr, err.Error()))
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
		return preflight.Good(check, "aws, eks and kubernetes are there")
	case d.opts.lookupEnv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION") == "true":
		return preflight.Bad(check, preflight.Fail, "build them with `make tools`, or install them with `pulumi plugin install`",
			"missing: %s", strings.Join(missing, ", "))
	}
	return preflight.Bad(check, preflight.Warn, "nothing, if this machine may download them: the first operation does",
		"missing: %s", strings.Join(missing, ", "))
}

// attached says that a provider runs already, as the lab's does.
func (d *Driver) attached(name string) bool {
	for provider := range strings.SplitSeq(d.opts.lookupEnv("PULUMI_DEBUG_PROVIDERS"), ",") {
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
