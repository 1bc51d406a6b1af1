package pulumicli

import (
	"cmp"
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
	at := p.Place()
	if !at.byPassphrase() {
		return nil
	}
	if err := p.prepareWorkDir(); err != nil {
		return err
	}
	has, err := at.settings(of)
	if err != nil || has.Salt == "" || has.Provider != "" {
		return err
	}
	text, err := yaml.Marshal(settings{Salt: has.Salt})
	if err == nil {
		err = file.Create(at.settingsFile(with), text, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write the settings of stack %s: %w", with, err)
	}
	return nil
}

// refuseEmptyPassphrase refuses to make a stack with an empty passphrase, for which Pulumi takes a
// variable that is set to nothing, as CI does of a secret that is not there. Source: readPassphrase
// in pkg/secrets/passphrase/manager.go of github.com/pulumi/pulumi.
func (at Place) refuseEmptyPassphrase(stack string) error {
	value, set := at.lookup("PULUMI_CONFIG_PASSPHRASE")
	inFile, _ := at.lookup("PULUMI_CONFIG_PASSPHRASE_FILE")
	if !set || value != "" || inFile != "" || !at.byPassphrase() {
		return nil
	}
	has, err := at.settings(stack)
	if err != nil || has.Provider != "" && has.Provider != passphrase {
		return err
	}
	return &fault.Error{
		What:   fmt.Sprintf("make stack %s: PULUMI_CONFIG_PASSPHRASE is set to an empty passphrase, with which anybody decrypts its secrets", stack),
		Remedy: "set it to a passphrase, or encrypt by a key service with --secrets-provider",
	}
}

// byPassphrase says that new stacks are encrypted with a passphrase. Pulumi Cloud encrypts by itself.
func (at Place) byPassphrase() bool {
	backend, _ := at.lookup("PULUMI_BACKEND_URL")
	return (at.secrets == "" || at.secrets == passphrase) && !strings.HasPrefix(backend, "http")
}

// settingsFile is where a stack has its settings.
func (at Place) settingsFile(stack string) string {
	return filepath.Join(cmp.Or(at.settingsDir, filepath.Join(at.dir, stackConfigDir)), "Pulumi."+stack+".yaml")
}

// settings are those of a stack; a file that is not there says nothing.
func (at Place) settings(stack string) (has settings, err error) {
	text, err := at.settingsText(stack)
	if err != nil || len(text) == 0 {
		return has, err
	}
	if has, err = settingsIn(text); err != nil {
		return has, fmt.Errorf("read the settings of stack %s: %w", stack, err)
	}
	return has, nil
}

// settingsText is the file with the settings of a stack; nothing of one that is not there.
func (at Place) settingsText(stack string) ([]byte, error) {
	text, err := file.Read(at.settingsFile(stack), file.MostOfSettings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the settings of stack %s: %w", stack, err)
	}
	return text, nil
}

// lookup looks up a variable as os.LookupEnv does.
func (at Place) lookup(name string) (string, bool) {
	if value, ok := at.env[name]; ok {
		return value, true
	}
	return os.LookupEnv(name)
}
