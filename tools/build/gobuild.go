package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// withoutPlugins is a tag of Kustomize, which is in most tools: without it a program can load
// plugins of Go, and then the linker keeps what nobody calls. That is twice the size, and
// twice the time to link.
const withoutPlugins = "-tags=kustomize_disable_go_plugin_support"

// goBuild builds packages of the module in src into a directory, without what debuggers read.
func goBuild(ctx context.Context, src, dir, ldflags string, p *progress, packages ...string) error {
	return p.compile(ctx, src, dir, []string{"-ldflags", "-s -w " + ldflags}, packages...)
}

// compile builds packages of the module in src into a directory. -v names each package as it
// is compiled, which is what progress counts.
func (p *progress) compile(ctx context.Context, src, dir string, flags []string, packages ...string) error {
	list := exec.CommandContext(ctx, "go", append([]string{"list", withoutPlugins, "-deps", "-f", "{{.ImportPath}}"}, packages...)...)
	list.Dir = src
	if deps, err := list.Output(); err == nil { // else go build says why
		p.expect(strings.Count(string(deps), "\n"))
	}
	// No flag is a compiler's here: those are in GOFLAGS, for the program as for its tools, so
	// that what they share is compiled once (ADR 11).
	args := slices.Concat([]string{"build", "-v", withoutPlugins, "-o", dir + string(filepath.Separator)}, flags, packages)
	return p.run(ctx, src, "go", args...)
}

// goBuildChanged builds as goBuild does, with a changed copy of a module that src requires.
func goBuildChanged(ctx context.Context, src string, upstream module, copyTo func(upstream module, dir string) error,
	dir, ldflags string, p *progress, packages ...string,
) error {
	room, err := os.MkdirTemp("", "tombolo-tools-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(room)
	if err := os.CopyFS(room, os.DirFS(src)); err != nil {
		return err
	}
	if err := copyTo(upstream, filepath.Join(room, "upstream")); err != nil {
		return err
	}
	if err := p.run(ctx, room, "go", "mod", "edit", "-replace="+upstream.Path+"=./upstream"); err != nil {
		return err
	}
	return goBuild(ctx, room, dir, ldflags, p, packages...)
}

// edit is a change of one file of a module.
type edit struct {
	file     string // below the module's directory
	old      *regexp.Regexp
	replaced string
	// times is how often the file has what is replaced. Another number says that its layout
	// has changed.
	times int
}

// copyEdited copies a module with the edits.
func copyEdited(edits []edit) func(upstream module, to string) error {
	return func(upstream module, to string) error {
		if err := os.CopyFS(to, os.DirFS(upstream.Dir)); err != nil {
			return err
		}
		for _, e := range edits {
			file := filepath.Join(to, filepath.FromSlash(e.file))
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if found := len(e.old.FindAll(content, -1)); found != e.times {
				return fmt.Errorf("%s of %s has %s %d times, not %d: its layout has changed", e.file, upstream.Version, e.old, found, e.times)
			}
			if err := os.WriteFile(file, e.old.ReplaceAll(content, []byte(e.replaced)), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
}

// module is a module that a group is built from, and the directory of the module cache with
// its files.
type module struct{ Path, Version, Dir string }

// pinned is the module of this path in the version to which the go.mod of src
// pins it. It is downloaded first: `go list -m` says nothing of the directory
// while the module cache does not have it.
func pinned(ctx context.Context, src, path string) (module, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", path)
	cmd.Dir = src
	out, err := cmd.Output()
	var m struct {
		module
		Error string
	}
	if decoded := json.Unmarshal(out, &m); m.Error != "" {
		err = errors.New(m.Error) // also printed when the command fails
	} else if err == nil {
		err = decoded
	}
	if err == nil && m.Dir == "" {
		err = errors.New("go mod download names no directory")
	}
	if err != nil {
		return module{}, fmt.Errorf("downloading the pinned %s: %w%s", path, err, stderrOf(err))
	}
	return m.module, nil
}

// stderrOf is what a command said before it failed.
func stderrOf(err error) string {
	var exit *exec.ExitError
	if !errors.As(err, &exit) || len(exit.Stderr) == 0 {
		return ""
	}
	return "\n  " + strings.TrimSpace(string(exit.Stderr))
}
