package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"tombolo/tools/archive"
)

// binaries is the directory of the image that has what is added to the base: it is in PATH, and
// `tombolo export operator` looks for the program in it.
const binaries = "usr/local/bin"

// imageDirectory is the directory of a release that has the image.
const imageDirectory = "image"

// image writes the image that the Pulumi Kubernetes Operator's pods run, for Linux, as an OCI
// layout (https://github.com/opencontainers/image-spec/blob/main/image-layout.md) that any
// registry takes. There is none without a base.
func (r *release) image(ctx context.Context, programs []program, work string) error {
	linux := slices.DeleteFunc(slices.Clone(programs), func(p program) bool { return !strings.HasPrefix(p.platform, "linux/") })
	if r.base == nil || len(linux) == 0 {
		fmt.Fprintln(r.out, "◎ no image for the operator: it needs -base (IMAGE_BASE of make), and a platform with Linux")
		return nil
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range linux {
		one, err := r.imageFor(ctx, p, work)
		if err != nil {
			return fmt.Errorf("for %s: %w", p.platform, err)
		}
		platform, err := v1.ParsePlatform(p.platform)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: one, Descriptor: v1.Descriptor{Platform: platform}})
	}
	to, err := layout.Write(filepath.Join(r.to, imageDirectory), empty.Index)
	if err != nil {
		return err
	}
	// One entry, so that what copies a layout need not be told which image it means.
	return to.AppendIndex(index)
}

// imageFor is the base for a platform with a layer of tools and one of programs: the tools
// change less often.
func (r *release) imageFor(ctx context.Context, p program, work string) (v1.Image, error) {
	platform, err := v1.ParsePlatform(p.platform)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(r.out, "► fetching %s for %s\n", r.base, p.platform)
	base, err := remote.Image(*r.base, remote.WithContext(ctx), remote.WithPlatform(*platform), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return nil, fmt.Errorf("fetching the base %s: %w", r.base, err)
	}
	tools := filepath.Join(work, "tools", platform.Architecture)
	if err := os.MkdirAll(tools, 0o755); err != nil {
		return nil, err
	}
	if err := r.tools(ctx, p.platform, tools); err != nil {
		return nil, err
	}
	added, err := archive.Directory(filepath.Join(tools, "bin"), binaries)
	if err != nil {
		return nil, err
	}
	return r.extended(base, p, added, []archive.Entry{
		{Name: binaries + "/" + tombolo, Mode: 0o755, File: p.file},
		programLink(binaries),
	})
}

// extended is the base with layers, and with labels that say what it is
// (https://github.com/opencontainers/image-spec/blob/main/annotations.md). It was made when the
// commit was.
func (r *release) extended(base v1.Image, p program, layers ...[]archive.Entry) (v1.Image, error) {
	made := v1.Time{Time: p.committed}
	var adds []mutate.Addendum
	for _, entries := range layers {
		layer, err := layerOf(base, entries, p)
		if err != nil {
			return nil, err
		}
		adds = append(adds, mutate.Addendum{Layer: layer, History: v1.History{Created: made, CreatedBy: tombolo + " " + p.version}})
	}
	image, err := mutate.Append(base, adds...)
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config := file.Config.DeepCopy()
	if config.Labels == nil {
		config.Labels = map[string]string{}
	}
	config.Labels["org.opencontainers.image.version"] = p.version
	config.Labels["org.opencontainers.image.revision"] = p.commit
	config.Labels["org.opencontainers.image.base.name"] = r.base.Context().Name()
	config.Labels["org.opencontainers.image.base.digest"] = r.base.DigestStr()
	if image, err = mutate.Config(image, *config); err != nil {
		return nil, err
	}
	return mutate.CreatedAt(image, made)
}

// layerOf is a layer with the entries, of the kind that the base has. It is written anew each
// time that it is read: programs are larger than what one wants in memory.
func layerOf(base v1.Image, entries []archive.Entry, p program) (v1.Layer, error) {
	if len(entries) == 0 {
		return nil, errors.New("there is nothing for a layer")
	}
	manifest, err := base.MediaType()
	if err != nil {
		return nil, err
	}
	kind := types.OCILayer
	if manifest == types.DockerManifestSchema2 {
		kind = types.DockerLayer
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		from, to := io.Pipe()
		go func() { _ = to.CloseWithError(archive.Tar(to, entries, p.committed)) }() // never fails, by its documentation
		return from, nil
	}, tarball.WithMediaType(kind))
}

// packedTools builds the tools of the image as a release of tools has them.
func (r *release) packedTools(ctx context.Context, platform, dir string) error {
	packed := filepath.Join(dir, "packed")
	cmd := exec.CommandContext(ctx, "go", "run", "./tools/build", "-for", "image", "-pack", packed, "-platform", platform)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.root, r.out, r.out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building the tools of the image: %w", err)
	}
	archives, err := filepath.Glob(filepath.Join(packed, "*"+archiveSuffix))
	if err != nil {
		return err
	}
	for _, name := range archives {
		if err := extract(name, dir); err != nil {
			return err
		}
	}
	return nil
}

func extract(name, dir string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return archive.Extract(file, dir)
}
