package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// group is a module of tools/ and how its tools are built into a directory:
// commands into bin, files they read into share, and the Pulumi engine's
// providers into plugins, as the engine's own plugin directory is laid out: on
// PATH it would warn of each that it is not the released one.
type group struct {
	name   string
	module string   // directory of tools/, where it has not the group's name
	code   []string // files of this package without .go, where it is not one of the group's name
	needs  []string // commands, besides go and git
	build  func(ctx context.Context, src, out, final string, p *progress) error
}

// source is the directory of tools/ that the group is built from.
func (g group) source() string {
	if g.module != "" {
		return g.module
	}
	return g.name
}

// everyLab are the groups that a lab needs for any cluster.
func everyLab() []group { return []group{pulumiGroup(), kubernetesGroup(), pluginsGroup()} }

// sets are the groups by what they are for: the values of -for. What a lab needs for some
// clusters alone is asked for by their files (-cluster), or by the name of its set.
func sets() map[string][]group {
	return map[string][]group{
		"lab":     append(everyLab(), eksGroup()),
		"argocd":  {argocdGroup()},
		"secrets": {sealedSecretsGroup(), externalSecretsGroup()},
		"aws":     {wholePulumiGroup(), kubectlGroup()},
		"azure":   append(everyLab(), kubeloginGroup()),
		"lint":    {lintGroup()},
		"jobs":    {wholePulumiGroup(), kubectlGroup(), kubeloginGroup()},
		"image":   {kubectlGroup(), kubeloginGroup()},
		"test":    append(everyLab(), eksGroup(), argocdGroup(), kubeloginGroup(), sealedSecretsGroup(), externalSecretsGroup()),
	}
}

// everyGroup is each group once, in whatever set it is.
func everyGroup() []group {
	all := sets()
	var groups []group
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, g := range all[name] {
			if !slices.ContainsFunc(groups, func(other group) bool { return other.name == g.name }) {
				groups = append(groups, g)
			}
		}
	}
	return groups
}

// installed says that the group is of npm's packages: no compiler has a part in it.
func (g group) installed() bool { return slices.Contains(g.needs, "npm") }

// into builds the group into a directory that will be at final.
func (g group) into(ctx context.Context, root, dir, final string, p *progress) error {
	p.start()
	err := g.build(ctx, filepath.Join(root, "tools", g.source()), dir, final, p)
	p.finish(err)
	if err == nil && p.total > 0 {
		err = os.WriteFile(filepath.Join(dir, g.name+packagesSuffix), fmt.Appendln(nil, p.total), 0o644)
	}
	if err != nil {
		return fmt.Errorf("building the tools of tools/%s: %w", g.source(), err)
	}
	return nil
}

// builders are the files that build the group, by their path below tools/.
func (g group) builders() []string {
	code := g.code
	if code == nil {
		code = []string{g.name}
	}
	files := make([]string, len(code))
	for i, name := range code {
		files[i] = filepath.Join("build", name+".go")
	}
	return files
}

// place is the directory of the cache that the group belongs into, as it is now.
func (g group) place(root, cache string) (string, error) {
	key, err := g.key(root, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return "", fmt.Errorf("reading what %s is built from: %w", g.name, err)
	}
	return filepath.Join(cache, g.name+"-"+key), nil
}

// key identifies what a group is built from: the files of its module, the code
// that builds it (its own files in this package, and the one for all groups), the
// Go release and the platform.
func (g group) key(root, goos, goarch string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), goos, goarch)
	for _, from := range append([]string{g.source(), filepath.Join("build", "gobuild.go")}, g.builders()...) {
		err := filepath.WalkDir(filepath.Join(root, "tools", from), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				if err == nil && entry.Name() == "node_modules" {
					return fs.SkipDir
				}
				return err
			}
			content, err := os.ReadFile(path)
			fmt.Fprintf(sum, "%s %x\n", entry.Name(), sha256.Sum256(content))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:12], nil
}
