// Package plugins knows which plugins the Pulumi engine runs for the stacks, fetches
// their archives, and checks these against digests that were reviewed.
//
// The engine runs whatever is in its directory of plugins. So an archive is judged
// before the CLI unpacks it there.
package plugins

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"tombolo/internal/file"
)

// Plugin is a provider of the engine.
type Plugin struct {
	// Name, such as aws, and Version without its v.
	Name, Version string
	// For is the plugin that asks for this one; "" for those of the program.
	For string
}

func (p Plugin) String() string { return p.Name + " " + p.Version }

// Same says that both are one plugin, whoever asks for it.
func (p Plugin) Same(o Plugin) bool { return o.Name == p.Name && o.Version == p.Version }

// dir is the plugin's directory below the engine's.
func (p Plugin) dir() string { return "resource-" + p.Name + "-v" + p.Version }

// archive is the name under which the plugin is published for a platform.
func (p Plugin) archive(platform string) string {
	return fmt.Sprintf("pulumi-resource-%s-v%s-%s.tar.gz", p.Name, p.Version, platform)
}

// Platform of this process, as archives name it.
func Platform() string { return runtime.GOOS + "-" + runtime.GOARCH }

// sdk matches the SDK of a provider; the plugin has the module's version. The SDK of Azure has
// a module for each of its services, in versions of their own: the root module has the
// plugin's.
var sdk = regexp.MustCompile(`^github\.com/pulumi/pulumi-([a-z-]+?)(?:/sdk(?:/v\d+)?|-sdk/v\d+)$`)

// Pinned are the providers that the stacks' programs use, sorted: a program is built
// with their SDKs.
func Pinned(info *debug.BuildInfo) []Plugin {
	var out []Plugin
	if info == nil {
		return nil
	}
	for _, dep := range info.Deps {
		if m := sdk.FindStringSubmatch(dep.Path); m != nil {
			out = append(out, Plugin{Name: m[1], Version: strings.TrimPrefix(dep.Version, "v")})
		}
	}
	slices.SortFunc(out, func(a, b Plugin) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Needed are the pinned providers, and those that they ask the engine for in turn. used says
// whether something uses a provider; nil for all of them. home is the CLI's directory; "" when
// it is not known.
func Needed(info *debug.BuildInfo, home string, used func(name string) bool) ([]Plugin, error) {
	pinned := Pinned(info)
	if used != nil {
		pinned = slices.DeleteFunc(pinned, func(p Plugin) bool { return !used(p.Name) })
	}
	return WithAsked(pinned, home, "")
}

// WithAsked adds the plugins that others ask for, in turn, but for what providers ask for
// that run already: running is the value of PULUMI_DEBUG_PROVIDERS.
func WithAsked(list []Plugin, home, running string) ([]Plugin, error) {
	out := slices.Clone(list)
	for _, p := range list {
		if Attached(p, running) {
			continue
		}
		asked, err := Asked(p, home)
		if err != nil {
			return nil, err
		}
		for _, one := range asked {
			if !slices.ContainsFunc(out, one.Same) {
				out = append(out, one)
			}
		}
	}
	return out, nil
}

// asksFile is beside a plugin that was built, and not released: what it asks for.
const asksFile = "asks.json"

// Asked are the plugins that the engine has to have for this one: a component that
// makes resources of other providers names their versions. A plugin that was built
// says so itself; for released ones the project knows it.
func Asked(p Plugin, home string) ([]Plugin, error) {
	asks := released(p)
	if home != "" {
		data, err := os.ReadFile(filepath.Join(Dir(home), p.dir(), asksFile))
		if err == nil {
			asks = nil
			err = json.Unmarshal(data, &asks)
		} else if os.IsNotExist(err) {
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading what the plugin %s asks for: %w", p, err)
		}
	}
	var out []Plugin
	for name, version := range asks {
		out = append(out, Plugin{Name: name, Version: version, For: p.Name + " " + p.Version})
	}
	slices.SortFunc(out, func(a, b Plugin) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Dir is where the CLI with this home keeps plugins.
func Dir(home string) string { return filepath.Join(home, "plugins") }

// Installed says whether the plugin is there as a whole: the CLI marks what it is
// still unpacking, or did not end unpacking.
//
// Without a version any of the plugin's will do: a program of which Go has recorded no
// modules, such as a test, does not know its own.
func Installed(p Plugin, home string) bool {
	at := filepath.Join(Dir(home), p.dir())
	if p.Version == "" {
		found, err := file.Matching(at + "[0-9]*[0-9]")
		return err == nil && len(found) > 0
	}
	_, err := os.Stat(at)
	_, partial := os.Stat(at + ".partial")
	return err == nil && os.IsNotExist(partial)
}

// Attached says that a provider runs already, as the lab's does. The value is that
// of PULUMI_DEBUG_PROVIDERS: name:port,…
func Attached(p Plugin, value string) bool {
	return slices.ContainsFunc(strings.Split(value, ","), func(provider string) bool { return strings.HasPrefix(provider, p.Name+":") })
}

// Missing are those that are not in the CLI's home, but for providers that run
// already: running is the value of PULUMI_DEBUG_PROVIDERS.
func Missing(needed []Plugin, home, running string) []Plugin {
	return slices.DeleteFunc(slices.Clone(needed), func(p Plugin) bool {
		return Attached(p, running) || Installed(p, home)
	})
}

// Platforms are those that the lock has digests for.
func Platforms() []string {
	return []string{"darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64"}
}
