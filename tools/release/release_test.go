package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// driver answers as the driver does to what a release asks of it.
const driver = `package main

import "os"

func main() {
	switch os.Args[1] {
	case "completion":
		os.Stdout.WriteString("completes in " + os.Args[2])
	case "man":
		if os.Mkdir(os.Args[2], 0o755) != nil || os.WriteFile(os.Args[2]+"/tombolo.1", []byte("the manual"), 0o644) != nil {
			os.Exit(1)
		}
	}
}
`

// git runs Git in a directory as a person that no machine has configured.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.hooksPath=/dev/null", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2026-11-25T21:00:00+01:00", "GIT_COMMITTER_DATE=2026-11-25T21:00:00+01:00")
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
}

// small is a repository with a small program in place of the driver, at the tag v1.2.3.
func small(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "origin")
	for name, text := range map[string]string{
		"go.mod": "module tombolo\n\ngo 1.26.0\n", "LICENSE": "a license", "README.md": "read me",
		"cmd/tombolo/main.go": driver, "cmd/tombolo-lab/main.go": "package main\n\nfunc main() {}\n",
	} {
		files.Write(t, filepath.Join(dir, name), text)
	}
	git(t, dir, "init", "--quiet")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "-m", "one")
	git(t, dir, "tag", "v1.2.3")
	return dir
}

// clone is a new clone in a directory with this name: paths of two are not equally long.
func clone(t *testing.T, origin, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	git(t, "", "clone", "--quiet", "--no-local", origin, dir)
	return dir
}

// base puts an image into a registry on loopback, and returns its reference by digest.
func base(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	linux := func(architecture string) mutate.IndexAddendum {
		image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
			OS: "linux", Architecture: architecture, RootFS: v1.RootFS{Type: "layers"}, Config: v1.Config{User: "1000", Env: []string{"PATH=/usr/local/bin:/usr/bin"}},
		})
		assert.NilError(t, err)
		return mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}}}
	}
	index := mutate.AppendManifests(empty.Index, linux("amd64"), linux("arm64"))
	ref, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/acme/base:1")
	assert.NilError(t, err)
	assert.NilError(t, remote.WriteIndex(ref, index))
	digest, err := index.Digest()
	assert.NilError(t, err)
	return ref.Context().Digest(digest.String()).String()
}

// made makes a release of a checkout for one platform.
func made(t *testing.T, checkout, base string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "release")
	r, err := newRelease(checkout, to, []string{"linux/amd64"}, base)
	assert.NilError(t, err)
	r.tools = func(_ context.Context, platform, dir string) error {
		files.Write(t, filepath.Join(dir, "bin", "kubectl"), "kubectl for "+platform)
		return os.Chmod(filepath.Join(dir, "bin", "kubectl"), 0o755)
	}
	assert.NilError(t, r.make(t.Context()))
	return to
}

// TestTwoReleasesAreEqual: a release of a commit from another clone on a machine with other
// settings is the same in every byte; that of another commit is another one.
func TestTwoReleasesAreEqual(t *testing.T) {
	origin, image := small(t), base(t)
	one := made(t, clone(t, origin, "a"), image)
	t.Setenv("GOAMD64", "v3")
	t.Setenv("GOFLAGS", "-ldflags=-X=main.x=y")
	equal(t, one, made(t, clone(t, origin, "another-directory"), image))

	t.Run("contents", func(t *testing.T) { contents(t, one) })
	t.Run("image", func(t *testing.T) { isImage(t, one) })
	t.Run("push", func(t *testing.T) { isPushed(t, one, image) })

	git(t, origin, "commit", "--quiet", "--allow-empty", "-m", "two")
	git(t, origin, "tag", "v1.2.4")
	third, err := checksums(made(t, clone(t, origin, "a"), image))
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(third), "  tombolo_1.2.4_linux_amd64.tar.gz\n"))
	sums, err := checksums(one)
	assert.NilError(t, err)
	for line := range strings.Lines(string(sums)) {
		if sum, name, _ := strings.Cut(line, "  "); strings.HasPrefix(name, "tombolo_") || name == "image/index.json\n" {
			assert.Check(t, !strings.Contains(string(third), sum), "%s is the same for another commit", name)
		}
	}
}

