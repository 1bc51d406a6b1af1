package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

const archive = "an archive"

// store is a mirror with one archive, and a home that archives are unpacked into.
type store struct {
	Fetcher
	plugin Plugin
	notes  []string
}

func newStore(t *testing.T) *store {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	s := &store{plugin: Plugin{Name: "aws", Version: "6.83.2"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mirror/pulumi-resource-aws-v6.83.2-linux-amd64.tar.gz" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, archive)
	}))
	t.Cleanup(server.Close)
	s.Fetcher = Fetcher{
		Home: t.TempDir(), Mirror: server.URL + "/mirror/", Platform: "linux-amd64", Client: server.Client(),
		Note: func(message string) { s.notes = append(s.notes, message) },
		Install: func(_ context.Context, p Plugin, archive string) error {
			content, err := os.ReadFile(archive)
			if err == nil {
				files.Write(t, filepath.Join(Dir(s.Home), p.dir(), "pulumi-resource-"+p.Name), string(content))
			}
			return err
		},
	}
	return s
}

// locked is a lock with this text's digest.
func locked(text string) Lock {
	sum := sha256.Sum256([]byte(text))
	return Lock{{Name: "aws", Version: "6.83.2", Platform: "linux-amd64", SHA256: hex.EncodeToString(sum[:]), Source: "a list"}}
}

// leavesNothing: what was downloaded is removed in any case.
func (s *store) leavesNothing(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(os.TempDir())
	assert.NilError(t, err)
	assert.Check(t, is.Len(left, 0))
}

func TestFetch(t *testing.T) {
	s := newStore(t)
	s.Lock = locked(archive)
	s.Strict = true
	assert.NilError(t, s.Fetch(t.Context(), s.plugin))
	assert.Check(t, Installed(s.plugin, s.Home))
	assert.Check(t, Installed(Plugin{Name: s.plugin.Name}, s.Home), "of no version")
	assert.Check(t, !Installed(Plugin{Name: "other"}, s.Home))
	assert.Check(t, is.Equal(State(s.plugin, s.Home, s.Lock, s.Platform), Checked))
	assert.Check(t, is.Equal(State(s.plugin, s.Home, locked("another"), s.Platform), Differs))
	assert.Check(t, is.Equal(State(Plugin{Name: "eks", Version: "2.8.1"}, s.Home, s.Lock, s.Platform), Unchecked))
	assert.Check(t, is.Len(s.notes, 0))
	s.leavesNothing(t)
}

// TestFetchOfAnotherArchive: what is not the published archive is not installed.
func TestFetchOfAnotherArchive(t *testing.T) {
	s := newStore(t)
	s.Lock = locked("what was published")
	err := s.Fetch(t.Context(), s.plugin)
	sum := locked(archive)[0].SHA256
	want := "install the plugin aws 6.83.2: " + s.Mirror + "pulumi-resource-aws-v6.83.2-linux-amd64.tar.gz has the SHA-256 " + sum +
		", and " + s.Lock[0].SHA256 + " is expected (by a list); nothing was installed; find out who changed the archive: if it is the mirror's, put the published one there"
	assert.Check(t, is.Error(err, want))
	_, err = os.Stat(Dir(s.Home))
	assert.Check(t, os.IsNotExist(err), "something of it is in the home: %v", err)
	s.leavesNothing(t)
}

// TestFetchWithoutDigest installs, and says so; a strict fetcher does not even ask.
func TestFetchWithoutDigest(t *testing.T) {
	s := newStore(t)
	assert.NilError(t, s.Fetch(t.Context(), s.plugin))
	assert.Check(t, is.Equal(State(s.plugin, s.Home, s.Lock, s.Platform), Unknown))
	assert.DeepEqual(t, s.notes, []string{"the plugin aws 6.83.2 is installed unchecked, for no digest of it is known: " +
		s.Mirror + "pulumi-resource-aws-v6.83.2-linux-amd64.tar.gz has the SHA-256 " + locked(archive)[0].SHA256 + " (`make plugins-lock` writes it down)"})
	s.Strict, s.Mirror = true, "http://127.0.0.1:1"
	assert.Check(t, is.Error(s.Fetch(t.Context(), s.plugin),
		"install the plugin aws 6.83.2: no digest of it for linux-amd64 is known; run `make plugins-lock`, have its digests reviewed, and build tombolo again"))
}

func TestFetchFromADirectory(t *testing.T) {
	s := newStore(t)
	s.Mirror, s.Lock = t.TempDir(), locked("on a disk")
	assert.Check(t, is.ErrorContains(s.Fetch(t.Context(), s.plugin), "no such file or directory; name a mirror that has pulumi-resource-aws-v6.83.2-linux-amd64.tar.gz"))
	files.Write(t, filepath.Join(s.Mirror, s.plugin.archive("linux-amd64")), "on a disk")
	assert.NilError(t, s.Fetch(t.Context(), s.plugin))
	assert.Check(t, Installed(s.plugin, s.Home))
}

func TestFetchFails(t *testing.T) {
	s := newStore(t)
	other := Plugin{Name: "eks", Version: "2.8.1"}
	assert.Check(t, is.Error(s.Fetch(t.Context(), other), "fetch the plugin eks 2.8.1: "+s.Mirror+"pulumi-resource-eks-v2.8.1-linux-amd64.tar.gz answers 404 Not Found; "+
		"name a mirror that has pulumi-resource-eks-v2.8.1-linux-amd64.tar.gz in TOMBOLO_PLUGIN_MIRROR, if this machine does not reach the internet"))
	s.Install = func(context.Context, Plugin, string) error { return errors.New("no space left") }
	assert.Check(t, is.Error(s.Fetch(t.Context(), s.plugin), "install the plugin aws 6.83.2: no space left"))
	assert.Check(t, !Installed(s.plugin, s.Home))
	s.leavesNothing(t)
}

// published answers for the places that the CLI fetches from.
type published struct{ asked []string }

func (p *published) RoundTrip(r *http.Request) (*http.Response, error) {
	p.asked = append(p.asked, r.URL.String())
	w := httptest.NewRecorder()
	if r.URL.Host == "get.pulumi.com" {
		fmt.Fprint(w, archive)
	} else {
		w.WriteHeader(http.StatusNotFound)
	}
	return w.Result(), nil
}

// TestDigest: without a mirror an archive is fetched from where the CLI would.
func TestDigest(t *testing.T) {
	s, places := newStore(t), &published{}
	s.Mirror, s.Client = "", &http.Client{Transport: places}
	got, err := s.Digest(t.Context(), s.plugin)
	assert.NilError(t, err)
	const last = "https://get.pulumi.com/releases/plugins/pulumi-resource-aws-v6.83.2-linux-amd64.tar.gz"
	want := locked(archive)[0]
	want.Source = last
	assert.DeepEqual(t, got, want)
	assert.Check(t, is.Contains(places.asked[0], "github.com/"))
	s.leavesNothing(t)
}
