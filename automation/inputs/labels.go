package inputs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/internal/scalar"
)

// LabelsAt are the labels that a cluster of the project had at o.Ref, by which policies choose; nil
// where it had no file there. Of a file that is none any more, they are its name and environment. The
// error is a *fault.Error where Git cannot be read.
func LabelsAt(ctx context.Context, o Options, cluster string) (map[string]string, error) {
	repo, err := openRepository(ctx, o.Root, o.Ref)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "tombolo-was-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for cluster files at %s: %w", o.Ref, err)
	}
	f := former{repo, filepath.Join(dir, clustersDir)}
	var labels map[string]string
	// By the project file, paths in cluster files are known to be in the project.
	err = errors.Join(os.Mkdir(f.dir, 0o700), os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), nil, 0o600))
	if err == nil {
		labels, err = f.labels(ctx, cluster)
	}
	return labels, errors.Join(err, os.RemoveAll(dir))
}

// former are cluster files of a commit, which are put into a directory.
type former struct {
	*repository
	dir string
}

func (f former) labels(ctx context.Context, cluster string) (map[string]string, error) {
	hub, environment, err := f.place(ctx, cluster)
	if err != nil {
		return nil, err
	}
	if hub != "" && hub != cluster {
		if _, _, err := f.place(ctx, hub); err != nil {
			return nil, err
		}
	}
	file := filepath.Join(f.dir, cluster+".yaml")
	if _, err := os.Stat(file); err != nil {
		return nil, nil //nolint:nilerr // it is new
	}
	c, err := config.Load(file)
	if err != nil {
		return map[string]string{names.ClusterLabel: cluster, config.EnvironmentLabel: environment}, nil //nolint:nilerr // what is known
	}
	return c.RegistrationLabels(), nil
}

// place puts the file of a cluster into the directory, with those of its shared settings, and says what
// they have as its hub and as its environment.
func (f former) place(ctx context.Context, cluster string) (hub, environment string, err error) {
	own, err := f.put(ctx, cluster)
	if err != nil {
		return "", "", err
	}
	environment, _ = scalar.At([]byte(own), "environment") // what is no YAML has none
	hub, _ = scalar.At([]byte(own), "gitops", "hub")
	for _, shared := range (&config.Cluster{File: cluster + ".yaml", Environment: environment}).SharedFiles() {
		text, err := f.put(ctx, shared[:len(shared)-len(".yaml")])
		if err != nil {
			return "", "", err
		}
		ofShared, _ := scalar.At([]byte(text), "gitops", "hub")
		hub = cmp.Or(hub, ofShared)
	}
	return hub, environment, nil
}

func (f former) put(ctx context.Context, name string) (string, error) {
	text, err := f.show(ctx, f.below(path.Join(clustersDir, name+".yaml")))
	if err == nil && text != "" && filepath.IsLocal(name) {
		err = os.WriteFile(filepath.Join(f.dir, name+".yaml"), []byte(text), 0o600)
	}
	return text, err
}