// equal asserts that two directories have the same files, and that these are listed.
func equal(t *testing.T, one, two string) {
	t.Helper()
	first, err := checksums(one)
	assert.NilError(t, err)
	second, err := checksums(two)
	assert.NilError(t, err)
	assert.Equal(t, string(first), string(second))
	listed := files.Read(t, filepath.Join(one, "SHA256SUMS"))
	for line := range strings.Lines(string(first)) {
		if !strings.HasSuffix(line, "  SHA256SUMS\n") {
			assert.Check(t, is.Contains(listed, line))
		}
	}
}

// contents: the release has the files that its documentation names.
func contents(t *testing.T, dir string) {
	const top = "tombolo_1.2.3_linux_amd64"
	got := unpacked(t, filepath.Join(dir, top+".tar.gz"))
	for name, text := range map[string]string{
		"LICENSE": "a license", "README.md": "read me", "man/man1/tombolo.1": "the manual",
		"completions/bash/tombolo": "completes in bash", "completions/zsh/_tombolo": "completes in zsh",
		"completions/fish/tombolo.fish": "completes in fish",
	} {
		assert.Check(t, is.Equal(got[top+"/"+name], text), name)
	}
	assert.Check(t, len(got[top+"/tombolo"]) > 1e5)
	assert.Check(t, len(got[top+"/tombolo-lab"]) > 1e5)
	assert.Check(t, is.Equal(got[top+"/tombolo-program"], "-> tombolo"))
	assert.Check(t, is.Equal(len(got), 9))
	bill, err := os.ReadFile(filepath.Join(dir, top+".cdx.json"))
	assert.NilError(t, err)
	valid(t, bill)
	notes := files.Read(t, filepath.Join(dir, "NOTES.md"))
	assert.Check(t, is.Regexp("(?m)^\\| `tombolo_1\\.2\\.3_linux_amd64\\.tar\\.gz` \\| [0-9.]+ MB \\| [0-9.]+ MB \\|$", notes))
	sums := exec.Command("sha256sum", "--check", "--quiet", "SHA256SUMS")
	sums.Dir = dir
	if out, err := sums.CombinedOutput(); !errors.Is(err, exec.ErrNotFound) {
		assert.NilError(t, err, "%s", out)
	}
}

// unpacked are the texts of an archive's files.
func unpacked(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	assert.NilError(t, err)
	defer file.Close()
	zip, err := gzip.NewReader(file)
	assert.NilError(t, err)
	texts := map[string]string{}
	for from := tar.NewReader(zip); ; {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			return texts
		}
		assert.NilError(t, err)
		text, err := io.ReadAll(from)
		assert.NilError(t, err)
		texts[header.Name] = string(text)
		if header.Typeflag == tar.TypeSymlink {
			texts[header.Name] = "-> " + header.Linkname
		}
	}
}

// isImage: the layout is one image for Linux that has what the base has, the tools and the programs.
func isImage(t *testing.T, dir string) {
	index, err := layout.ImageIndexFromPath(filepath.Join(dir, "image"))
	assert.NilError(t, err)
	assert.NilError(t, validate.Index(index))
	outer, err := index.IndexManifest()
	assert.NilError(t, err)
	assert.Assert(t, is.Len(outer.Manifests, 1))
	inner, err := index.ImageIndex(outer.Manifests[0].Digest)
	assert.NilError(t, err)
	manifest, err := inner.IndexManifest()
	assert.NilError(t, err)
	assert.Assert(t, is.Len(manifest.Manifests, 1))
	assert.Equal(t, manifest.Manifests[0].Platform.String(), "linux/amd64")
	image, err := inner.Image(manifest.Manifests[0].Digest)
	assert.NilError(t, err)
	config, err := image.ConfigFile()
	assert.NilError(t, err)
	assert.Equal(t, config.Config.User, "1000")
	assert.DeepEqual(t, config.Config.Env, []string{"PATH=/usr/local/bin:/usr/bin"})
	assert.Equal(t, config.Config.Labels["org.opencontainers.image.version"], "1.2.3")
	assert.Equal(t, config.Created.UTC().Format("2006-01-02 15:04"), "2026-11-25 20:00")

	modes := map[string]int64{}
	from := tar.NewReader(mutate.Extract(image))
	for header, err := from.Next(); err == nil; header, err = from.Next() {
		modes[header.Name] = header.Mode
	}
	assert.DeepEqual(t, modes, map[string]int64{"usr/local/bin/kubectl": 0o755, "usr/local/bin/tombolo": 0o755, "usr/local/bin/tombolo-program": 0o777})
}

