package charts

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// own are the charts of this folder, for projects that are no checkout with their source.
//
//go:embed all:*/*
var own embed.FS

// Own are the charts that this program was built with.
func Own() fs.FS { return own }

//go:embed repositories.yaml
var repositories []byte

// Public are the charts at the addresses at which their publishers have them: chart repositories,
// and registries, which have an address with oci://.
type Public struct {
	folder fs.FS
	charts map[string][]string // by address, without a slash at its end
}

// NewPublic serves the charts of a folder.
func NewPublic(folder fs.FS) (Public, error) {
	p := Public{folder: folder}
	if err := yaml.Unmarshal(repositories, &p.charts); err != nil {
		return p, fmt.Errorf("read the addresses of charts: %w", err)
	}
	return p, nil
}

// Has says that a publisher of charts has the host.
func (p Public) Has(host string) bool {
	for address := range p.charts {
		_, at, _ := strings.Cut(address, "://")
		if name, _, _ := strings.Cut(at, "/"); name == host {
			return true
		}
	}
	return false
}

// ServeHTTP answers as the host of a request does.
func (p Public) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := strings.ToLower(r.Host) + r.URL.Path
	dir, name := path.Split(at)
	if names, ok := p.charts["https://"+strings.TrimSuffix(dir, "/")]; ok {
		p.of(names).serve(w, r, name)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/v2/") || r.URL.Path == "/v2" {
		p.registry(w, r)
		return
	}
	http.Error(w, "the lab has no charts at "+at, http.StatusNotFound)
}

// of are the charts of these names.
func (p Public) of(names []string) shelf {
	all, err := load(p.folder, names...)
	return shelf{all, err}
}

// registry answers as a registry does that charts are pulled from:
// https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md and, for what a chart is there,
// https://helm.sh/docs/topics/registries/#helm-chart-manifest.
func (p Public) registry(w http.ResponseWriter, r *http.Request) {
	words := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, "/v2"), "/"), "/")
	if len(words) < 4 {
		w.WriteHeader(http.StatusOK) // the answer to who asks whether this is a registry
		return
	}
	kind, wanted := words[len(words)-2], words[len(words)-1]
	repository := path.Join(append([]string{strings.ToLower(r.Host)}, words[:len(words)-2]...)...)
	if !slices.Contains(p.charts["oci://"+path.Dir(repository)], path.Base(repository)) {
		http.Error(w, `{"errors":[{"code":"NAME_UNKNOWN","message":"the lab has no such chart"}]}`, http.StatusNotFound)
		return
	}
	found := p.of([]string{path.Base(repository)})
	if found.err != nil || len(found.charts) != 1 {
		http.Error(w, fmt.Sprintf("the lab has %d charts %s: %v", len(found.charts), path.Base(repository), found.err), http.StatusInternalServerError)
		return
	}
	pulled(w, found.charts[0], kind, wanted)
}

// Media types of a chart in a registry.
const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.cncf.helm.config.v1+json"
	contentType  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// descriptor of a blob.
type descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int    `json:"size"`
}

func describe(media string, content []byte) descriptor {
	sum := sha256.Sum256(content)
	return descriptor{media, "sha256:" + hex.EncodeToString(sum[:]), len(content)}
}

// pulled answers a request for the tags, the manifest or a blob of a chart.
func pulled(w http.ResponseWriter, c Chart, kind, wanted string) {
	tag := strings.ReplaceAll(c.Version, "+", "_") // a tag has no plus
	config, err := json.Marshal(c.metadata)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType,
		"config": describe(configType, config), "layers": []descriptor{describe(contentType, c.Archive)},
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answers := map[string]struct {
		media   string
		content []byte
	}{
		"tags/list":        {"application/json", fmt.Appendf(nil, `{"name":%q,"tags":[%q]}`, c.Name, tag)},
		"manifests/" + tag: {manifestType, manifest},
		"manifests/" + describe("", manifest).Digest: {manifestType, manifest},
		"blobs/" + describe("", config).Digest:       {"application/octet-stream", config},
		"blobs/" + describe("", c.Archive).Digest:    {"application/octet-stream", c.Archive},
	}
	a, ok := answers[kind+"/"+wanted]
	if !ok {
		http.Error(w, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"the lab has `+tag+` alone"}]}`, http.StatusNotFound)
		return
	}
	d := describe(a.media, a.content)
	w.Header().Set("Content-Type", d.MediaType)
	w.Header().Set("Docker-Content-Digest", d.Digest)
	w.Header().Set("Content-Length", fmt.Sprint(d.Size))
	_, _ = w.Write(a.content) // who asks has gone
}
