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
	"maps"
	"path"
	"slices"
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

// Package packages a chart directory. One without templates of its own gets
// the shared files, such as templates/deployment.yaml; shared may be nil. A
// stand-in gets the schema of its values.
func Package(dir, shared fs.FS) (Chart, error) {
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
	content, err := content(dir, shared)
	if err != nil {
		return Chart{}, fmt.Errorf("package chart %s: %w", c.Name, err)
	}
	if err := addSchema(content, c); err != nil {
		return Chart{}, fmt.Errorf("package chart %s: %w", c.Name, err)
	}
	if c.Archive, err = archive(content, c.Name); err != nil {
		return Chart{}, fmt.Errorf("package chart %s: %w", c.Name, err)
	}
	return c, nil
}

// content is the chart's files, by their path in the chart.
func content(dir, shared fs.FS) (map[string][]byte, error) {
	out, err := files(dir)
	if err != nil || shared == nil {
		return out, err
	}
	for file := range out {
		if strings.HasPrefix(file, "templates/") {
			return out, nil
		}
	}
	more, err := files(shared)
	maps.Copy(out, more)
	return out, err
}

func files(dir fs.FS) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := fs.WalkDir(dir, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out[file], err = fs.ReadFile(dir, file)
		return err
	})
	return out, err
}

// archive writes the files in lexical order, below a folder of the chart's
// name, with one owner, mode and time for all.
func archive(content map[string][]byte, name string) ([]byte, error) {
	var buf bytes.Buffer
	zip := gzip.NewWriter(&buf)
	out := tar.NewWriter(zip)
	for _, file := range slices.Sorted(maps.Keys(content)) {
		header := &tar.Header{
			Name: path.Join(name, file), Mode: 0o644, Size: int64(len(content[file])),
			ModTime: packaged, Format: tar.FormatUSTAR,
		}
		if err := out.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := out.Write(content[file]); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(out.Close(), zip.Close()); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
