package lab

import (
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
	files, err := filepath.Glob(filepath.Join(l.paths().plugins(), "*", "*"))
	if err != nil {
		return fmt.Errorf("find the built providers: %w", err)
	}
	for _, file := range files {
		link := filepath.Join(l.paths().pulumiHome(), "plugins", filepath.Base(filepath.Dir(file)), filepath.Base(file))
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
