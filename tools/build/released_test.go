package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// checkout is one whose linter is a tiny program, and the working directory.
type checkout struct {
	root string
	// cache has the built tools.
	cache string
	// archive is the file of the linter's archive, after pack.
	archive string
}

func newCheckout(t *testing.T) checkout {
	t.Helper()
	c := checkout{root: t.TempDir()}
	src := worlds()["lint"].module(t)
	assert.NilError(t, os.CopyFS(filepath.Join(c.root, "tools", "lint"), os.DirFS(src)))
	for _, name := range []string{"lint.go", "gobuild.go"} {
		files.Write(t, filepath.Join(c.root, "tools", "build", name), "package main\n")
	}
	files.Write(t, filepath.Join(c.root, releasedFile), "[]\n")
	t.Chdir(c.root)
	// pack sets these, and a test leaves none behind.
	for _, name := range []string{"GOOS", "GOARCH", "CGO_ENABLED", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140"} {
		if value, ok := os.LookupEnv(name); ok {
			t.Setenv(name, value)
		} else {
			t.Setenv(name, "")
			assert.NilError(t, os.Unsetenv(name))
		}
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(c.root))
	t.Setenv(releasesVariable, "")
	c.empty(t)
	return c
}

// empty takes an empty cache of tools.
func (c *checkout) empty(t *testing.T) {
	t.Helper()
	c.cache = t.TempDir()
	t.Setenv("TOMBOLO_TOOL_CACHE", c.cache)
}

// run runs the command, and returns what it has said.
func (c checkout) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	assert.NilError(t, err)
	defer out.Close()
	failed := run(t.Context(), args, out)
	return files.Read(t, out.Name()), failed
}

// pack packs the linter and pins it as a release that a server on loopback has.
func (c *checkout) pack(t *testing.T) *httptest.Server {
	t.Helper()
	served := t.TempDir()
	release := filepath.Join(served, "v1.2.3")
	_, err := c.run(t, "-for", "lint", "-pack", release)
	assert.NilError(t, err)
	_, err = c.run(t, "-pin", release, "-release", "v1.2.3")
	assert.NilError(t, err)
	archives, err := filepath.Glob(filepath.Join(release, "tools-lint_*.tar.gz"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(archives, 1))
	c.archive = archives[0]
	server := httptest.NewServer(http.FileServer(http.Dir(served)))
	t.Cleanup(server.Close)
	t.Setenv(releasesVariable, server.URL)
	c.empty(t)
	return server
}

// packedCheckout is a checkout whose linter a release has.
func packedCheckout(t *testing.T) (checkout, *httptest.Server) {
	t.Helper()
	c := newCheckout(t)
	// The modules are there when they are packed, and can be removed at the end.
	said, err := c.run(t, "-for", "lint")
	assert.NilError(t, err)
	assert.Check(t, is.Contains(said, "✔ tools ready in .tools: lint; 1 built, 0 from the cache"))
	return c, c.pack(t)
}

func linter(t *testing.T) {
	t.Helper()
	info, err := os.Stat(filepath.Join(".tools", "bin", "golangci-lint"))
	assert.NilError(t, err)
	assert.Check(t, info.Mode()&0o100 != 0)
}

// TestReleasedToolsAreFetched: what a release has is fetched once, and not built.
func TestReleasedToolsAreFetched(t *testing.T) {
	c, server := packedCheckout(t)
	assert.NilError(t, os.RemoveAll(".tools"))
	said, err := c.run(t, "-for", "lint")
	assert.NilError(t, err)
	assert.Check(t, is.Contains(said, "► fetching lint from "+server.URL+"/v1.2.3/"+filepath.Base(c.archive)))
	assert.Check(t, is.Contains(said, "✔ tools ready in .tools: lint; 0 built, 1 from a release, 0 from the cache"))
	linter(t)

	server.Close()
	said, err = c.run(t, "-for", "lint")
	assert.NilError(t, err)
	assert.Check(t, is.Contains(said, "lint; 0 built, 1 from the cache"))
}

// TestAnotherArchiveIsRefused: an archive that is not the pinned one ends the run, and nothing of it
// is kept; neither is anything built in its place.
func TestAnotherArchiveIsRefused(t *testing.T) {
	c, server := packedCheckout(t)
	whole, err := os.ReadFile(c.archive)
	assert.NilError(t, err)
	other := append([]byte{}, whole...)
	other[len(other)/2] ^= 1
	for name, content := range map[string][]byte{
		"one bit": other, "more": append(append([]byte{}, whole...), 0), "less": whole[:len(whole)-1], "nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			assert.NilError(t, os.WriteFile(c.archive, content, 0o644))
			said, err := c.run(t, "-for", "lint")
			assert.Check(t, is.ErrorContains(err, "fetching lint from "+server.URL))
			assert.Check(t, is.ErrorContains(err, "the archive is not the one that is pinned: its SHA-256 is "))
			assert.Check(t, is.ErrorContains(err, "To build the tools instead, set TOMBOLO_RELEASES=none"))
			assert.Check(t, !strings.Contains(said, "building"), said)
			left, err := os.ReadDir(c.cache)
			assert.NilError(t, err)
			assert.Check(t, is.Len(left, 0), "%v", left)
		})
	}
	t.Setenv(releasesVariable, noReleases)
	said, err := c.run(t, "-for", "lint")
	assert.NilError(t, err)
	assert.Check(t, is.Contains(said, "lint; 1 built, 0 from the cache"))
}

