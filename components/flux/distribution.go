package flux

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	// fetchTimeout bounds the download of a distribution; a Flux install
	// manifest has about 0.5 MB.
	fetchTimeout = time.Minute
	// maxManifest is more than any Flux install manifest, in bytes.
	maxManifest = 16 << 20
)

// Distribution is where Flux's install manifest is: a URL with its checksum,
// or a local file.
type Distribution struct {
	// URL of the manifest; needs SHA256.
	URL string
	// SHA256 of the manifest, in hexadecimal; optional for a local file.
	SHA256 string
	// Path of a local file; wins over URL.
	Path string
}

// Load reads the manifest and verifies its checksum.
func Load(ctx context.Context, d Distribution) ([]byte, error) {
	var manifest []byte
	var err error
	switch {
	case d.Path != "":
		manifest, err = os.ReadFile(d.Path)
		if err != nil {
			return nil, fmt.Errorf("read Flux distribution: %w", err)
		}
	case d.URL == "":
		return nil, errors.New("the Flux distribution has neither a URL nor a path")
	case d.SHA256 == "":
		return nil, fmt.Errorf("the Flux distribution %s has no checksum; give its sha256", d.URL)
	default:
		if manifest, err = fetch(ctx, d.URL); err != nil {
			return nil, fmt.Errorf("fetch Flux distribution %s: %w; check the URL and the network, or give a local path", d.URL, err)
		}
	}
	if err := verify(manifest, d); err != nil {
		return nil, err
	}
	return manifest, nil
}

func fetch(ctx context.Context, url string) (_ []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %s", response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxManifest+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxManifest {
		return nil, fmt.Errorf("it is larger than %d bytes, which no install manifest is", maxManifest)
	}
	return body, nil
}

func verify(manifest []byte, d Distribution) error {
	if d.SHA256 == "" {
		return nil
	}
	sum := sha256.Sum256(manifest)
	if got := hex.EncodeToString(sum[:]); !strings.EqualFold(got, d.SHA256) {
		where := d.URL
		if d.Path != "" {
			where = d.Path
		}
		return fmt.Errorf("checksum of Flux distribution %s is %s, expected %s: it is not the file that was pinned; "+
			"find out why before you change the sha256", where, got, strings.ToLower(d.SHA256))
	}
	return nil
}
