package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"tombolo/internal/wording"
)

// order is what a command line asks for.
type order struct {
	purpose, cluster string
	program          bool
	// packTo and platform are for archives of a release; pinFrom and release for their list.
	packTo, platform, pinFrom, release string
}

// parse reads the flags.
func parse(args []string) (order, error) {
	var o order
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	flags.StringVar(&o.purpose, "for", "lab", "the set of tools: "+strings.Join(purposes(), ", ")+"; release for all; program for bin/tombolo alone")
	flags.StringVar(&o.cluster, "cluster", "", "the tools that a lab needs for this cluster, in place of a set")
	flags.BoolVar(&o.program, "program", false, "build bin/tombolo after the tools")
	flags.StringVar(&o.packTo, "pack", "", "build the set into archives of a release, in this directory")
	flags.StringVar(&o.platform, "platform", runtime.GOOS+"/"+runtime.GOARCH, "the platform to pack for")
	flags.StringVar(&o.pinFrom, "pin", "", "write the archives in this directory, and their checksums, into tools/build/released.json")
	flags.StringVar(&o.release, "release", "", "the tag of the release that has the archives to pin; with -pack, also pack what jobs run for it")
	err := flags.Parse(args)
	return o, err
}

// run does what the flags say in the checkout that is the working directory.
func run(ctx context.Context, args []string, out *os.File) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.purpose == "program" {
		return buildProgram(ctx, out)
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if o.pinFrom != "" {
		return pin(root, o.pinFrom, o.release)
	}
	groups, why, err := o.groups(root)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, "tools", groups[0].source())); err != nil {
		return fmt.Errorf("finding the tools' modules: %w; run this in the checkout's root", err)
	}
	if err := prerequisites(groups); err != nil {
		return err
	}
	if o.packTo != "" {
		return pack(ctx, groups, root, o, out)
	}
	if why != "" {
		fmt.Fprintln(out, why)
	}
	if err := installAll(ctx, settled(groups, root), root, o.program, out); err != nil || !o.program {
		return err
	}
	return buildProgram(ctx, out)
}

// groups are those that are asked for, and a line that says why.
func (o order) groups(root string) ([]group, string, error) {
	if o.cluster != "" {
		return forCluster(root, o.cluster)
	}
	if o.purpose == "release" {
		return everyGroup(), "", nil
	}
	groups, ok := sets()[o.purpose]
	if !ok {
		return nil, "", fmt.Errorf("choosing the tools: %q is no set of tools; use %s", o.purpose, wording.Or(purposes()))
	}
	return groups, "", nil
}

// purposes are the values of -for.
func purposes() []string { return slices.Sorted(maps.Keys(sets())) }

// installAll makes what is missing of the groups, and links them into the checkout. What takes
// no compiler is made beside the others, and so are downloads.
func installAll(ctx context.Context, groups []group, root string, program bool, out *os.File) error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	from, err := newReleases(ctx, root, os.Getenv(releasesVariable))
	if err != nil {
		return err
	}
	absent, err := missing(groups, root, cache)
	if err != nil {
		return err
	}
	fmt.Fprint(out, plan(unbuilt(absent, root, program), runtime.NumCPU()))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	beside := prepare(ctx, absent, root, cache, from)
	defer beside.ended.Wait()
	start, counts := time.Now(), map[source]int{}
	for i, g := range groups {
		o, err := beside.take(g, out, func() (source, error) {
			return install(ctx, g, root, cache, from, newProgress(out, fmt.Sprintf("%s (%d of %d)", g.name, i+1, len(groups))))
		})
		if err != nil {
			cancel()
			return err
		}
		counts[o]++
	}
	fmt.Fprintln(out, ready(groups, counts, time.Since(start)))
	return nil
}

// source is where a group came from.
type source int

const (
	cached source = iota
	fetched
	built
)

// ready says what there is, and where.
func ready(groups []group, counts map[source]int, took time.Duration) string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.name
	}
	released := ""
	if n := counts[fetched]; n > 0 {
		released = fmt.Sprintf("%d from a release, ", n)
	}
	return fmt.Sprintf("✔ tools ready in .tools: %s; %d built, %s%d from the cache, %s",
		wording.And(names), counts[built], released, counts[cached], took.Round(time.Second))
}

// install makes sure that the group is in the cache, links it into the checkout, and says
// where it came from. What is fetched or built goes to a directory of its own and is
// renamed when complete: a broken one is never taken for whole.
func install(ctx context.Context, g group, root, cache string, from releases, p *progress) (source, error) {
	dir, err := g.place(root, cache)
	if err != nil {
		return cached, err
	}
	if _, err := os.Stat(dir); err == nil {
		return cached, link(root, dir)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return cached, fmt.Errorf("making the tool cache: %w", err)
	}
	partial, err := os.MkdirTemp(cache, "partial-"+g.name+"-")
	if err != nil {
		return cached, fmt.Errorf("making the tool cache: %w", err)
	}
	defer os.RemoveAll(partial)
	o := fetched
	switch done, err := from.fetch(ctx, g, strings.TrimPrefix(filepath.Base(dir), g.name+"-"), partial, p.said()); {
	case err != nil:
		return cached, err
	case !done:
		o = built
		if err := g.into(ctx, root, partial, dir, p); err != nil {
			return cached, err
		}
	}
	if err := os.Rename(partial, dir); err != nil {
		if _, other := os.Stat(dir); other != nil { // else another run was first
			return cached, fmt.Errorf("keeping the tools: %w", err)
		}
	}
	return o, link(root, dir)
}

// link makes .tools of the checkout point to what is in the cache.
func link(root, dir string) error {
	rooms := []string{"bin", "share", "plugins", "."}
	for _, room := range rooms {
		entries, err := os.ReadDir(filepath.Join(dir, room))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		target := filepath.Join(root, ".tools", room)
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
		for _, e := range entries {
			if room == "." && slices.Contains(rooms, e.Name()) {
				continue
			}
			name := filepath.Join(target, e.Name())
			if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			if err := place(filepath.Join(dir, room, e.Name()), name, room == "share"); err != nil {
				return err
			}
		}
	}
	return nil
}

// place makes name a link to a file of the cache, or a copy: a cluster file can
// name what is in the project only, and a link leads out of it.
func place(cached, name string, copied bool) error {
	if !copied {
		return os.Symlink(cached, name)
	}
	content, err := os.ReadFile(cached)
	if err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o644)
}

func cacheDir() (string, error) {
	if dir := os.Getenv("TOMBOLO_TOOL_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a place for built tools: %w; set TOMBOLO_TOOL_CACHE to a directory", err)
	}
	return filepath.Join(dir, "tombolo", "tools"), nil
}

// prerequisites refuses to start a long build that cannot end.
func prerequisites(groups []group) error {
	need := []string{"go", "git"}
	for _, g := range groups {
		need = append(need, g.needs...)
	}
	var problems []error
	for _, name := range need {
		if _, err := exec.LookPath(name); err != nil {
			problems = append(problems, fmt.Errorf("%s is not on PATH; install it", name))
		}
		if name == "node" {
			problems = append(problems, nodeVersion())
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("checking what the tools are built with: %w", err)
	}
	return nil
}

const oldestNode = 20

func nodeVersion() error {
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		return nil // not there: said by the caller
	}
	text := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(text, "v"), ".")
	if n, err := strconv.Atoi(major); err == nil && n >= oldestNode {
		return nil
	}
	return fmt.Errorf("node is %s; install Node.js %d or newer", text, oldestNode)
}
