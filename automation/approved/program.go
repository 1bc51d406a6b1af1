package approved

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// Program is by what a program is known again that was built twice, as in two jobs of
// a pipeline.
type Program struct {
	// Build is the version or the commit that it was built from. Of a build that knows
	// neither, or whose source was changed, it is the digest of the program itself.
	Build string `json:"build"`
	// Go is the version of Go, and Modules the digest of the versions and checksums of
	// all modules: those of the cloud's and Kubernetes' providers among them.
	Go      string `json:"go"`
	Modules string `json:"modules"`
	// Pulumi is the version of the Pulumi SDK, which the CLI is to have.
	Pulumi string `json:"pulumi"`
}

// ThisProgram is the one that runs.
func ThisProgram() (Program, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return programOf(info, ownDigest)
}

func programOf(info *debug.BuildInfo, own func() (string, error)) (Program, error) {
	p := Program{Go: info.GoVersion}
	var modules strings.Builder
	for _, m := range info.Deps {
		if m.Path == "github.com/pulumi/pulumi/sdk/v3" {
			p.Pulumi = m.Version
		}
		fmt.Fprintln(&modules, m.Path, m.Version, m.Sum)
		if m.Replace != nil {
			fmt.Fprintln(&modules, "=>", m.Replace.Path, m.Replace.Version, m.Replace.Sum)
		}
	}
	p.Modules = digestOf([]byte(modules.String()))
	revision, modified := setting(info, "vcs.revision"), setting(info, "vcs.modified") != "false"
	if revision != "" && !modified {
		p.Build = revision
		return p, nil
	}
	var err error
	p.Build, err = own()
	return p, err
}

func setting(info *debug.BuildInfo, key string) string {
	i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
	if i < 0 {
		return ""
	}
	return info.Settings[i].Value
}

// ownDigest is the digest of the program's own file.
func ownDigest() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's file: %w", err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read this program's file: %w", err)
	}
	return digestOf(text), nil
}
