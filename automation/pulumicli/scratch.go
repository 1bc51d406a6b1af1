package pulumicli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gopkg.in/yaml.v3"

	"tombolo/automation/backend"
	"tombolo/internal/file"
	"tombolo/internal/scalar"
)

const scratchProject = `name: tombolo-lookup
runtime: go
description: Looks cloud resources up by their tags
`

// Scratch is a stack in dir, with a backend of its own, that is thrown away with it.
func (p *CLI) Scratch(ctx context.Context, dir string, program pulumi.RunFunc) (auto.Stack, error) {
	command, err := p.Program(ctx)
	if err != nil {
		return auto.Stack{}, err
	}
	state := filepath.Join(dir, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		return auto.Stack{}, fmt.Errorf("make directory to look resources up: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(scratchProject), 0o600); err != nil {
		return auto.Stack{}, fmt.Errorf("write project to look resources up: %w", err)
	}
	env := maps.Clone(p.Env)
	env["PULUMI_BACKEND_URL"] = backend.ForCLI("file://" + state)
	env["PULUMI_CONFIG_PASSPHRASE"] = "nothing is stored"
	// Each call derives a key, and nobody wants to know its history or outputs.
	answers := &Answers{PulumiCommand: command, exists: true}
	ws, err := auto.NewLocalWorkspace(ctx, auto.WorkDir(dir), auto.Pulumi(answers), auto.EnvVars(env),
		auto.PulumiHome(p.Home), auto.Program(program), auto.SecretsProvider(passphrase))
	if err != nil {
		return auto.Stack{}, fmt.Errorf("open workspace to look resources up: %w", err)
	}
	p.selecting.Lock()
	defer p.selecting.Unlock()
	stack, err := auto.NewStack(ctx, "lookup", ws)
	if err != nil {
		return auto.Stack{}, p.Failure(ctx, Failed{Stack: "lookup", Operation: "open", Err: err})
	}
	return stack, nil
}

// settings are what a stack's settings file says about its secrets.
type settings struct {
	Provider string `yaml:"secretsprovider,omitempty"`
	Salt     string `yaml:"encryptionsalt,omitempty"`
}

// settingsIn are the settings in the text of a file that whoever proposes a change may write.
func settingsIn(text []byte) (has settings, err error) {
	if has.Provider, err = scalar.At(text, "secretsprovider"); err != nil {
		return has, err
	}
	has.Salt, err = scalar.At(text, "encryptionsalt")
	return has, err
}

// Aside makes a place for a stack in dir with a backend of its own, which Backend names, and the
// settings of the stack: as they are or, where nothing is to be decrypted, without its secrets.
func (p *CLI) Aside(dir, stack string, secrets bool) (Place, error) {
	if err := p.prepareWorkDir(); err != nil {
		return Place{}, err
	}
	return aside(dir, stack, p.Place(), []byte(project), secrets)
}

func aside(dir, stack string, of Place, project []byte, secrets bool) (Place, error) {
	state := Backend(dir)
	err := errors.Join(
		os.Mkdir(state, 0o700), os.Mkdir(filepath.Join(dir, stackConfigDir), 0o700),
		os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), project, 0o600),
	)
	if err != nil {
		return Place{}, err
	}
	at := Place{dir: dir, env: maps.Clone(of.env), secrets: passphrase, ownPlugins: of.ownPlugins}
	has, err := copySettings(of.settingsFile(stack), at.settingsFile(stack), secrets)
	if err != nil {
		return Place{}, fmt.Errorf("copy the settings of stack %s: %w", stack, err)
	}
	at.env["PULUMI_BACKEND_URL"] = backend.ForCLI("file://" + state)
	switch {
	case has.Provider != "":
		at.secrets = has.Provider
	case has.Salt == "":
		at.env["PULUMI_CONFIG_PASSPHRASE"] = "nothing is stored"
	}
	return at, nil
}

// Backend is the directory of the backend in the directory of a place of its own.
func Backend(dir string) string { return filepath.Join(dir, "state") }

// copySettings copies a settings file, and returns what the copy says; one that is not
// there says nothing.
func copySettings(from, to string, secrets bool) (settings, error) {
	var has settings
	most := int64(file.MostOfSettings)
	if !secrets { // it is decoded here, and not by the CLI alone
		most = file.MostText
	}
	text, err := file.Read(from, most)
	if errors.Is(err, fs.ErrNotExist) {
		return has, nil
	}
	if err == nil && !secrets {
		text, err = withoutSecrets(text)
	}
	if err == nil {
		has, err = settingsIn(text)
		err = errors.Join(os.WriteFile(to, text, 0o600), err)
	}
	return has, err
}

// withoutSecrets are the plain values of a settings file, and nothing else of it: neither what is
// encrypted nor what encrypts, and no environment of Pulumi Cloud, which may have secrets. A value with
// a secret somewhere in it is left out as a whole. The file is decoded before anything is chosen, as
// merges, tags and aliases hide what a key is.
func withoutSecrets(text []byte) ([]byte, error) {
	var all struct {
		Config map[string]any `yaml:"config"`
	}
	if err := yaml.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	maps.DeleteFunc(all.Config, func(_ string, v any) bool { return encrypted(v) })
	return yaml.Marshal(map[string]any{"config": all.Config})
}

// encrypted says whether a value of a settings file has a secret in it: an object whose only key is
// "secure". Source: isSecureValue in sdk/go/common/resource/config/object.go of github.com/pulumi/pulumi.
func encrypted(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		_, is := v["secure"]
		return is || slices.ContainsFunc(slices.Collect(maps.Values(v)), encrypted)
	case map[any]any: // with a key that is no text
		return true
	case []any:
		return slices.ContainsFunc(v, encrypted)
	}
	return false
}
