package pulumicli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"

	"tombolo/automation/plugins"
)

// installPlugins installs what is missing of the providers, once, each checked by its
// digest: the CLI would fetch them unchecked within each operation, and
// installations in parallel get in each other's way. Only names them; none for all. The
// caller holds p.selecting.
func (p *CLI) installPlugins(ctx context.Context, only []string) error {
	key := strings.Join(only, ",")
	if p.pluginsDone[key] || p.Command != nil || p.Getenv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION") == "true" {
		return nil
	}
	_, err := p.InstallPlugins(ctx, PluginOptions{Mirror: p.Getenv(plugins.MirrorVariable), Only: only, inPath: true})
	if err == nil {
		p.pluginsDone[key] = true
	}
	return err
}

// PluginOptions are those of InstallPlugins.
type PluginOptions struct {
	// Mirror has the archives; see plugins.Fetcher.
	Mirror string
	// Strict refuses plugins whose digest is not known.
	Strict bool
	// Only these providers, and what they ask for in turn. Default: all that this program
	// has the SDKs of.
	Only []string
	// inPath has those that are in PATH left out: the engine takes them from there.
	inPath bool
}

// InstalledPlugin is a plugin that the stacks need.
type InstalledPlugin struct {
	plugins.Plugin
	// New says that it was not there before.
	New bool
	// Check is what is known of its archive.
	Check plugins.Check
	// Attached says that it runs already, and is not installed.
	Attached bool
}

// InstalledPlugins are all that the stacks need.
type InstalledPlugins struct {
	// Dir is where the engine looks for them.
	Dir string
	All []InstalledPlugin
}

// InstallPlugins installs the providers that are missing, one after the other, and
// returns all that are needed.
func (p *CLI) InstallPlugins(ctx context.Context, o PluginOptions) (InstalledPlugins, error) {
	home, err := Home(p.Home)
	if err != nil {
		return InstalledPlugins{}, fmt.Errorf("find the directory of the engine's plugins: %w", err)
	}
	info, _ := p.build()
	lock, platform, running := plugins.Locked(), plugins.Platform(), p.Getenv("PULUMI_DEBUG_PROVIDERS")
	used := func(name string) bool { return len(o.Only) == 0 || slices.Contains(o.Only, name) }
	needed, err := plugins.Needed(info, home, used)
	if err != nil {
		return InstalledPlugins{}, err
	}
	missing := plugins.Missing(needed, home, running)
	if o.inPath {
		missing = slices.DeleteFunc(missing, func(one plugins.Plugin) bool {
			_, err := LookPath("pulumi-resource-"+one.Name, p.Getenv("PATH"))
			return err == nil
		})
	}
	if len(missing) > 0 {
		command, err := p.Program(ctx)
		if err != nil {
			return InstalledPlugins{}, err
		}
		f := plugins.Fetcher{
			Home: home, Mirror: o.Mirror, Lock: lock, Strict: o.Strict, Platform: platform, Client: http.DefaultClient,
			Note: func(message string) { p.Note("", message) },
			Install: func(ctx context.Context, one plugins.Plugin, archive string) error {
				return p.unpack(ctx, command, one, archive)
			},
		}
		for _, one := range missing {
			p.Note("", "installing the plugin "+one.String())
			if err := f.Fetch(ctx, one); err != nil {
				return InstalledPlugins{}, err
			}
		}
	}
	out := InstalledPlugins{Dir: plugins.Dir(home)}
	for _, one := range needed {
		out.All = append(out.All, InstalledPlugin{
			Plugin: one, Check: plugins.State(one, home, lock, platform), Attached: plugins.Attached(one, running),
			New: slices.Contains(missing, one),
		})
	}
	return out, nil
}

// unpack has the CLI install an archive, of this version and no later one.
func (p *CLI) unpack(ctx context.Context, command auto.PulumiCommand, one plugins.Plugin, archive string) error {
	_, stderr, _, err := command.Run(ctx, p.WorkDir, nil, nil, nil, Environ(p.Env),
		"plugin", "install", "resource", one.Name, one.Version, "--exact", "--file", archive)
	if err != nil {
		return errors.New(FirstLine(stderr, err.Error()))
	}
	return nil
}
