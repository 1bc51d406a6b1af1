package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tombolo/internal/wording"
)

// run builds what is missing of one set of tools and links it into the
// checkout that is the working directory.
func run(ctx context.Context, args []string, out *os.File) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	purpose := flags.String("for", "lab", "the set of tools: argocd, aws, azure, lab, lint or released")
	if err := flags.Parse(args); err != nil {
		return err
	}
	groups, ok := sets()[*purpose]
	if !ok {
		return fmt.Errorf("choosing the tools: %q is no set of tools; use argocd, aws, azure, lab, lint or released", *purpose)
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, "tools", groups[0].source())); err != nil {
		return fmt.Errorf("finding the tools' modules: %w; run this in the checkout's root", err)
	}
	if err := prerequisites(groups); err != nil {
		return err
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	start, built := time.Now(), 0
	for i, g := range groups {
		p := newProgress(out, fmt.Sprintf("%s (%d of %d)", g.name, i+1, len(groups)))
		done, err := install(ctx, g, root, cache, p)
		if err != nil {
			return err
		}
		if done {
			built++
		}
	}
	fmt.Fprintln(out, ready(groups, built, time.Since(start)))
	return nil
}

// ready says what there is, and where.
func ready(groups []group, built int, took time.Duration) string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.name
	}
	return fmt.Sprintf("✔ tools ready in .tools: %s; %d built, %d from the cache, %s",
		wording.And(names), built, len(groups)-built, took.Round(time.Second))
}

// install makes sure that the group is in the cache, links it into the
// checkout, and says whether it had to be built. A build goes to a directory of
// its own and is renamed when complete: a broken one is never taken for whole.
func install(ctx context.Context, g group, root, cache string, p *progress) (bool, error) {
	key, err := g.key(root)
	if err != nil {
		return false, fmt.Errorf("reading what %s is built from: %w", g.name, err)
	}
	dir := filepath.Join(cache, g.name+"-"+key)
	if _, err := os.Stat(dir); err == nil {
		return false, link(root, dir)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return false, fmt.Errorf("making the tool cache: %w", err)
	}
	partial, err := os.MkdirTemp(cache, "partial-"+g.name+"-")
	if err != nil {
		return false, fmt.Errorf("making the tool cache: %w", err)
	}
	defer os.RemoveAll(partial)
	p.start()
	err = g.build(ctx, filepath.Join(root, "tools", g.source()), partial, dir, p)
	p.finish(err)
	if err != nil {
		return false, fmt.Errorf("building the tools of tools/%s: %w", g.source(), err)
	}
	if err := os.Rename(partial, dir); err != nil {
		if _, other := os.Stat(dir); other != nil { // else another run was first
			return false, fmt.Errorf("keeping the built tools: %w", err)
		}
	}
	return true, link(root, dir)
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
