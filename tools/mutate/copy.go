package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// checkout is a copy of the checkout, in which mutations are made. What it compiles is shared with the
// checkout, as its flags have -trimpath.
type checkout struct {
	dir string
	// flags of go test.
	flags []string
}

// newCopy copies what Git knows of the working directory, as it is, and links the tools.
func newCopy(ctx context.Context, flags []string) (*checkout, error) {
	names, err := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("copying the checkout: git ls-files: %w", err)
	}
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return nil, err
	}
	c := &checkout{dir, flags}
	for name := range strings.SplitSeq(strings.Trim(string(names), "\x00"), "\x00") {
		if err := c.take(name); err != nil {
			c.remove()
			return nil, fmt.Errorf("copying the checkout: %w", err)
		}
	}
	if err := c.takeTools(); err != nil {
		c.remove()
		return nil, fmt.Errorf("copying the checkout: %w", err)
	}
	return c, nil
}

// takeTools links the built tools. What cluster files name, which has to be in their project, is copied.
func (c *checkout) takeTools() error {
	entries, err := os.ReadDir(".tools")
	if os.IsNotExist(err) {
		return nil
	}
	for _, e := range entries {
		from, to := filepath.Join(".tools", e.Name()), filepath.Join(c.dir, ".tools", e.Name())
		err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755))
		if e.Name() == "share" {
			err = errors.Join(err, os.CopyFS(to, os.DirFS(from)))
			continue
		}
		whole, problem := filepath.Abs(from)
		err = errors.Join(err, problem, os.Symlink(whole, to))
	}
	return err
}

func (c *checkout) take(name string) error {
	from, err := os.Lstat(name)
	if os.IsNotExist(err) {
		return nil // deleted, and not committed
	}
	if err != nil || !from.Mode().IsRegular() {
		return err
	}
	to := filepath.Join(c.dir, name)
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, text, from.Mode().Perm())
	}
	return err
}

func (c *checkout) remove() { _ = os.RemoveAll(c.dir) }

// holds says that every test is there and passes as long as nothing is mutated.
func (c *checkout) holds(ctx context.Context, all []mutation) error {
	type place struct {
		dir string
		lab bool
	}
	tests := map[place][]mutation{}
	for _, m := range all {
		at := place{m.Package, m.Lab}
		tests[at] = append(tests[at], m)
	}
	if slices.ContainsFunc(all, func(m mutation) bool { return m.Lab }) {
		if err := c.build(ctx); err != nil {
			return err
		}
	}
	for at, of := range tests {
		var names []string
		for _, m := range of {
			names = append(names, m.Test)
		}
		ended, err := c.test(ctx, at.dir, strings.Join(names, "|"), at.lab)
		if err != nil {
			return err
		}
		for _, m := range of {
			if how := ended[m.Test]; how != "pass" {
				return fmt.Errorf("%s in %s, which %s names for %s, has to pass before anything is mutated: it did not (%q)", m.Test, at.dir, list, m.Row, how)
			}
		}
	}
	return nil
}

// try says whether the test of a mutation fails by it.
func (c *checkout) try(ctx context.Context, m mutation) (caught bool, err error) {
	mutated, err := m.apply(c.dir)
	if err != nil {
		return false, err
	}
	file := filepath.Join(c.dir, m.File)
	was, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(file, []byte(mutated), 0o644); err != nil {
		return false, err
	}
	defer func() {
		if back := os.WriteFile(file, was, 0o644); err == nil {
			err = back
		}
	}()
	if m.Lab {
		if err := c.build(ctx); err != nil {
			return false, fmt.Errorf("mutation of %s (%s): %w", m.Row, m.What, err)
		}
	}
	ended, err := c.test(ctx, m.Package, m.Test, m.Lab)
	if err != nil {
		return false, fmt.Errorf("mutation of %s (%s): %w", m.Row, m.What, err)
	}
	return ended[m.Test] == "fail", nil
}

// build makes the programs that the lab's tests start.
func (c *checkout) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "run", "./tools/build", "-for", "program")
	cmd.Dir = c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	return nil
}

// test runs tests of a package, and says how each ended: pass, fail or skip.
func (c *checkout) test(ctx context.Context, dir, names string, lab bool) (map[string]string, error) {
	args := slices.Concat([]string{"test", "-json", "-vet=off", "-count=1", "-timeout", "20m", "-run", "^(" + names + ")$"}, c.flags)
	if lab {
		args = append(args, "-tags", "kustomize_disable_go_plugin_support,lab")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+dir)...)
	cmd.Dir = c.dir
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, failed := cmd.Output()
	ended, broken, err := outcomes(bytes.NewReader(out))
	if err == nil && broken != "" {
		err = fmt.Errorf("%s does not compile: %s", dir, broken)
	}
	if err == nil && failed != nil && len(ended) == 0 {
		err = fmt.Errorf("no test of %s in %s ran: %w %s", names, dir, failed, problems.String())
	}
	return ended, err
}

// outcomes reads what go test -json writes: how tests ended, and what keeps the package from being compiled.
func outcomes(r io.Reader) (ended map[string]string, broken string, err error) {
	ended = map[string]string{}
	said := ""
	for d := json.NewDecoder(r); ; {
		var e struct{ Action, Test, Output string }
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return ended, broken, nil
		} else if err != nil {
			return ended, broken, fmt.Errorf("reading what go test writes: %w", err)
		}
		switch e.Action {
		case "build-output":
			said += e.Output
		case "build-fail":
			broken = cmp.Or(said, "no reason is known")
		case "pass", "fail", "skip":
			if e.Test != "" {
				ended[e.Test] = e.Action
			}
		}
	}
}
