package automation

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
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
	for _, find := range []func(Options) (string, error){
		func(o Options) (string, error) { return o.BackendURL, nil }, projectBackend, loggedIn,
	} {
		backend, err := find(o)
		if err != nil {
			return "", fmt.Errorf("find out which state backend is in use: %w", err)
		}
		if backend != "" {
			return identity(backend, o.WorkDir), nil
		}
	}
	return "", nil
}

// projectBackend is the one that the project's Pulumi.yaml names.
func projectBackend(o Options) (string, error) {
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
func loggedIn(Options) (string, error) {
	credentials, err := workspace.GetStoredCredentials()
	return credentials.Current, err
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
