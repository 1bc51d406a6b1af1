// Package version is the command tombolo version.
package version

import (
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
)

// pinned are the modules whose versions decide what a deployment does.
func pinned() map[string]string {
	return map[string]string{
		"github.com/pulumi/pulumi/sdk/v3":              "pulumi",
		"github.com/pulumi/pulumi-aws/sdk/v6":          "pulumi-aws",
		"github.com/pulumi/pulumi-azure-native-sdk/v2": "pulumi-azure-native",
		"github.com/pulumi/pulumi-eks/sdk/v2":          "pulumi-eks",
		"github.com/pulumi/pulumi-kubernetes/sdk/v4":   "pulumi-kubernetes",
	}
}

// Options of the command.
type Options struct {
	factory.Base
	Build func() (*debug.BuildInfo, bool)
}

// NewCmdVersion returns the command.
func NewCmdVersion(f *factory.Factory) *cobra.Command {
	opts := &Options{Base: f.Base(), Build: debug.ReadBuildInfo}
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of tombolo and of what it is built with",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return versionRun(opts) },
	}
}

// document is the result in the JSON format.
type document struct {
	Type    string            `json:"type"`
	Tombolo string            `json:"tombolo"`
	Go      string            `json:"go"`
	Modules map[string]string `json:"modules"`
}

func versionRun(o *Options) error {
	d := read(o.Build)
	if o.JSON() {
		return render.WriteJSON(o.Out, d)
	}
	rows := [][]string{{"tombolo", d.Tombolo}, {"go", d.Go}}
	for _, name := range slices.Sorted(maps.Keys(d.Modules)) {
		rows = append(rows, []string{name, d.Modules[name]})
	}
	return render.Table(o.Out, o.Table(), []string{"COMPONENT", "VERSION"}, rows)
}

func read(build func() (*debug.BuildInfo, bool)) document {
	d := document{Type: "version", Tombolo: "unknown", Go: "unknown", Modules: map[string]string{}}
	info, ok := build()
	if !ok {
		return d
	}
	d.Go = strings.TrimPrefix(info.GoVersion, "go")
	d.Tombolo = own(info)
	for _, module := range info.Deps {
		if name, ok := pinned()[module.Path]; ok {
			d.Modules[name] = strings.TrimPrefix(module.Version, "v")
		}
	}
	return d
}

// Own is the version of this program; "" when the build does not say it.
func Own() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return own(info)
}

// own is tombolo's version: the module's, or else the commit it was built from.
func own(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return strings.TrimPrefix(v, "v")
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	if revision == "" {
		return "development"
	}
	return "development (" + revision[:min(12, len(revision))] + modified + ")"
}