// TestWithoutARelease: what no release has, for whatever reason, is built, and it is said why.
func TestWithoutARelease(t *testing.T) {
	for name, test := range map[string]struct {
		without func(t *testing.T, c checkout, server *httptest.Server)
		says    string
	}{
		"the file is not there": {
			func(t *testing.T, c checkout, _ *httptest.Server) { assert.NilError(t, os.Remove(c.archive)) },
			"◎ lint cannot be fetched: the server answers 404 Not Found: building it",
		},
		"no server": {func(_ *testing.T, _ checkout, server *httptest.Server) { server.Close() }, "connection refused: building it"},
		"other sources": {func(t *testing.T, c checkout, _ *httptest.Server) {
			files.Write(t, filepath.Join("tools", "lint", "newer.txt"), "newer")
		}, "◎ no release has lint "},
		"another platform": {func(t *testing.T, c checkout, _ *httptest.Server) {
			text := files.Read(t, releasedFile)
			files.Write(t, releasedFile, strings.Replace(text, runtime.GOOS+"/"+runtime.GOARCH, "plan9/amd64", 1))
		}, " for " + runtime.GOOS + "/" + runtime.GOARCH + ": building it"},
	} {
		t.Run(name, func(t *testing.T) {
			c, server := packedCheckout(t)
			test.without(t, c, server)
			said, err := c.run(t, "-for", "lint")
			assert.NilError(t, err)
			assert.Check(t, is.Contains(said, test.says))
			assert.Check(t, is.Contains(said, "lint; 1 built, 0 from the cache"))
			linter(t)
		})
	}
}

// TestPackedTwice: archives from two checkouts are equal.
func TestPackedTwice(t *testing.T) {
	var lists [2]string
	for i := range lists {
		packedCheckout(t)
		lists[i] = files.Read(t, releasedFile)
	}
	assert.Equal(t, lists[0], lists[1])
}

// TestPin: a newer release of a group for a platform takes the older one's place, and no other's.
func TestPin(t *testing.T) {
	c := newCheckout(t)
	entry := func(platform, release, key string) released {
		return released{Group: "lint", Platform: platform, Key: key, Release: release, Name: "n", SHA256: strings.Repeat("ab", 32), Size: 1}
	}
	write := func(path string, list ...released) {
		text, err := json.Marshal(list)
		assert.NilError(t, err)
		files.Write(t, path, string(text))
	}
	write(releasedFile, entry("darwin/arm64", "v1", "old"), entry("linux/amd64", "v1", "old"))
	write(filepath.Join("new", "tools_linux_amd64.json"), entry("linux/amd64", "", "new"))
	_, err := c.run(t, "-pin", "new", "-release", "v2")
	assert.NilError(t, err)
	text, err := os.ReadFile(releasedFile)
	assert.NilError(t, err)
	list, err := readReleased(text)
	assert.NilError(t, err)
	assert.DeepEqual(t, list, []released{entry("darwin/arm64", "v1", "old"), entry("linux/amd64", "v2", "new")})

	_, err = c.run(t, "-pin", "new")
	assert.Check(t, is.Error(err, "pinning the tools of a release: give its tag by -release"))
	_, err = c.run(t, "-pin", "tools", "-release", "v2")
	assert.Check(t, is.Error(err, "reading what tools has: there is no tools_*.json"))
}

// TestBadAddressesAndLists are refused before anything is built.
func TestBadAddressesAndLists(t *testing.T) {
	c := newCheckout(t)
	for _, address := range []string{"ftp://example.com", "https://", "releases"} {
		t.Setenv(releasesVariable, address)
		_, err := c.run(t, "-for", "lint")
		assert.Check(t, is.Error(err, "reading TOMBOLO_RELEASES: it is not the address of a web server; set it to none to build the tools, or to the address below which the releases are"), address)
	}
	for list, want := range map[string]string{
		`{}`:                                   "cannot unmarshal object",
		`[{"group": "lint", "sha256": "abc"}]`: `"abc" is no SHA-256`,
		fmt.Sprintf(`[{"group": "lint", "sha256": %q}]`, strings.Repeat("ab", 32)): "lacks its group, platform, key, name or size",
	} {
		files.Write(t, releasedFile, list)
		_, err := c.run(t, "-for", "lint")
		assert.Check(t, is.ErrorContains(err, "reading "+releasedFile), list)
		assert.Check(t, is.ErrorContains(err, want))
	}
}

// TestOrigin: a clone of a repository at GitHub takes that repository's releases.
func TestOrigin(t *testing.T) {
	for repository, want := range map[string]string{
		"https://github.com/acme/tombolo.git":       "https://github.com/acme/tombolo/releases/download",
		"https://github.com/acme/tombolo":           "https://github.com/acme/tombolo/releases/download",
		"git@github.com:acme/tombolo.git":           "https://github.com/acme/tombolo/releases/download",
		"ssh://git@github.com/acme/my.tombolo.git":  "https://github.com/acme/my.tombolo/releases/download",
		"https://github.com.example.com/acme/tools": "", "https://gitlab.com/acme/tombolo.git": "", "/srv/tombolo": "", "": "",
	} {
		assert.Check(t, is.Equal(ofGitHub(repository), want), repository)
	}
}

// TestTheListIsRead: the list of this checkout is one that can be read, of groups that there are.
func TestTheListIsRead(t *testing.T) {
	text, err := os.ReadFile(filepath.Base(releasedFile))
	assert.NilError(t, err)
	list, err := readReleased(text)
	assert.NilError(t, err)
	for _, r := range list {
		found := false
		for _, g := range everyGroup() {
			found = found || g.name == r.Group
		}
		assert.Check(t, found, "there is no group %s", r.Group)
	}
}
