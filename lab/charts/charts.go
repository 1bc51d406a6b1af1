// Package charts is the lab's Helm chart repository: it packages the chart
// directories of a folder, the same bytes for the same content, and serves
// them with an index.
//
// Most charts stand in for an upstream one. Such a folder holds Chart.yaml with
// the version that the platform tree pins, values.yaml, and in additions.json what
// the chart requires beside its facts; what it renders is in the folder shared.
// The schema of its values is made from the facts of that version in
// tools/upstream/facts when it is packaged: it takes the keys and types that the
// upstream chart takes, and no other.
package charts

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// shared is the folder with the files of charts that have no templates.
const shared = "shared"

// Load packages every chart directory of a folder.
func Load(folder fs.FS) ([]Chart, error) {
	found, err := fs.Glob(folder, "*/Chart.yaml")
	if err != nil {
		return nil, fmt.Errorf("find charts: %w", err)
	}
	for i := range found {
		found[i] = path.Dir(found[i])
	}
	return load(folder, found...)
}

// load packages chart directories of a folder.
func load(folder fs.FS, found ...string) ([]Chart, error) {
	var common fs.FS
	var err error
	if _, missing := fs.Stat(folder, shared); missing == nil {
		if common, err = fs.Sub(folder, shared); err != nil {
			return nil, fmt.Errorf("open the charts' shared files: %w", err)
		}
	}
	charts := make([]Chart, 0, len(found))
	for _, name := range found {
		dir, err := fs.Sub(folder, name)
		if err != nil {
			return nil, fmt.Errorf("open chart %s: %w", name, err)
		}
		c, err := Package(dir, common)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		charts = append(charts, c)
	}
	return charts, nil
}

// Index is the repository's index.yaml.
func Index(charts []Chart) ([]byte, error) {
	entries := map[string][]map[string]any{}
	for _, c := range charts {
		entry := map[string]any{"created": packaged, "digest": c.Digest(), "urls": []string{c.File()}}
		for key, value := range c.metadata {
			entry[key] = value
		}
		entries[c.Name] = append(entries[c.Name], entry)
	}
	data, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "generated": packaged, "entries": entries})
	if err != nil {
		return nil, fmt.Errorf("encode the chart index: %w", err)
	}
	return data, nil
}

// Handler serves the charts of a folder. They are packaged anew for each
// request, so that an edited chart is served at once; they are a few
// kilobytes.
func Handler(folder fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all, err := Load(folder)
		shelf{all, err}.serve(w, r, strings.TrimPrefix(r.URL.Path, "/"))
	})
}

// shelf is what a chart repository has, or why it has nothing.
type shelf struct {
	charts []Chart
	err    error
}

// serve answers a request for the index, or for the archive of a chart.
func (s shelf) serve(w http.ResponseWriter, r *http.Request, name string) {
	if s.err != nil {
		http.Error(w, s.err.Error(), http.StatusInternalServerError)
		return
	}
	if name == "index.yaml" {
		index, err := Index(s.charts)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(index))
		return
	}
	for _, c := range s.charts {
		if c.File() == name {
			w.Header().Set("ETag", `"`+c.Digest()+`"`)
			http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(c.Archive))
			return
		}
	}
	http.Error(w, fmt.Sprintf("the lab's chart repository has no %s", r.URL.Path), http.StatusNotFound)
}
