package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// linkPlugins puts the built providers into the Pulumi engine's plugin
// directory. On PATH the engine would find them too, and warn of each; and it
// passes over a plugin's directory that is itself a link.
func (l *Lab) linkPlugins() error {
	build, err := l.EKS()
	if err != nil {
		return err
	}
	if err := l.eks().keep(build); err != nil {
		return err
	}
	if err := l.linkFrom(l.paths().plugins(), "*", ""); err != nil || build == PinnedEKS {
		return err
	}
	if err := l.linkFrom(l.paths().released(), "*", ""); err != nil {
		return err
	}
	asked, err := l.releasedKubernetes()
	if err != nil {
		return err
	}
	return l.linkFrom(l.paths().plugins(), "resource-kubernetes-v*", "resource-kubernetes-v"+asked)
}

// linkFrom links the plugins of a directory that match, under their own names or
// under another.
func (l *Lab) linkFrom(dir, match, name string) error {
	files, err := filepath.Glob(filepath.Join(dir, match, "*"))
	if err != nil {
		return fmt.Errorf("find the built providers: %w", err)
	}
	for _, file := range files {
		plugin := name
		if plugin == "" {
			plugin = filepath.Base(filepath.Dir(file))
		}
		link := filepath.Join(l.paths().pulumiHome(), "plugins", plugin, filepath.Base(file))
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			return fmt.Errorf("make the engine's plugin directory: %w", err)
		}
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("renew a plugin's link: %w", err)
		}
		if err := os.Symlink(file, link); err != nil {
			return fmt.Errorf("link a built provider: %w", err)
		}
	}
	return nil
}

// releasedKubernetes is the version of the Kubernetes plugin that the released EKS
// plugin asks for, as its build wrote it down.
func (l *Lab) releasedKubernetes() (string, error) {
	const what = "read what the released EKS plugin asks for"
	found, err := filepath.Glob(filepath.Join(l.paths().released(), "resource-eks-v*", "asks.json"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%s: %d files asks.json in %s; run `make tools-released`", what, len(found), l.paths().released())
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	var asks map[string]string
	if err := json.Unmarshal(data, &asks); err != nil {
		return "", fmt.Errorf("%s: %s: %w", what, found[0], err)
	}
	return asks["kubernetes"], nil
}
