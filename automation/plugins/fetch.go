package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"tombolo/automation/fault"
	"tombolo/internal/file"
)

// fetchTimeout bounds the fetch of one archive: a few hundred megabytes at most.
const fetchTimeout = 20 * time.Minute

// MirrorVariable is the environment variable with the mirror.
const MirrorVariable = "TOMBOLO_PLUGIN_MIRROR"

// Fetcher fetches archives and has them installed.
type Fetcher struct {
	// Home of the CLI.
	Home string
	// Mirror has the archives, by their published names, in one place: the address
	// of a directory on a server, or a directory. Default: where the CLI fetches
	// them from.
	Mirror string
	// Lock has the digests.
	Lock Lock
	// Strict refuses an archive whose digest is not known.
	Strict bool
	// Platform of the archives; see Platform.
	Platform string
	// Client asks servers.
	Client *http.Client
	// Install has the CLI unpack an archive.
	Install func(ctx context.Context, p Plugin, archive string) error
	// Note says what people should know.
	Note func(message string)
}

// Fetch fetches one plugin, checks its digest and has it installed. Nothing of an
// archive that is refused gets into the CLI's home.
func (f Fetcher) Fetch(ctx context.Context, p Plugin) error {
	want, known := f.Lock.Of(p, f.Platform)
	if !known && f.Strict {
		return &fault.Error{
			What:   fmt.Sprintf("install the plugin %s: no digest of it for %s is known", p, f.Platform),
			Remedy: "run `make plugins-lock`, have its digests reviewed, and build tombolo again",
		}
	}
	archive, from, got, err := f.download(ctx, p)
	if err != nil {
		return err
	}
	defer os.Remove(archive)
	if known && got != want.SHA256 {
		return &fault.Error{
			What: fmt.Sprintf("install the plugin %s: %s has the SHA-256 %s, and %s is expected (by %s)",
				p, from, got, want.SHA256, want.Source),
			Remedy: "nothing was installed; find out who changed the archive: if it is the mirror's, put the published one there",
		}
	}
	if !known {
		f.Note(fmt.Sprintf("the plugin %s is installed unchecked, for no digest of it is known: %s has the SHA-256 %s (`make plugins-lock` writes it down)",
			p, from, got))
	}
	if err := f.Install(ctx, p, archive); err != nil {
		return fmt.Errorf("install the plugin %s: %w", p, err)
	}
	return f.record(p, record{SHA256: got, From: from})
}

// Digest fetches an archive, and says what it has. The caller had better look at who
// sent it: this is how a digest is known for the first time.
func (f Fetcher) Digest(ctx context.Context, p Plugin) (Digest, error) {
	archive, from, sum, err := f.download(ctx, p)
	if err != nil {
		return Digest{}, err
	}
	return Digest{Name: p.Name, Version: p.Version, Platform: f.Platform, SHA256: sum, Source: from}, os.Remove(archive)
}

// download fetches the archive into a temporary file.
func (f Fetcher) download(ctx context.Context, p Plugin) (path, from, sum string, err error) {
	failed := func(err error) (string, string, string, error) {
		return "", "", "", &fault.Error{
			What:   fmt.Sprintf("fetch the plugin %s: %s", p, firstLine(err)),
			Remedy: "name a mirror that has " + p.archive(f.Platform) + " in " + MirrorVariable + ", if this machine does not reach the internet", Err: err,
		}
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	body, from, err := f.open(ctx, p)
	if err != nil {
		return failed(err)
	}
	defer body.Close()
	target, err := os.CreateTemp("", "tombolo-plugin-*.tar.gz")
	if err != nil {
		return failed(err)
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(target, hash), body)
	if err = errors.Join(err, target.Close()); err != nil {
		return failed(errors.Join(err, os.Remove(target.Name())))
	}
	return target.Name(), from, hex.EncodeToString(hash.Sum(nil)), nil
}

// open begins to read the archive, and says where it is from.
func (f Fetcher) open(ctx context.Context, p Plugin) (io.ReadCloser, string, error) {
	var from string
	get := func(r *http.Request) (io.ReadCloser, int64, error) {
		from = r.URL.Redacted()
		return f.get(r)
	}
	switch {
	case f.Mirror == "":
		body, err := f.published(ctx, p, get)
		return body, from, err
	case strings.Contains(f.Mirror, "://"):
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(f.Mirror, "/")+"/"+p.archive(f.Platform), nil)
		if err != nil {
			return nil, "", err
		}
		body, _, err := get(request)
		return body, from, err
	default:
		path := filepath.Join(f.Mirror, p.archive(f.Platform))
		body, err := os.Open(path)
		return body, path, err
	}
}

// published reads the archive from where the CLI would.
func (f Fetcher) published(ctx context.Context, p Plugin, get func(*http.Request) (io.ReadCloser, int64, error)) (io.ReadCloser, error) {
	version, err := semver.Parse(p.Version)
	if err != nil {
		return nil, err
	}
	descriptor, err := workspace.NewPluginDescriptor(ctx, p.Name, apitype.ResourcePlugin, &version, "", nil)
	if err != nil {
		return nil, err
	}
	source, err := descriptor.GetSource()
	if err != nil {
		return nil, err
	}
	system, machine, _ := strings.Cut(f.Platform, "-")
	body, _, err := source.Download(ctx, version, system, machine, get)
	return body, err
}

// get takes nothing but the archive for an answer.
func (f Fetcher) get(r *http.Request) (io.ReadCloser, int64, error) {
	response, err := f.Client.Do(r)
	if err != nil {
		return nil, 0, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, 0, errors.Join(fmt.Errorf("%s answers %s", r.URL.Redacted(), response.Status), response.Body.Close())
	}
	return response.Body, response.ContentLength, nil
}

// recordFile is beside an installed plugin: what it was made from.
const recordFile = "tombolo-archive.json"

// record is what an installed plugin was made from.
type record struct {
	SHA256 string `json:"sha256"`
	From   string `json:"from"`
}

func (f Fetcher) record(p Plugin, r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := file.Replace(filepath.Join(Dir(f.Home), p.dir(), recordFile), data, 0o644); err != nil {
		return fmt.Errorf("write down the digest of the plugin %s: %w", p, err)
	}
	return nil
}

// Check is what is known of an installed plugin's archive.
type Check string

// The states of an installed plugin.
const (
	// Checked: its archive had the digest that is known.
	Checked Check = "checked"
	// Unknown: its archive was fetched by tombolo, and no digest is known.
	Unknown Check = "no digest is known"
	// Unchecked: something else than tombolo installed it.
	Unchecked Check = "not checked"
	// Differs: its archive had another digest than the one that is known now.
	Differs Check = "another digest than is known"
)

// State says what is known of an installed plugin's archive. Nothing is known of
// changes that were made to the plugin after it was installed.
func State(p Plugin, home string, lock Lock, platform string) Check {
	data, err := os.ReadFile(filepath.Join(Dir(home), p.dir(), recordFile))
	var r record
	if err != nil || json.Unmarshal(data, &r) != nil {
		return Unchecked
	}
	switch want, known := lock.Of(p, platform); {
	case !known:
		return Unknown
	case want.SHA256 != r.SHA256:
		return Differs
	}
	return Checked
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
