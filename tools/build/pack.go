package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"tombolo/internal/file"
	"tombolo/tools/archive"
	"tombolo/tools/reproducible"
)

// pack builds groups for a platform into archives for a release, and lists them in a file
// beside. Two runs of one commit with one release of Go write the same bytes: nothing is taken
// from the cache of built tools, where it may be built with other settings.
func pack(ctx context.Context, groups []group, root string, o order, out *os.File) error {
	platform, to := o.platform, o.packTo
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("packing for %q: give the operating system and the architecture, such as linux/amd64", platform)
	}
	for _, g := range groups {
		if native(g) && (goos != runtime.GOOS || goarch != runtime.GOARCH) {
			return fmt.Errorf("packing %s for %s: it runs what it builds; do it on such a machine", g.name, platform)
		}
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("making the directory of the archives: %w", err)
	}
	settings := reproducible.Settings(goos, goarch)
	// The commit is in the name of the release: what is built from the same sources is equal.
	// Debugging information would be thrown away by the linker.
	settings["GOFLAGS"] = "-buildvcs=false -trimpath -gcflags=all=-dwarf=false"
	for name, value := range settings {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	var list []released
	for i, g := range groups {
		p := newProgress(out, fmt.Sprintf("%s for %s (%d of %d)", g.name, platform, i+1, len(groups)))
		r, err := packed(ctx, g, root, goos, goarch, to, p)
		if err != nil {
			return err
		}
		list = append(list, r)
	}
	name := filepath.Join(to, "tools_"+goos+"_"+goarch)
	if err := errors.Join(writeReleased(name+".json", list), os.WriteFile(name+".sha256", sums(list), 0o644)); err != nil || o.release == "" {
		return err
	}
	return packJobs(list, to, o.release, platform)
}

// sums are the lines that `sha256sum --check` reads, for who has no checkout.
func sums(list []released) []byte {
	var lines []byte
	for _, r := range list {
		lines = fmt.Appendf(lines, "%s  %s\n", r.SHA256, r.Name)
	}
	return lines
}

// native says that building the group runs what it has built.
func native(g group) bool { return g.name == "kubernetes" }

// packed builds one group into an archive.
func packed(ctx context.Context, g group, root, goos, goarch, to string, p *progress) (released, error) {
	key, err := g.key(root, goos, goarch)
	if err != nil {
		return released{}, fmt.Errorf("reading what %s is built from: %w", g.name, err)
	}
	dir, err := os.MkdirTemp("", "tombolo-pack-")
	if err != nil {
		return released{}, err
	}
	defer os.RemoveAll(dir)
	if err := g.into(ctx, root, dir, dir, p); err != nil {
		return released{}, err
	}
	entries, err := archive.Directory(dir, "")
	if err != nil {
		return released{}, err
	}
	r := released{
		Group: g.name, Platform: goos + "/" + goarch, Key: key,
		Name: fmt.Sprintf("tools-%s_%s_%s_%s.tar.gz", g.name, key, goos, goarch),
	}
	file, err := os.Create(filepath.Join(to, r.Name))
	if err != nil {
		return released{}, err
	}
	sum := sha256.New()
	// The same sources are the same archive, whenever they are built.
	err = archive.Compressed(io.MultiWriter(file, sum), entries, time.Unix(0, 0))
	info, statErr := file.Stat()
	if err := errors.Join(err, statErr, file.Close()); err != nil {
		return released{}, fmt.Errorf("packing %s: %w", g.name, err)
	}
	r.SHA256, r.Size = hex.EncodeToString(sum.Sum(nil)), info.Size()
	return r, nil
}

// pin writes what a release has into tools/build/released.json: each list that pack has written
// into a directory, in place of what was there for its groups and platforms.
func pin(root, from, release string) error {
	if release == "" {
		return errors.New("pinning the tools of a release: give its tag by -release")
	}
	lists, err := filepath.Glob(filepath.Join(from, "tools_*.json"))
	if err == nil && len(lists) == 0 {
		err = errors.New("there is no tools_*.json")
	}
	if err != nil {
		return fmt.Errorf("reading what %s has: %w", from, err)
	}
	path := filepath.Join(root, releasedFile)
	var all []released
	for _, name := range append([]string{path}, lists...) {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading released tools: %w", err)
		}
		list, err := readReleased(text)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		for _, r := range list {
			if name != path {
				r.Release = release
			}
			all = slices.DeleteFunc(all, func(known released) bool { return compare(known, r) == 0 })
			all = append(all, r)
		}
	}
	return writeReleased(path, all)
}

func writeReleased(path string, list []released) error {
	slices.SortFunc(list, compare)
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetIndent("", "  ")
	if err := to.Encode(list); err != nil {
		return err
	}
	return file.Replace(path, text.Bytes(), 0o644)
}
