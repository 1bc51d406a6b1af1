package pulumicli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/internal/file"
	"tombolo/internal/scalar"
)

// This file is about programs in directories of their own, which the CLI runs by the project files
// that they have.

// In is where the CLI runs the program in a directory, with the settings that its project file names
// and this environment besides. Its plugins are the program's own.
func (p *CLI) In(dir string, env map[string]string) (Place, error) {
	at := Place{dir: dir, settingsDir: dir, env: maps.Clone(p.Env), secrets: p.Secrets, ownPlugins: true}
	maps.Copy(at.env, env)
	text, err := at.projectFile()
	if err != nil {
		return at, err
	}
	below, err := scalar.At(text, "stackConfigDir")
	if err != nil {
		return at, fmt.Errorf("read the project file in %s: %w", dir, err)
	}
	at.settingsDir = filepath.Join(dir, below)
	return at, nil
}

func (at Place) projectFile() ([]byte, error) {
	text, err := file.ReadInside(filepath.Join(at.dir, "Pulumi.yaml"), file.MostOfSettings)
	if err != nil {
		return nil, fmt.Errorf("read the project file in %s: %w", at.dir, err)
	}
	return text, nil
}

// AsideIn is Aside for a stack of a program in a directory of its own: the project file is that of the
// program, which stays where it is.
func (p *CLI) AsideIn(dir, stack string, of Place, secrets bool) (Place, error) {
	text, err := of.projectFile()
	if err != nil {
		return Place{}, err
	}
	var all map[string]any
	if err := yaml.Unmarshal(text, &all); err != nil {
		return Place{}, fmt.Errorf("read the project file in %s: %w", of.dir, err)
	}
	below, _ := all["main"].(string)
	// Pulumi takes a path that is absolute: getPwdMain in pkg/engine/project.go of github.com/pulumi/pulumi.
	all["main"], all["stackConfigDir"] = filepath.Join(of.dir, below), stackConfigDir
	if text, err = yaml.Marshal(all); err != nil {
		return Place{}, err
	}
	at, err := aside(dir, stack, of, text, secrets)
	return at, errors.Join(err, linkAll(of.dir, dir))
}

// linkAll has what is beside a program's project file beside its copy, too: the CLI takes the paths of plugins and of
// Python's environments from there. Source: resolvePluginPath in sdk/go/common/resource/plugin/host.go and
// resolveVirtualEnvironmentPath in sdk/python/toolchain/pip.go of github.com/pulumi/pulumi.
func linkAll(from, to string) error {
	entries, err := os.ReadDir(from)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "Pulumi.") {
			continue
		}
		linked := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		if !errors.Is(linked, fs.ErrExist) { // the backend and the settings are the copy's own
			err = errors.Join(err, linked)
		}
	}
	return err
}

// HaveSecrets says whether the settings of a stack have some.
func (at Place) HaveSecrets(stack string) (bool, error) {
	text, err := at.settingsText(stack)
	if err != nil {
		return false, err
	}
	var all struct {
		Config      map[string]any `yaml:"config"`
		Environment any            `yaml:"environment"`
	}
	if err := yaml.Unmarshal(text, &all); err != nil {
		return false, fmt.Errorf("read the settings of stack %s: %w", stack, err)
	}
	return encrypted(all.Config) || all.Environment != nil, nil
}
