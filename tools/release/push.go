package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/authn/github"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// push copies the image of a release to a registry. Its bytes, and with them its digest, stay
// as they were built and signed. Credentials are those of Docker's configuration, or for ghcr.io
// GITHUB_TOKEN: https://pkg.go.dev/github.com/google/go-containerregistry/pkg/authn/github.
func push(ctx context.Context, release, to string, out io.Writer) error {
	ref, err := name.NewTag(to, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("reading where the image goes: %w; name it with its registry and tag, such as ghcr.io/acme/tombolo:v1.2.3", err)
	}
	outer, err := layout.ImageIndexFromPath(filepath.Join(release, imageDirectory))
	if err != nil {
		return fmt.Errorf("reading the image of %s: %w; make the release with -base first", release, err)
	}
	manifest, err := outer.IndexManifest()
	if err == nil && len(manifest.Manifests) != 1 {
		err = errors.New("its layout has more than one image")
	}
	if err != nil {
		return fmt.Errorf("reading the image of %s: %w", release, err)
	}
	digest := manifest.Manifests[0].Digest
	image, err := outer.ImageIndex(digest)
	if err != nil {
		return fmt.Errorf("reading the image of %s: %w", release, err)
	}
	keys := authn.NewMultiKeychain(authn.DefaultKeychain, github.Keychain)
	if err := remote.WriteIndex(ref, image, remote.WithContext(ctx), remote.WithAuthFromKeychain(keys)); err != nil {
		return fmt.Errorf("copying the image to %s: %w", ref, err)
	}
	fmt.Fprintf(out, "✔ the operator's image is %s\n", ref.Context().Digest(digest.String()))
	return nil
}
