package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"tombolo/tools/archive"
)

// releasesVariable names the address below which the releases are, each in a directory with
// its name, or says that there are none, so that everything is built. Without it they are those
// of the repository that the checkout was cloned from, where that is at GitHub.
const releasesVariable, noReleases = "TOMBOLO_RELEASES", "none"

// released is a group of tools that a release has for one platform, built.
type released struct {
	Group string `json:"group"`
	// Platform is the operating system and the architecture as Go names them: linux/amd64.
	Platform string `json:"platform"`
	// Key is what group.key gives where the group was built.
	Key string `json:"key"`
	// Release is the name of the release, which is a tag, and Name that of the archive.
	Release string `json:"release,omitempty"`
	Name    string `json:"name"`
	// SHA256 of the archive in hexadecimal, and its size in bytes.
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// releasedFile is the list of released groups in a checkout.
var releasedFile = filepath.Join("tools", "build", "released.json")

// readReleased reads a list of released groups strictly.
func readReleased(text []byte) ([]released, error) {
	var list []released
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	for _, r := range list {
		if sum, err := hex.DecodeString(r.SHA256); err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("%s for %s: %q is no SHA-256", r.Group, r.Platform, r.SHA256)
		}
		if r.Group == "" || r.Platform == "" || r.Key == "" || r.Name == "" || r.Size <= 0 {
			return nil, fmt.Errorf("%s for %s lacks its group, platform, key, name or size", r.Group, r.Platform)
		}
	}
	return list, nil
}

// releases is where built groups come from.
type releases struct {
	// base is the address below which the releases are. nil for none: everything is built.
	base   *url.URL
	pinned []released
	client *http.Client
}

// downloadTimeout bounds one download. All tools are built in less on two cores.
const downloadTimeout = 15 * time.Minute

// newReleases judges the checkout's list and the address before anything starts.
func newReleases(ctx context.Context, root, address string) (releases, error) {
	text, err := os.ReadFile(filepath.Join(root, releasedFile))
	if err != nil {
		return releases{}, fmt.Errorf("reading the released tools: %w", err)
	}
	pinned, err := readReleased(text)
	if err != nil {
		return releases{}, fmt.Errorf("reading %s: %w", releasedFile, err)
	}
	r := releases{pinned: pinned, client: &http.Client{Timeout: downloadTimeout}}
	if address == "" {
		address = ofGitHub(origin(ctx, root))
	}
	if address == "" || address == noReleases {
		return r, nil
	}
	base, err := url.Parse(address)
	if err == nil && (base.Scheme != "https" && base.Scheme != "http" || base.Host == "") {
		err = errors.New("it is not the address of a web server")
	}
	if err != nil {
		return releases{}, fmt.Errorf("reading %s: %w; set it to %s to build the tools, or to the address below which the releases are", releasesVariable, err, noReleases)
	}
	r.base = base
	return r, nil
}

// origin is where the checkout was cloned from. "" where it was not.
func origin(ctx context.Context, root string) string {
	cmd := exec.CommandContext(ctx, "git", "remote", "get-url", "origin")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// atGitHub is the address of a repository at GitHub as `git clone` takes it.
var atGitHub = regexp.MustCompile(`^(?:https://|ssh://git@|git@)github\.com[:/]([\w.-]+)/([\w.-]+?)(?:\.git)?/?$`)

// ofGitHub is the address below which the releases of a repository at GitHub have their files
// (https://docs.github.com/en/repositories/releasing-projects-on-github/linking-to-releases).
// "" for any other repository.
func ofGitHub(repository string) string {
	m := atGitHub.FindStringSubmatch(repository)
	if m == nil {
		return ""
	}
	return "https://github.com/" + m[1] + "/" + m[2] + "/releases/download"
}

// errDigest says that an archive is not the one that was pinned.
var errDigest = errors.New("the archive is not the one that is pinned")

// fetch puts the released group into a directory, and says whether it did. It does not when
// no release has the group as this checkout wants it, or when the archive cannot be had: why is
// written to out, and the group is to be built.
//
// An archive with another checksum ends the run with an error. It is not what was reviewed when
// it was pinned: somebody has replaced it, or something on the way is broken. To build in silence
// would hide both from those who can mend them.
func (r releases) fetch(ctx context.Context, g group, key, dir string, out io.Writer) (bool, error) {
	if r.base == nil {
		return false, nil
	}
	found, ok := r.find(g.name, key)
	if !ok && len(r.pinned) == 0 {
		return false, nil // there is no release yet
	}
	if !ok {
		fmt.Fprintf(out, "◎ no release has %s %s for %s/%s: building it\n", g.name, key, runtime.GOOS, runtime.GOARCH)
		return false, nil
	}
	address := r.base.JoinPath(found.Release, found.Name).String()
	fmt.Fprintf(out, "► fetching %s from %s\n", g.name, address)
	file, err := r.download(ctx, found, address)
	if file != nil {
		defer os.Remove(file.Name())
		defer file.Close()
	}
	switch {
	case ctx.Err() != nil:
		return false, errors.New("interrupted; run it again to go on")
	case errors.Is(err, errDigest):
		return false, fmt.Errorf("fetching %s from %s: %w; find out why before you use it. To build the tools instead, set %s=%s", g.name, address, err, releasesVariable, noReleases)
	case err != nil:
		fmt.Fprintf(out, "◎ %s cannot be fetched: %v: building it\n", g.name, err)
		return false, nil
	}
	if err := archive.Extract(file, dir); err != nil {
		return false, fmt.Errorf("unpacking %s from %s: %w", g.name, address, err)
	}
	return true, nil
}

// find is the released group with this key for the platform of this machine.
func (r releases) find(name, key string) (released, bool) {
	for _, p := range r.pinned {
		if p.Group == name && p.Key == key && p.Platform == runtime.GOOS+"/"+runtime.GOARCH {
			return p, true
		}
	}
	return released{}, false
}

// download gets the archive into a temporary file that is read from its start, which the caller
// closes and removes, also after an error. Nothing of it has been looked at before its digest
// is known to be right.
func (r releases) download(ctx context.Context, want released, address string) (*os.File, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", answer.Status)
	}
	file, err := os.CreateTemp("", "tombolo-tools-")
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	// One byte more than expected is enough to see that there is too much.
	size, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(answer.Body, want.Size+1))
	if err != nil {
		return file, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 {
		return file, fmt.Errorf("%w: its SHA-256 is %s after %d bytes, pinned are %s and %d bytes", errDigest, got, size, want.SHA256, want.Size)
	}
	_, err = file.Seek(0, io.SeekStart)
	return file, err
}

// compare is the order of the list: by group, then platform.
func compare(a, b released) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Platform, b.Platform))
}
