package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// changed is a module of which a changed copy is compiled.
type changed struct {
	module string // its path
	copyTo func(upstream module, dir string) error
}

// goBuildChanged builds as goBuild does, with changed copies of modules that src requires.
func goBuildChanged(ctx context.Context, src string, changes []changed, dir, ldflags string, p *progress, packages ...string) error {
	room, err := os.MkdirTemp("", "tombolo-tools-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(room)
	if err := os.CopyFS(room, os.DirFS(src)); err != nil {
		return err
	}
	replace := []string{"mod", "edit"}
	for i, c := range changes {
		upstream, err := pinned(ctx, src, c.module)
		if err != nil {
			return err
		}
		copied := fmt.Sprintf("upstream-%d", i)
		if err := c.copyTo(upstream, filepath.Join(room, copied)); err != nil {
			return err
		}
		replace = append(replace, "-replace="+c.module+"=./"+copied)
	}
	if err := p.run(ctx, room, "go", replace...); err != nil {
		return err
	}
	return goBuild(ctx, room, dir, ldflags, p, packages...)
}

// cut is what is left out of a module.
type cut struct {
	module  string
	without *regexp.Regexp // files, by their path in the module; may be nil
	edits   []edit
}

// edit is a change of one file of a module.
type edit struct {
	file     string // path in the module
	old      *regexp.Regexp
	replaced string
	// times is how often the file has what is replaced. Another number says that its layout
	// has changed.
	times int
}

// lines leaves the lines of a file out that have what is matched.
func lines(file, matched string, times int) edit {
	return edit{file, regexp.MustCompile(`(?m)^(?:.*?(?:` + matched + `)).*\n`), "", times}
}

// block has other text in place of a part of a file.
func block(file, from, to, replaced string) edit {
	return edit{file, regexp.MustCompile(`(?s)` + from + `.*?` + to), replaced + "\n", 1}
}

// change is the copy that lacks what is cut.
func (c cut) change() changed {
	return changed{module: c.module, copyTo: func(upstream module, dir string) error {
		if err := os.CopyFS(dir, os.DirFS(upstream.Dir)); err != nil {
			return err
		}
		if err := c.leaveOut(upstream, dir); err != nil {
			return err
		}
		for _, e := range c.edits {
			if err := e.apply(upstream, dir); err != nil {
				return err
			}
		}
		return nil
	}}
}

// changes are the copies that lack what is cut.
func changes(cuts []cut) []changed {
	all := make([]changed, len(cuts))
	for i, c := range cuts {
		all[i] = c.change()
	}
	return all
}

// leaveOut removes files from a copy of the module.
func (c cut) leaveOut(upstream module, dir string) error {
	if c.without == nil {
		return nil
	}
	removed := 0
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !c.without.MatchString(name) {
			return err
		}
		removed++
		return os.Remove(filepath.Join(dir, filepath.FromSlash(name)))
	})
	if err == nil && removed == 0 {
		err = fmt.Errorf("%s %s has no file %s: its layout has changed", upstream.Path, upstream.Version, c.without)
	}
	return err
}

// apply changes the file in a copy of its module.
func (e edit) apply(upstream module, dir string) error {
	file := filepath.Join(dir, filepath.FromSlash(e.file))
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if found := len(e.old.FindAll(content, -1)); found != e.times {
		return fmt.Errorf("%s of %s %s has %s %d times, not %d: its layout has changed", e.file, upstream.Path, upstream.Version, e.old, found, e.times)
	}
	return os.WriteFile(file, e.old.ReplaceAll(content, []byte(e.replaced)), 0o644)
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
