package pulumicli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// providerModule matches the SDK of a provider; the plugin has the module's
// version.
var providerModule = regexp.MustCompile(`^github\.com/pulumi/pulumi-([a-z-]+)/sdk(?:/v\d+)?$`)

// requiredPlugins are the providers that the stacks' programs use, by name, with
// their versions.
func requiredPlugins(info *debug.BuildInfo) map[string]string {
	out := map[string]string{}
	if info == nil {
		return out
	}
	for _, dep := range info.Deps {
		if m := providerModule.FindStringSubmatch(dep.Path); m != nil {
			out[m[1]] = dep.Version
		}
	}
	return out
}

// installPlugins installs what is missing of the providers, once: the
// CLI would do so within each operation, and installations in parallel get in each
// other's way. A failure is reported by the operation, which may find the
// provider in another place. The caller holds p.selecting.
func (p *CLI) installPlugins(ctx context.Context) {
	if p.pluginsDone || p.Command != nil || p.Getenv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION") == "true" {
		return
	}
	command, err := p.Program(ctx)
	if err != nil {
		return
	}
	info, _ := debug.ReadBuildInfo()
	required := requiredPlugins(info)
	for _, name := range missingPlugins(required, p.pluginDir(), p.Getenv("PULUMI_DEBUG_PROVIDERS")) {
		version := required[name]
		p.Note("", fmt.Sprintf("installing the provider %s %s", name, version))
		_, _, _, err := command.Run(ctx, p.WorkDir, nil, nil, nil, Environ(p.Env), "plugin", "install", "resource", name, version)
		if err != nil && ctx.Err() != nil {
			return
		}
	}
	p.pluginsDone = true
}

// pluginDir is where the CLI keeps plugins; "" when it is not known.
func (p *CLI) pluginDir() string {
	home, err := Home(p.Home)
	if err != nil {
		return ""
	}
	return filepath.Join(home, "plugins")
}

// missingPlugins are those that are not in the directory, sorted, but for
// providers that run already: attached is "name:port,…".
func missingPlugins(required map[string]string, dir, attached string) []string {
	if dir == "" {
		return nil
	}
	var running []string
	for provider := range strings.SplitSeq(attached, ",") {
		name, _, _ := strings.Cut(provider, ":")
		running = append(running, name)
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(required)), func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, "resource-"+name+"-"+required[name]))
		return err == nil || slices.Contains(running, name)
	})
}
