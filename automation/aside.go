package automation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"tombolo/config"
	"tombolo/stacks"
)

// A stack that does not exist yet is previewed in a backend that is thrown away:
// the preview of a pull request has a role that may read the state, and no more.

// aloof says that the program asks no other stack of the backend.
func aloof(k stacks.Kind, o stacks.Options) bool { return k == stacks.Core || o.Placeholders }

// previewAside previews a stack that does not exist.
func (d *Driver) previewAside(ctx context.Context, c *config.Cluster, k stacks.Kind,
	o PreviewOptions, so stacks.Options,
) (StackResult, error) {
	name := stacks.Name(c.Name, k)
	dir, err := os.MkdirTemp("", "tombolo-preview-")
	if err != nil {
		return StackResult{}, fmt.Errorf("make directory to preview stack %s: %w", name, err)
	}
	defer os.RemoveAll(dir)
	at, err := d.aside(dir, name)
	if err != nil {
		return StackResult{}, fmt.Errorf("prepare a backend to preview stack %s: %w", name, err)
	}
	s, err := d.openAt(ctx, at, c, k, so, false)
	if err != nil {
		return StackResult{}, err
	}
	return s.preview(ctx, o, so)
}

// settings are what a stack's settings file says about its secrets.
type settings struct {
	Provider string `yaml:"secretsprovider"`
	Salt     string `yaml:"encryptionsalt"`
}

// aside makes a place in dir with a backend of its own, and the project and the
// settings of the stack as they are.
func (d *Driver) aside(dir, stack string) (place, error) {
	if err := d.prepareWorkDir(); err != nil {
		return place{}, err
	}
	backend := filepath.Join(dir, "state")
	file := filepath.Join(stackConfigDir, "Pulumi."+stack+".yaml")
	err := errors.Join(
		os.Mkdir(backend, 0o700), os.Mkdir(filepath.Join(dir, stackConfigDir), 0o700),
		copyProject(filepath.Join(d.opts.WorkDir, "Pulumi.yaml"), filepath.Join(dir, "Pulumi.yaml")),
	)
	if err != nil {
		return place{}, err
	}
	has, err := copySettings(filepath.Join(d.opts.WorkDir, file), filepath.Join(dir, file))
	if err != nil {
		return place{}, err
	}
	at := place{dir: dir, env: maps.Clone(d.env), secrets: "passphrase"}
	at.env["PULUMI_BACKEND_URL"] = "file://" + backend
	switch {
	case has.Provider != "":
		at.secrets = has.Provider
	case has.Salt == "":
		at.env["PULUMI_CONFIG_PASSPHRASE"] = "nothing is stored"
	}
	return at, nil
}

// copyProject copies a project file to a place without a program: the Pulumi
// engine refuses a "main" that is not there, also when the program is inline.
func copyProject(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var project map[string]any
	if err := yaml.Unmarshal(text, &project); err != nil {
		return fmt.Errorf("read %s: %w", from, err)
	}
	delete(project, "main")
	if text, err = yaml.Marshal(project); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// copySettings copies a settings file, and returns what it says; one that is not
// there says nothing.
func copySettings(from, to string) (settings, error) {
	var has settings
	text, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return has, nil
	}
	if err == nil {
		err = errors.Join(os.WriteFile(to, text, 0o600), yaml.Unmarshal(text, &has))
	}
	return has, err
}