// isPushed: the image comes to a registry as it is, under a digest that the signed SHA256SUMS have.
func isPushed(t *testing.T, dir, base string) {
	host, _, _ := strings.Cut(base, "/")
	var out strings.Builder
	assert.NilError(t, push(t.Context(), dir, host+"/acme/tombolo:v1.2.3", &out))
	ref, err := name.ParseReference(host + "/acme/tombolo:v1.2.3")
	assert.NilError(t, err)
	index, err := remote.Index(ref)
	assert.NilError(t, err)
	assert.NilError(t, validate.Index(index))
	digest, err := index.Digest()
	assert.NilError(t, err)
	assert.Equal(t, out.String(), "✔ the operator's image is "+host+"/acme/tombolo@"+digest.String()+"\n")
	sums := files.Read(t, filepath.Join(dir, "SHA256SUMS"))
	assert.Check(t, is.Contains(sums, digest.Hex+"  image/blobs/sha256/"+digest.Hex+"\n"))

	assert.Check(t, is.ErrorContains(push(t.Context(), t.TempDir(), host+"/acme/tombolo:v1.2.3", &out), "make the release with -base first"))
	assert.Check(t, is.ErrorContains(push(t.Context(), dir, "tombolo", &out), "name it with its registry and tag"))
}

// TestRefused: what cannot be released is refused before anything is built.
func TestRefused(t *testing.T) {
	for want, r := range map[string]struct{ platform, base string }{
		`choosing the platforms: "linux/riscv64" is none of a release; use darwin/amd64, darwin/arm64, linux/amd64 and linux/arm64`: {platform: "linux/riscv64"},
		"name it by its digest": {platform: "linux/amd64", base: "docker.io/pulumi/pulumi:3.250.0"},
	} {
		_, err := newRelease(t.TempDir(), t.TempDir(), []string{r.platform}, r.base)
		assert.Check(t, is.ErrorContains(err, want))
	}
	_, err := newRelease("", "", []string{"linux/amd64", "linux/amd64"}, "")
	assert.Check(t, is.ErrorContains(err, "linux/amd64 is there twice"))
}

// TestChanged: a checkout that is not its commit is not released, and an older release stays.
func TestChanged(t *testing.T) {
	checkout, to := small(t), t.TempDir()
	files.Write(t, filepath.Join(checkout, "added.go"), "package added\n")
	files.Write(t, filepath.Join(to, "older"), "")
	r, err := newRelease(checkout, to, []string{"linux/amd64"}, "")
	assert.NilError(t, err)
	assert.Check(t, is.ErrorContains(r.make(t.Context()), "it differs from its commit; commit or remove these files first\n?? added.go"))
	_, err = os.Stat(filepath.Join(to, "older"))
	assert.NilError(t, err)
}

// TestNoGit: without its repository, a source does not say which commit it is.
func TestNoGit(t *testing.T) {
	checkout := small(t)
	assert.NilError(t, os.RemoveAll(filepath.Join(checkout, ".git")))
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(checkout))
	r, err := newRelease(checkout, t.TempDir(), []string{"linux/amd64"}, "")
	assert.NilError(t, err)
	assert.Check(t, is.ErrorContains(r.make(t.Context()), "asking Git for the commit"))
}
