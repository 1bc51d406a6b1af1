// Package charts is the lab's Helm chart repository: it packages the chart
// directories of a folder, the same bytes for the same content, and serves
// them with an index.
package charts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// packaged is the time that archives and the index carry: content alone
// decides whether they differ.
var packaged = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// Chart is a packaged chart.
type Chart struct {
	Name, Version string
	// Archive is the .tgz as Helm reads it.
	Archive []byte

	metadata map[string]any // Chart.yaml
}

// File is the name of the archive in the repository.
func (c Chart) File() string { return c.Name + "-" + c.Version + ".tgz" }

// Digest of the archive, SHA-256 in hexadecimal.
func (c Chart) Digest() string {
	sum := sha256.Sum256(c.Archive)
	return hex.EncodeToString(sum[:])
}

// Package packages a chart directory.
func Package(dir fs.FS) (Chart, error) {
	raw, err := fs.ReadFile(dir, "Chart.yaml")
	if err != nil {
		return Chart{}, fmt.Errorf("read Chart.yaml: %w", err)
	}
	var c Chart
	if err := yaml.Unmarshal(raw, &c.metadata); err != nil {
		return Chart{}, fmt.Errorf("read Chart.yaml: %w", err)
	}
	c.Name, _ = c.metadata["name"].(string)
	c.Version, _ = c.metadata["version"].(string)
	if c.Name == "" || c.Version == "" {
		return Chart{}, errors.New("read Chart.yaml: it needs name and version")
	}
	if c.Archive, err = archive(dir, c.Name); err != nil {
		return Chart{}, fmt.Errorf("package chart %s: %w", c.Name, err)
	}
	return c, nil
}

// archive writes the files in lexical order, below a folder of the chart's
// name, with one owner, mode and time for all.
func archive(dir fs.FS, name string) ([]byte, error) {
	var buf bytes.Buffer
	zip := gzip.NewWriter(&buf)
	out := tar.NewWriter(zip)
	err := fs.WalkDir(dir, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, file)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: path.Join(name, file), Mode: 0o644, Size: int64(len(data)), ModTime: packaged, Format: tar.FormatUSTAR}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		_, err = out.Write(data)
		return err
	})
	if err := errors.Join(err, out.Close(), zip.Close()); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// Load packages every chart directory of a folder.
func Load(folder fs.FS) ([]Chart, error) {
	files, err := fs.Glob(folder, "*/Chart.yaml")
	if err != nil {
		return nil, fmt.Errorf("find charts: %w", err)
	}
	charts := make([]Chart, 0, len(files))
	for _, file := range files {
		dir, err := fs.Sub(folder, path.Dir(file))
		if err != nil {
			return nil, fmt.Errorf("open chart %s: %w", path.Dir(file), err)
		}
		c, err := Package(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Dir(file), err)
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
func Handler(folder string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		charts, err := Load(os.DirFS(folder))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "index.yaml" {
			index, err := Index(charts)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(index))
			return
		}
		for _, c := range charts {
			if c.File() == name {
				w.Header().Set("ETag", `"`+c.Digest()+`"`)
				http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(c.Archive))
				return
			}
		}
		http.Error(w, fmt.Sprintf("the lab's chart repository has no %s", r.URL.Path), http.StatusNotFound)
	})
}
