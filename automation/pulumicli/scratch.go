package pulumicli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"tombolo/automation/backend"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
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

// Aside makes a place for a stack in dir with a backend of its own, and the
// settings of the stack as they are.
func (p *CLI) Aside(dir, stack string) (Place, error) {
	if err := p.prepareWorkDir(); err != nil {
		return Place{}, err
	}
	state := filepath.Join(dir, "state")
	err := errors.Join(
		os.Mkdir(state, 0o700), os.Mkdir(filepath.Join(dir, stackConfigDir), 0o700),
		os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(project), 0o600),
	)
	if err != nil {
		return Place{}, err
	}
	has, err := copySettings(p.settingsFile(stack), filepath.Join(dir, stackConfigDir, filepath.Base(p.settingsFile(stack))))
	if err != nil {
		return Place{}, err
	}
	at := Place{dir: dir, env: maps.Clone(p.Env), secrets: passphrase}
	at.env["PULUMI_BACKEND_URL"] = backend.ForCLI("file://" + state)
	switch {
	case has.Provider != "":
		at.secrets = has.Provider
	case has.Salt == "":
		at.env["PULUMI_CONFIG_PASSPHRASE"] = "nothing is stored"
	}
	return at, nil
}

// copySettings copies a settings file, and returns what it says; one that is not
// there says nothing.
func copySettings(from, to string) (settings, error) {
	var has settings
	text, err := file.Read(from, file.MostOfSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return has, nil
	}
	if err == nil {
		has, err = settingsIn(text)
		err = errors.Join(os.WriteFile(to, text, 0o600), err)
	}
	return has, err
}
