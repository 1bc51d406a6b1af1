// Command fluxinstall writes the install manifest of Flux for the controllers
// that a module pins. Flux's own release manifest names its parts by
// download address; here each part comes from the module it is built from, so
// that nothing is fetched and no third-party manifest is kept in this project.
//
// Usage, in the module's directory: fluxinstall FILE
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/fluxcd/flux2/v2/pkg/manifestgen/install"
	"github.com/fluxcd/flux2/v2/pkg/manifestgen/kustomization"
	"golang.org/x/mod/modfile"
)

const flux = "github.com/fluxcd/flux2/v2"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fluxinstall:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one argument, the file to write")
	}
	base, err := os.MkdirTemp("", "fluxinstall-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	fluxModule, err := module(flux)
	if err != nil {
		return err
	}
	components, err := controllers("go.mod")
	if err != nil {
		return err
	}
	for _, c := range components {
		if err := component(base, fluxModule.dir, c); err != nil {
			return fmt.Errorf("building %s: %w", c, err)
		}
	}
	for _, part := range []string{"rbac", "policies"} {
		src := filepath.Join(base, "src", part)
		if err := copyDir(filepath.Join(fluxModule.dir, "manifests", part), src); err != nil {
			return err
		}
		if err := build(src, filepath.Join(base, part+".yaml")); err != nil {
			return err
		}
	}
	options := install.MakeDefaultOptions()
	options.Version = fluxModule.version
	options.Components = components
	manifest, err := install.Generate(options, base)
	if err != nil {
		return fmt.Errorf("generating the manifest: %w", err)
	}
	return os.WriteFile(args[0], []byte(manifest.Content), 0o644)
}

// controllers are the names of the controllers of Flux that a go.mod requires.
func controllers(file string) ([]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse(file, content, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range mod.Require {
		if name, of := strings.CutPrefix(r.Mod.Path, "github.com/fluxcd/"); of && !r.Indirect && strings.HasSuffix(name, "-controller") {
			names = append(names, name)
		}
	}
	return names, nil
}

// address matches a part of a controller that Flux's manifests name by its
// download address: group 1 is the kind of part.
var address = regexp.MustCompile(`(?m)^- https://.*\.(crds|deployment)\.yaml$`)

// component builds <base>/<name>.yaml from Flux's overlay for the controller
// and the CRDs and Deployment in the controller's own module.
func component(base, fluxDir, name string) error {
	controller, err := module("github.com/fluxcd/" + name)
	if err != nil {
		return err
	}
	overlay := filepath.Join(base, "src", name)
	if err := copyDir(filepath.Join(fluxDir, "manifests", "bases", name), overlay); err != nil {
		return err
	}
	for part, dir := range map[string]string{"crds": "crd", "deployment": "manager"} {
		src := filepath.Join(base, "src", name+"-"+dir)
		if err := copyDir(filepath.Join(controller.dir, "config", dir), src); err != nil {
			return err
		}
		if err := build(src, filepath.Join(overlay, part+".yaml")); err != nil {
			return err
		}
	}
	file := filepath.Join(overlay, "kustomization.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n := len(address.FindAll(content, -1)); n != 2 {
		return fmt.Errorf("flux %s names %d parts by address, want 2: its layout has changed", fluxDir, n)
	}
	if err := os.WriteFile(file, address.ReplaceAll(content, []byte("- $1.yaml")), 0o644); err != nil {
		return err
	}
	return build(overlay, filepath.Join(base, name+".yaml"))
}

func build(dir, file string) error {
	content, err := kustomization.Build(dir)
	if err != nil {
		return fmt.Errorf("building %s: %w", dir, err)
	}
	return os.WriteFile(file, content, 0o644)
}

type pinned struct{ dir, version string }

// module downloads a module in its pinned version, if it is not in the module
// cache yet.
func module(path string) (pinned, error) {
	var stderr bytes.Buffer
	cmd := exec.Command("go", "mod", "download", "-json", path)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return pinned{}, fmt.Errorf("downloading module %s: %w: %s%s", path, err, out, stderr.String())
	}
	var m struct{ Dir, Version string }
	if err := json.Unmarshal(out, &m); err != nil {
		return pinned{}, fmt.Errorf("downloading module %s: %w", path, err)
	}
	return pinned{dir: m.Dir, version: m.Version}, nil
}

// copyDir copies the files of a directory of the module cache, which is
// read-only, to one that can be written.
func copyDir(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
}
