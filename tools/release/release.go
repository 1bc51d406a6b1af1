package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"tombolo/internal/names"
	"tombolo/internal/wording"
	"tombolo/tools/archive"
	"tombolo/tools/reproducible"
)

// allPlatforms are those that a release has.
func allPlatforms() []string {
	return []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64"}
}

// tombolo is the name of the driver, of its package below cmd, and of what is released.
const tombolo = "tombolo"

// labSuffix ends the name of the lab's program, which the driver looks for beside itself.
const labSuffix = "-lab"

// release is what is made, and of what.
type release struct {
	// root is the checkout, and to the directory that gets the release.
	root, to string
	// platforms as Go names them: linux/amd64.
	platforms []string
	// base is the image that the operator's extends. nil for no image.
	base *name.Digest
	// settings are those of Go for a platform.
	settings func(goos, goarch string) map[string]string
	// tools puts the tools of the operator's image for a platform into a directory, below bin.
	tools func(ctx context.Context, platform, dir string) error
	out   io.Writer
}

// newRelease judges what was asked for before anything starts.
func newRelease(root, to string, platforms []string, base string) (*release, error) {
	r := &release{root: root, to: to, platforms: platforms, settings: reproducible.Settings, out: io.Discard}
	r.tools = r.packedTools
	for i, p := range platforms {
		if !slices.Contains(allPlatforms(), p) {
			return nil, fmt.Errorf("choosing the platforms: %q is none of a release; use %s", p, wording.And(allPlatforms()))
		}
		if slices.Contains(platforms[:i], p) {
			return nil, fmt.Errorf("choosing the platforms: %s is there twice", p)
		}
	}
	if base == "" {
		return r, nil
	}
	digest, err := name.NewDigest(base)
	if err != nil {
		return nil, fmt.Errorf("reading the base of the operator's image: %w; name it by its digest, such as docker.io/pulumi/pulumi@sha256:…: what a tag means changes", err)
	}
	r.base = &digest
	return r, nil
}

// make makes the release.
func (r *release) make(ctx context.Context) error {
	if err := r.unchanged(ctx); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(r.to), os.MkdirAll(r.to, 0o755)); err != nil {
		return fmt.Errorf("making the directory of the release: %w", err)
	}
	work, err := os.MkdirTemp("", "tombolo-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	programs, err := r.programs(ctx, work)
	if err != nil {
		return err
	}
	pages, err := r.pages(ctx, programs, work)
	if err != nil {
		return err
	}
	var rows []row
	for _, p := range programs {
		size, err := r.archive(p, pages)
		if err != nil {
			return fmt.Errorf("archiving %s for %s: %w", tombolo, p.platform, err)
		}
		rows = append(rows, row{p.archive() + archiveSuffix, size, p.size})
		if err := r.bill(p); err != nil {
			return fmt.Errorf("listing what %s for %s consists of: %w", tombolo, p.platform, err)
		}
	}
	if err := r.image(ctx, programs, work); err != nil {
		return fmt.Errorf("making the operator's image: %w", err)
	}
	return r.close(programs[0], rows)
}

// unchanged refuses a checkout that is not its commit. Files that Git ignores do no harm:
// nothing of them is released.
func (r *release) unchanged(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "git", "status", "--porcelain")
	cmd.Dir = r.root
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("asking Git for the commit of %s: %w", r.root, err)
	}
	if len(out) > 0 {
		return fmt.Errorf("releasing %s: it differs from its commit; commit or remove these files first\n%s", r.root, bytes.TrimRight(out, "\n"))
	}
	return nil
}

// archiveSuffix follows the name of an archive.
const archiveSuffix = ".tar.gz"

// programLink is the Pulumi program in a directory with tombolo: another name of it. The link is
// symbolic: cp follows it, layers of images have it, and archive.Extract takes no hard links.
func programLink(dir string) archive.Entry {
	return archive.Entry{Name: dir + "/" + names.Program, Mode: fs.ModeSymlink, Link: tombolo}
}

// texts are files of the checkout that each archive has.
func texts() []string { return []string{"LICENSE", "README.md"} }

// archive writes the archive of a platform and returns its size in bytes.
func (r *release) archive(p program, pages []archive.Entry) (int64, error) {
	top := p.archive()
	entries := []archive.Entry{
		{Name: top + "/" + tombolo, Mode: 0o755, File: p.file},
		{Name: top + "/" + tombolo + labSuffix, Mode: 0o755, File: p.lab.file},
		programLink(top),
	}
	for _, text := range texts() {
		entries = append(entries, archive.Entry{Name: top + "/" + text, File: filepath.Join(r.root, text)})
	}
	for _, page := range pages {
		page.Name = top + "/" + page.Name
		entries = append(entries, page)
	}
	file, err := os.Create(filepath.Join(r.to, top+archiveSuffix))
	if err != nil {
		return 0, err
	}
	err = archive.Compressed(file, entries, p.committed)
	info, statErr := file.Stat()
	if err := errors.Join(err, statErr, file.Close()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// row is a line of the table of sizes, in bytes.
type row struct {
	name             string
	archive, program int64
}

// close writes the notes with the sizes, and then the checksums of all files, and shows both.
func (r *release) close(p program, rows []row) error {
	var notes strings.Builder
	fmt.Fprintf(&notes, "Built from commit %s with %s.\n\n| archive | size | the program in it |\n|---|---:|---:|\n", p.commit, p.build.GoVersion)
	for _, row := range rows {
		fmt.Fprintf(&notes, "| `%s` | %s | %s |\n", row.name, megabytes(row.archive), megabytes(row.program))
	}
	if err := os.WriteFile(filepath.Join(r.to, "NOTES.md"), []byte(notes.String()), 0o644); err != nil {
		return fmt.Errorf("writing the notes: %w", err)
	}
	sums, err := checksums(r.to)
	if err != nil {
		return fmt.Errorf("writing the checksums: %w", err)
	}
	if err := os.WriteFile(filepath.Join(r.to, "SHA256SUMS"), sums, 0o644); err != nil {
		return fmt.Errorf("writing the checksums: %w", err)
	}
	fmt.Fprintf(r.out, "✔ %s %s is in %s\n%s", tombolo, p.version, r.to, notes.String())
	return nil
}

// megabytes of 10^6 bytes, which is how downloads are counted.
func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// checksums are the lines that `sha256sum --check` reads, for all files below a directory in
// the order of their names.
func checksums(dir string) ([]byte, error) {
	var lines bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		sum, err := digest(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		fmt.Fprintf(&lines, "%s  %s\n", sum, filepath.ToSlash(name))
		return err
	})
	return lines.Bytes(), err
}

// digest is the SHA-256 of a file in hexadecimal.
func digest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// host is the platform of this machine.
func host() string { return runtime.GOOS + "/" + runtime.GOARCH }

// at reads a time of a build's settings, in UTC.
func at(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	return t.UTC(), err
}
