package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// group is a module of tools/ and how its tools are built into a directory:
// commands into bin, files they read into share, and the Pulumi engine's
// providers into plugins, as the engine's own plugin directory is laid out: on
// PATH it would warn of each that it is not the released one.
type group struct {
	name  string
	needs []string // commands, besides go and git
	build func(ctx context.Context, src, out, final string, p *progress) error
}

func sets() map[string][]group {
	return map[string][]group{
		"lab":  {pulumiGroup(), kubernetesGroup(), pluginsGroup(), eksGroup()},
		"lint": {lintGroup()},
	}
}

// key identifies what a group is built from: the files of its module, how they
// are built (this package), the Go release and the platform.
func (g group) key(root string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, dir := range []string{filepath.Join(root, "tools", g.name), filepath.Join(root, "tools", "build", "groups.go")} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
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

func pulumiGroup() group {
	return group{name: "pulumi", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		version, err := pin(ctx, src, "github.com/pulumi/pulumi/sdk/v3")
		if err != nil {
			return err
		}
		// Without it the Automation API cannot parse `pulumi version`.
		flags := "-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=" + version.Version
		return goBuild(ctx, src, filepath.Join(out, "bin"), flags, p,
			"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", "./cmd/pulumi-language-go")
	}}
}

func kubernetesGroup() group {
	return group{name: "kubernetes", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		version, err := pin(ctx, src, "k8s.io/kubernetes")
		if err != nil {
			return err
		}
		parts := strings.Split(strings.TrimPrefix(version.Version, "v"), ".")
		const pkg = "k8s.io/component-base/version."
		flags := fmt.Sprintf("-X %sgitVersion=%s -X %sgitMajor=%s -X %sgitMinor=%s",
			pkg, version.Version, pkg, parts[0], pkg, parts[1])
		if err := goBuild(ctx, src, filepath.Join(out, "bin"), flags, p, "./cmd/controlplane", "./cmd/fluxinstall",
			"github.com/fluxcd/source-controller", "github.com/fluxcd/kustomize-controller",
			"github.com/fluxcd/helm-controller"); err != nil {
			return err
		}
		for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
			if err := os.Symlink("controlplane", filepath.Join(out, "bin", name)); err != nil {
				return err
			}
		}
		if err := os.MkdirAll(filepath.Join(out, "share"), 0o755); err != nil {
			return err
		}
		return p.run(ctx, src, filepath.Join(out, "bin", "fluxinstall"), filepath.Join(out, "share", "flux-install.yaml"))
	}}
}

func pluginsGroup() group {
	const provider = "github.com/pulumi/pulumi-kubernetes/provider/v4"
	const version = "4.25.0" // the release tagged on the pinned commit
	return group{name: "plugins", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		if err := goBuild(ctx, src, filepath.Join(out, "bin"), "", p, "sigs.k8s.io/kwok/cmd/kwok"); err != nil {
			return err
		}
		dir := filepath.Join(out, "plugins", "resource-kubernetes-v"+version)
		if err := goBuild(ctx, src, dir, "-X main.version="+version, p, "./cmd/pulumi-resource-kubernetes"); err != nil {
			return err
		}
		module, err := pin(ctx, src, provider)
		if err != nil {
			return err
		}
		return providerSchema(filepath.Join(module.Dir, "cmd", "pulumi-resource-kubernetes"),
			dir, version)
	}}
}

// providerSchema puts the provider's schema, with the version that its release
// would have put in, and its Terraform mapping where the binary reads them.
func providerSchema(from, to, version string) error {
	content, err := os.ReadFile(filepath.Join(from, "schema.json"))
	if err != nil {
		return err
	}
	var schema map[string]json.RawMessage
	if err := json.Unmarshal(content, &schema); err != nil {
		return err
	}
	schema["version"] = json.RawMessage(`"` + version + `"`)
	if content, err = json.Marshal(schema); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, "schema.json"), content, 0o644); err != nil {
		return err
	}
	mapping, err := os.ReadFile(filepath.Join(from, "terraform-mapping.json"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "terraform-mapping.json"), mapping, 0o644)
}

func eksGroup() group {
	return group{name: "eks", needs: []string{"node", "npm"}, build: func(ctx context.Context, src, out, final string, p *progress) error {
		dir := filepath.Join(out, "eks")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
			content, err := os.ReadFile(filepath.Join(src, name))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				return err
			}
		}
		if err := p.run(ctx, dir, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress"); err != nil {
			return err
		}
		version, err := installedVersion(filepath.Join(dir, "node_modules", "@pulumi", "eks"))
		if err != nil {
			return err
		}
		plugin := filepath.Join(out, "plugins", "resource-eks-v"+version)
		if err := os.MkdirAll(plugin, 0o755); err != nil {
			return err
		}
		script := fmt.Sprintf("#!/bin/sh\nexec node '%s' \"$@\"\n",
			filepath.Join(final, "eks", "node_modules", "@pulumi", "eks", "cmd", "provider", "index.js"))
		return os.WriteFile(filepath.Join(plugin, "pulumi-resource-eks"), []byte(script), 0o755)
	}}
}

// installedVersion is the version of an installed npm package.
func installedVersion(dir string) (string, error) {
	content, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", err
	}
	var manifest struct{ Version string }
	err = json.Unmarshal(content, &manifest)
	return manifest.Version, err
}

func lintGroup() group {
	return group{name: "lint", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		return goBuild(ctx, src, filepath.Join(out, "bin"), "", p, "github.com/golangci/golangci-lint/v2/cmd/golangci-lint")
	}}
}

// goBuild builds packages of the module in src into a directory. -v names each
// package as it is compiled, which is what progress counts.
func goBuild(ctx context.Context, src, dir, ldflags string, p *progress, packages ...string) error {
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-f", "{{.ImportPath}}"}, packages...)...)
	list.Dir = src
	if deps, err := list.Output(); err == nil {
		p.total += strings.Count(string(deps), "\n")
	}
	// Debugging information would be thrown away by -w; not making it saves a
	// seventh of the compilers' time.
	args := []string{"build", "-v", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", "-s -w " + ldflags, "-o", dir + string(filepath.Separator)}
	return p.run(ctx, src, "go", append(args, packages...)...)
}

type module struct{ Dir, Version string }

// pin is what a module's go.mod pins another one to.
func pin(ctx context.Context, src, path string) (module, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-json", path)
	cmd.Dir = src
	out, err := cmd.Output()
	if err != nil {
		return module{}, fmt.Errorf("finding the pinned version of %s: %w", path, err)
	}
	var m module
	err = json.Unmarshal(out, &m)
	return m, err
}
