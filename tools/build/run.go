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

// run does what the flags say in the checkout that is the working directory.
func run(ctx context.Context, args []string, out *os.File) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	purpose := flags.String("for", "lab", "the set of tools: "+strings.Join(purposes(), ", ")+"; compiled for all that -pack can pack; program for bin/tombolo")
	packTo := flags.String("pack", "", "build the set into archives of a release, in this directory")
	platform := flags.String("platform", runtime.GOOS+"/"+runtime.GOARCH, "the platform to pack for")
	pinFrom := flags.String("pin", "", "write the archives in this directory, and their checksums, into tools/build/released.json")
	release := flags.String("release", "", "the tag of the release that has the archives to pin")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *purpose == "program" {
		return buildProgram(ctx, out)
	}
	groups, ok := sets()[*purpose]
	if *purpose == "compiled" {
		groups, ok = compiled(), true
	}
	if !ok {
		return fmt.Errorf("choosing the tools: %q is no set of tools; use %s", *purpose, wording.Or(purposes()))
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if *pinFrom != "" {
		return pin(root, *pinFrom, *release)
	}
	if _, err := os.Stat(filepath.Join(root, "tools", groups[0].source())); err != nil {
		return fmt.Errorf("finding the tools' modules: %w; run this in the checkout's root", err)
	}
	if err := prerequisites(groups); err != nil {
		return err
	}
	if *packTo != "" {
		return pack(ctx, groups, root, *platform, *packTo, out)
	}
	return installAll(ctx, settled(groups, root), root, out)
}

// purposes are the values of -for.
func purposes() []string { return slices.Sorted(maps.Keys(sets())) }

// installAll makes what is missing of the groups, and links them into the checkout.
func installAll(ctx context.Context, groups []group, root string, out *os.File) error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	from, err := newReleases(ctx, root, os.Getenv(releasesVariable))
	if err != nil {
		return err
	}
	start, counts := time.Now(), map[source]int{}
	for i, g := range groups {
		p := newProgress(out, fmt.Sprintf("%s (%d of %d)", g.name, i+1, len(groups)))
		o, err := install(ctx, g, root, cache, from, p)
		if err != nil {
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
	key, err := g.key(root, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return cached, fmt.Errorf("reading what %s is built from: %w", g.name, err)
	}
	dir := filepath.Join(cache, g.name+"-"+key)
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
	switch done, err := from.fetch(ctx, g, key, partial, p.out); {
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
			if err := os.Symlink(filepath.Join(dir, room, e.Name()), name); err != nil {
				return err
			}
		}
	}
	return nil
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
