package drift

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tombolo/internal/file"
)

// Store keeps the last report of each cluster, a file each in a directory.
type Store struct {
	// Dir is made when the first report is kept.
	Dir string
}

// Save keeps the report in place of the cluster's last one. A reader finds one
// or the other, and never a part.
func (s Store) Save(r Report) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode drift of cluster %s: %w", r.Cluster, err)
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("make directory for drift: %w", err)
	}
	if err := file.Replace(s.path(r.Cluster), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep drift of cluster %s: %w", r.Cluster, err)
	}
	return nil
}

// mostOfAReport is the longest report that is read, in bytes.
const mostOfAReport = 64 << 20

// Load returns the cluster's last report; nil when there is none.
func (s Store) Load(cluster string) (*Report, error) {
	text, err := file.ReadInside(s.path(cluster), mostOfAReport)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last drift of cluster %s: %w", cluster, err)
	}
	r := &Report{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("read the last drift of cluster %s from %s: %w; delete the file, `tombolo drift` writes it again",
			cluster, s.path(cluster), err)
	}
	return r, nil
}

// PutBack takes away from the cluster's last report what an up that compared with the cloud has put
// back, which is all but what is unexpected. A report of nothing else is forgotten: what differs
// after the up is for the next one to say.
func (s Store) PutBack(cluster string) error {
	r, err := s.Load(cluster)
	if r == nil || err != nil {
		return err
	}
	r.Differences = slices.DeleteFunc(r.Differences, func(d Difference) bool { return d.Class != Unexpected })
	if len(r.Differences) == 0 {
		return s.Forget(cluster)
	}
	return s.Save(*r)
}

// Forget removes the cluster's last report, where there is one: the cluster is gone, or another one.
func (s Store) Forget(cluster string) error {
	if err := os.Remove(s.path(cluster)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the last drift of cluster %s: %w", cluster, err)
	}
	return nil
}

func (s Store) path(cluster string) string { return filepath.Join(s.Dir, cluster+".json") }
