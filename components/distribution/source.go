// Package distribution installs the manifest that a GitOps engine is released
// as: it loads a pinned and checksummed one, registers its objects in stages,
// and leaves them alone once they are handed over.
package distribution

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"tombolo/internal/file"
)

// fetchTimeout bounds the download of a distribution.
const fetchTimeout = time.Minute

// Product is what a distribution is of.
type Product struct {
	// Name for people, such as Flux.
	Name string
	// Namespace of the product. It is made before the distribution, whose
	// objects are in it when they name no other.
	Namespace string
	// Release is the name under which a chart of the product is rendered.
	Release string
	// Reader is the name of the Deployment that reads Git, and of its service account.
	Reader string
	// Environment of the container that builds what teams deliver.
	Environment Environment
}

// Source is where an install manifest, or a packed Helm chart, is: a URL with
// its checksum, or a local file.
type Source struct {
	// URL of the manifest or chart; needs SHA256.
	URL string
	// SHA256 of the manifest or chart, in hexadecimal; optional for a local file.
	SHA256 string
	// Path of a local file; wins over URL.
	Path string
	// Values of the chart. A manifest has none.
	Values map[string]any
	// KubernetesVersion that a chart is rendered for, such as 1.35. Default:
	// that of the Helm library.
	KubernetesVersion string
}

// Load reads the manifest and verifies its checksum. A chart is checked as it is
// packed, and then rendered.
func (p Product) Load(ctx context.Context, d Source) ([]byte, error) {
	var manifest []byte
	var err error
	switch {
	case d.Path != "":
		manifest, err = file.Read(d.Path, file.MostManifest)
		if err != nil {
			return nil, fmt.Errorf("read %s distribution: %w", p.Name, err)
		}
	case d.URL == "":
		return nil, fmt.Errorf("the %s distribution has neither a URL nor a path", p.Name)
	case d.SHA256 == "":
		return nil, fmt.Errorf("the %s distribution %s has no checksum; give its sha256", p.Name, d.URL)
	default:
		if manifest, err = fetch(ctx, d.URL); err != nil {
			return nil, fmt.Errorf("fetch %s distribution %s: %w; check the URL and the network, or give a local path", p.Name, d.URL, err)
		}
	}
	if err := p.verify(manifest, d); err != nil {
		return nil, err
	}
	switch {
	case isChart(manifest):
		return p.render(manifest, d)
	case len(d.Values) > 0:
		return nil, fmt.Errorf("the %s distribution has Helm values but is no Helm chart; name a packed chart, or take the values out", p.Name)
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
	body, err := io.ReadAll(io.LimitReader(response.Body, file.MostManifest+1))
	if err != nil {
		return nil, err
	}
	if len(body) > file.MostManifest {
		return nil, fmt.Errorf("it is larger than %d bytes, which no install manifest is", file.MostManifest)
	}
	return body, nil
}

func (p Product) verify(manifest []byte, d Source) error {
	if d.SHA256 == "" {
		return nil
	}
	sum := sha256.Sum256(manifest)
	if got := hex.EncodeToString(sum[:]); !strings.EqualFold(got, d.SHA256) {
		where := d.URL
		if d.Path != "" {
			where = d.Path
		}
		return fmt.Errorf("checksum of %s distribution %s is %s, expected %s: it is not the file that was pinned; "+
			"find out why before you change the sha256", p.Name, where, got, strings.ToLower(d.SHA256))
	}
	return nil
}
