package automation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"
)

// Backend is the URL of the state that a driver with these options works on, as
// the CLI finds it and without starting one. A directory has its absolute path,
// and a password is left out: the URL tells backends from each other, and opens
// none. It is "" when the CLI is logged in nowhere.
func (o Options) Backend() (string, error) {
	if err := o.setDefaults(); err != nil {
		return "", err
	}
	backend, err := o.backend()
	if err != nil || backend == "" {
		return "", err
	}
	return identity(backend, o.WorkDir), nil
}

// backend is the URL as it was given; "" when the CLI is logged in nowhere.
func (o *Options) backend() (string, error) {
	for _, find := range []func(*Options) (string, error){
		func(o *Options) (string, error) { return o.BackendURL, nil }, projectBackend, loggedIn,
	} {
		backend, err := find(o)
		if err != nil {
			return "", fmt.Errorf("find out which state backend is in use: %w", err)
		}
		if backend != "" {
			return backend, nil
		}
	}
	return "", nil
}

// projectBackend is the one that the project's Pulumi.yaml names.
func projectBackend(o *Options) (string, error) {
	text, err := os.ReadFile(filepath.Join(o.Root, "Pulumi.yaml"))
	if err != nil {
		return "", err
	}
	var project struct {
		Backend struct{ URL string }
	}
	if err := yaml.Unmarshal(text, &project); err != nil {
		return "", fmt.Errorf("read Pulumi.yaml: %w", err)
	}
	return project.Backend.URL, nil
}

// loggedIn is the one that `pulumi login` has chosen.
func loggedIn(o *Options) (string, error) {
	dir, err := o.credentialsDir()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(dir, "credentials.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var credentials struct {
		Current string `json:"current"`
	}
	if err := json.Unmarshal(text, &credentials); err != nil {
		return "", fmt.Errorf("read the credentials of pulumi in %s: %w", dir, err)
	}
	return credentials.Current, nil
}

// credentialsDir is where the CLI remembers where it is logged in.
func (o *Options) credentialsDir() (string, error) {
	if dir := o.lookupEnv("PULUMI_CREDENTIALS_PATH"); dir != "" {
		return dir, nil
	}
	return o.pulumiHome()
}

// pulumiHome is where the CLI keeps plugins and credentials.
func (o *Options) pulumiHome() (string, error) {
	if o.PulumiHome != "" {
		return o.PulumiHome, nil
	}
	user, err := os.UserHomeDir()
	return filepath.Join(user, ".pulumi"), err
}

// identity of a backend, from its URL.
func identity(backend, workDir string) string {
	if dir, ok := localDir(backend, workDir); ok {
		return "file://" + filepath.ToSlash(filepath.Clean(dir))
	}
	parsed, err := url.Parse(backend)
	if err != nil {
		return backend
	}
	if parsed.User != nil {
		parsed.User = url.User(parsed.User.Username())
	}
	return parsed.String()
}
