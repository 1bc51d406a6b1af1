package pulumicli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/automation/fault"
	"tombolo/internal/file"
)

// passphrase is the secrets provider that is none's but the CLI's own.
const passphrase = "passphrase"

// ShareSalt has a stack that will be made encrypt its secrets with the key of another, where
// the CLI encrypts with a passphrase: the CLI derives a key once in each of its runs, which takes
// it a quarter of a second, and a stack that reads the other's outputs needs both keys.
// Nothing happens where the one has no salt in its settings, or the other has settings.
func (p *CLI) ShareSalt(of, with string) error {
	if p.Secrets != "" && p.Secrets != passphrase || strings.HasPrefix(p.Env["PULUMI_BACKEND_URL"], "http") {
		return nil // Pulumi Cloud encrypts by itself
	}
	if err := p.prepareWorkDir(); err != nil {
		return err
	}
	text, err := file.Read(p.settingsFile(of), file.MostOfSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var has settings
	if err == nil {
		has, err = settingsIn(text)
	}
	if err != nil {
		return fmt.Errorf("read the settings of stack %s: %w", of, err)
	}
	if has.Salt == "" || has.Provider != "" {
		return nil
	}
	text, err = yaml.Marshal(settings{Salt: has.Salt})
	if err == nil {
		err = file.Create(p.settingsFile(with), text, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write the settings of stack %s: %w", with, err)
	}
	return nil
}

// settingsFile is where a stack has its settings.
func (p *CLI) settingsFile(stack string) string {
	return filepath.Join(p.WorkDir, stackConfigDir, "Pulumi."+stack+".yaml")
}

// refuseEmptyPassphrase refuses to make a stack with an empty passphrase, for which Pulumi takes a
// variable that is set to nothing, as CI does of a secret that is not there. Source: readPassphrase
// in pkg/secrets/passphrase/manager.go of github.com/pulumi/pulumi.
func (p *CLI) refuseEmptyPassphrase(stack string, at Place) error {
	if at.secrets != "" && at.secrets != passphrase || strings.HasPrefix(lookup(at, "PULUMI_BACKEND_URL"), "http") {
		return nil
	}
	value, set := at.env["PULUMI_CONFIG_PASSPHRASE"]
	if !set {
		value, set = os.LookupEnv("PULUMI_CONFIG_PASSPHRASE")
	}
	if !set || value != "" || lookup(at, "PULUMI_CONFIG_PASSPHRASE_FILE") != "" {
		return nil
	}
	var has settings
	text, err := file.Read(filepath.Join(at.dir, stackConfigDir, "Pulumi."+stack+".yaml"), file.MostOfSettings)
	if err == nil {
		has, err = settingsIn(text)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the settings of stack %s: %w", stack, err)
	}
	if has.Provider != "" && has.Provider != passphrase {
		return nil
	}
	return &fault.Error{
		What:   fmt.Sprintf("make stack %s: PULUMI_CONFIG_PASSPHRASE is set to an empty passphrase, with which anybody decrypts its secrets", stack),
		Remedy: "set it to a passphrase, or encrypt by a key service with --secrets-provider",
	}
}

// lookup is a variable of a place; "" where it has none.
func lookup(at Place, name string) string {
	if value, ok := at.env[name]; ok {
		return value
	}
	return os.Getenv(name)
}
