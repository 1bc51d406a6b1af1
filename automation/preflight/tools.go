package preflight

import (
	"context"
	"encoding/json"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/blang/semver"

	"tombolo/automation/plugins"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/internal/wording"
)

// tools are the programs and plugins of all the clusters' clouds, and of every
// cluster.
func (d Doctor) tools(clusters []*config.Cluster) (programs []Program, providers []Plugin) {
	for _, c := range clusters {
		cloud := d.Cloud(c)
		programs = append(programs, cloud.Programs()...)
		providers = append(providers, cloud.Plugins()...)
	}
	programs = append(programs, Program{Name: "git", Remedy: "install git: the repository is read and pushed to with it"})
	providers = append(providers, Plugin{"kubernetes", "github.com/pulumi/pulumi-kubernetes/sdk/v4"})
	return once(programs), once(providers)
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
	programs, providers := d.tools(clusters)
	var found []Finding
	there := []string{"pulumi"}
	for _, p := range programs {
		version, bad := d.checkProgram(ctx, p)
		there = append(there, strings.TrimSpace(p.Name+" "+version))
		found = append(found, bad...)
	}
	if err := d.CLI(ctx); err != nil {
		return append(found, because(err, check, ""))
	}
	if len(found) == 0 {
		found = append(found, Good(check, "%s are there", wording.And(there)))
	}
	return append(found, d.checkPlugins(providers))
}

// checkProgram looks for one program. The version is that of a program which has to
// have one.
func (d Doctor) checkProgram(ctx context.Context, p Program) (version string, bad []Finding) {
	const check = "tools"
	if !d.Has(p.Name) {
		return "", []Finding{Bad(check, Fail, p.Remedy, "%s is not in PATH", p.Name)}
	}
	if p.Oldest == "" {
		return "", nil
	}
	version, err := d.versionOf(ctx, p)
	if err != nil {
		return "", []Finding{Bad(check, Fail, p.Remedy, "%s does not say its version: %s", p.Name, pulumicli.FirstLine(err.Error()))}
	}
	if version == "" && p.Asks != "" {
		return "", nil
	}
	has, err := semver.ParseTolerant(version)
	if err != nil || has.LT(semver.MustParse(p.Oldest)) {
		return "", []Finding{Bad(check, Fail, p.Remedy, "%s is version %q, and %s or newer is needed", p.Name, version, p.Oldest)}
	}
	return version, nil
}

// versionIn finds a version in a text.
var versionIn = regexp.MustCompile(`\bv?(\d+\.\d+\.\d+)\b`)

// versionOf asks a program for its version; "" when it prints none.
func (d Doctor) versionOf(ctx context.Context, p Program) (string, error) {
	if p.Asks != "" {
		text, err := d.Run(ctx, p.Name, p.Asks)
		for line := range strings.Lines(text) { // kubelogin prints Go's version, too
			if m := versionIn.FindStringSubmatch(line); m != nil && !strings.HasPrefix(line, "Go version") {
				return m[1], err
			}
		}
		return "", err
	}
	text, err := d.Run(ctx, p.Name, "version", "--client=true", "--output=json")
	if err != nil {
		return "", err
	}
	var said struct {
		ClientVersion struct{ GitVersion string }
	}
	err = json.Unmarshal([]byte(text), &said)
	return strings.TrimPrefix(said.ClientVersion.GitVersion, "v"), err
}

const pluginsCheck = "plugins"

// checkPlugins looks for the providers, and for those that they ask for in turn. An
// operation fetches one that is missing, where it may.
func (d Doctor) checkPlugins(list []Plugin) Finding {
	running := d.Env("PULUMI_DEBUG_PROVIDERS")
	var needed []plugins.Plugin
	for _, p := range list {
		needed = append(needed, plugins.Plugin{Name: p.Name, Version: moduleVersion(p.Module)})
	}
	needed, err := plugins.WithAsked(needed, d.Home(), running)
	if err != nil {
		return Bad(pluginsCheck, Fail, "install the plugin anew", "%s", err)
	}
	return d.judgePlugins(needed, running)
}

func (d Doctor) judgePlugins(needed []plugins.Plugin, running string) Finding {
	const check = pluginsCheck
	if missing := plugins.Missing(needed, d.Home(), running); len(missing) > 0 {
		var names []string
		for _, p := range missing {
			names = append(names, nameOf(p))
		}
		if d.Env("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION") == "true" {
			return Bad(check, Fail, "run `tombolo plugins install`, or `make tools` for the lab's", "missing: %s", strings.Join(names, ", "))
		}
		return Bad(check, Warn, "run `tombolo plugins install`, or let the first operation do it, if this machine may download them or has a mirror",
			"missing: %s", strings.Join(names, ", "))
	}
	var there []string
	for _, p := range needed {
		state := plugins.State(p, d.Home(), plugins.Locked(), plugins.Platform())
		switch {
		case plugins.Attached(p, running):
			there = append(there, nameOf(p)+" (runs already)")
		case state == plugins.Differs:
			return Bad(check, Fail, "remove it from "+plugins.Dir(d.Home())+", and run `tombolo plugins install`",
				"%s was installed from an archive with %s", nameOf(p), state)
		default:
			there = append(there, nameOf(p)+" ("+string(state)+")")
		}
	}
	return Good(check, "%s", strings.Join(there, ", "))
}

// nameOf is a plugin with its version, and who asks for it.
func nameOf(p plugins.Plugin) string {
	name := strings.TrimSpace(p.String())
	if p.For != "" {
		name += " for " + p.For
	}
	return name
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
