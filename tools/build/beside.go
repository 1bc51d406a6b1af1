package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
)

// made is what came of a group.
type made struct {
	from source
	err  error
}

// beside is the work that goes on while compilers work.
type beside struct {
	ended  sync.WaitGroup
	groups map[string]chan made
}

// prepare begins to install those of the groups that take no compiler, and to download the
// modules of the others and of the program, one after the other: those of the first are wanted
// at once.
func prepare(ctx context.Context, groups []group, root, cache string, from releases) *beside {
	b := &beside{groups: map[string]chan made{}}
	var modules []string
	for _, g := range groups {
		if !g.installed() {
			modules = append(modules, filepath.Join(root, "tools", g.source()))
			continue
		}
		result := make(chan made, 1)
		b.groups[g.name] = result
		b.ended.Go(func() {
			from, err := install(ctx, g, root, cache, from, &progress{name: g.name})
			result <- made{from, err}
		})
	}
	if len(modules) > 0 {
		b.ended.Go(func() { download(ctx, append(modules, root)) })
	}
	return b
}

// take is what came of a group that is made beside, or else what make gives.
func (b *beside) take(g group, out io.Writer, make func() (source, error)) (source, error) {
	result, ok := b.groups[g.name]
	if !ok {
		return make()
	}
	if len(result) == 0 {
		fmt.Fprintln(out, "► installing", g.name)
	}
	m := <-result
	return m.from, m.err
}

// download fills the module cache with what is imported: to list it downloads it. What fails
// is said by the build, which needs it.
func download(ctx context.Context, modules []string) {
	for _, dir := range modules {
		if ctx.Err() != nil {
			return
		}
		cmd := exec.CommandContext(ctx, "go", "list", withoutPlugins+",tools", "-e", "-deps", "./cmd/...", ".")
		cmd.Dir = dir
		_ = cmd.Run()
	}
}
