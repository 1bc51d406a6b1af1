package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tombolo/internal/cli/factory"
)

// lastDrift is what tombolo drift has found last; nil when it never looked.
func lastDrift(f *factory.Factory, cluster string) (*Drift, error) {
	dir, err := kept(f, "drift")
	if err != nil {
		return nil, err
	}
	return readDrift(filepath.Join(dir, cluster+".json"))
}

func readDrift(path string) (*Drift, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last drift: %w", err)
	}
	var report struct {
		At          time.Time
		Differences []struct{ Class, Resource, Name string }
		Error       string
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("read the last drift from %s: %w; delete the file, `tombolo drift` writes it again", path, err)
	}
	d := &Drift{At: report.At, Error: report.Error}
	for _, r := range report.Differences {
		switch r.Class {
		case "missing":
			d.Missing++
		case "unexpected":
			d.Unexpected++
		default:
			d.Changed++
		}
		d.Resources = append(d.Resources, r.Class+" "+r.Resource+" "+r.Name)
	}
	return d, nil
}
