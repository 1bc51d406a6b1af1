package handoff

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// MissingPluginError says that the program that a kubeconfig's credentials come
// from is not in PATH.
type MissingPluginError struct {
	// Command is the program's name.
	Command string
}

func (e *MissingPluginError) Error() string {
	return fmt.Sprintf("%s, which gets tokens for the cluster, is not in PATH; install %s, or set PATH", e.Command, e.Command)
}

// RESTConfig reads a kubeconfig, and has its credentials plugin run in env:
// client-go looks for it in this process's PATH, and starts it in this process's
// environment. What env leaves out is this process's; it may be nil. It fails
// with a *MissingPluginError when the plugin is in none of PATH's directories.
func RESTConfig(kubeconfig []byte, env map[string]string) (*rest.Config, error) {
	cfg, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { return stays{rt} })
	plugin := cfg.ExecProvider
	if plugin == nil {
		return cfg, nil
	}
	plugin.InteractiveMode = api.NeverExecInteractiveMode
	addEnvironment(plugin, env)
	if strings.ContainsRune(plugin.Command, filepath.Separator) {
		return cfg, nil
	}
	path, ok := env["PATH"]
	if !ok {
		path = os.Getenv("PATH")
	}
	file, ok := lookIn(path, plugin.Command)
	if !ok {
		return nil, &MissingPluginError{Command: plugin.Command}
	}
	plugin.Command = file
	return cfg, nil
}

// stays refuses redirects: client-go's own transports, which are around this one, would send
// the credentials to wherever they lead. The Kubernetes API has none for what is read here.
type stays struct{ http.RoundTripper }

func (s stays) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err != nil || response.StatusCode/100 != 3 || response.StatusCode == http.StatusNotModified {
		return response, err
	}
	response.Body.Close()
	return nil, fmt.Errorf("the Kubernetes API redirects to %s: the credentials are not sent there; look at the cluster's address", response.Header.Get("Location"))
}

// addEnvironment gives the plugin what its kubeconfig does not set, but for the
// state's passphrase and the like, which are no business of its own.
func addEnvironment(plugin *api.ExecConfig, env map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		set := slices.ContainsFunc(plugin.Env, func(e api.ExecEnvVar) bool { return e.Name == name })
		if set || strings.HasPrefix(name, "PULUMI_") {
			continue
		}
		plugin.Env = append(plugin.Env, api.ExecEnvVar{Name: name, Value: env[name]})
	}
}

// lookIn finds a program in a PATH that need not be this process's own.
func lookIn(path, command string) (string, bool) {
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			continue
		}
		file, err := filepath.Abs(filepath.Join(dir, command))
		if err != nil {
			continue
		}
		if _, err := exec.LookPath(file); err == nil {
			return file, true
		}
	}
	return "", false
}
