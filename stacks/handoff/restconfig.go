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
	"sigs.k8s.io/yaml"

	"tombolo/config"
	"tombolo/internal/awscli"
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

type kubeconfig struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	CurrentContext string         `json:"current-context"`
	Clusters       []namedCluster `json:"clusters"`
	Contexts       []namedContext `json:"contexts"`
	Users          []namedUser    `json:"users"`
}

type namedCluster struct {
	Name    string `json:"name"`
	Cluster struct {
		Server string `json:"server"`
		CA     string `json:"certificate-authority-data"`
	} `json:"cluster"`
}

type namedContext struct {
	Name    string `json:"name"`
	Context struct {
		Cluster string `json:"cluster"`
		User    string `json:"user"`
	} `json:"context"`
}

type namedUser struct {
	Name string `json:"name"`
	User struct {
		Exec  *execPlugin `json:"exec,omitempty"`
		Token string      `json:"token,omitempty"`
	} `json:"user"`
}

type execPlugin struct {
	APIVersion      string   `json:"apiVersion"`
	Command         string   `json:"command"`
	Args            []string `json:"args"`
	InteractiveMode string   `json:"interactiveMode"`
}

// execPlugins are the programs that get a token for a cluster, by the cloud it is
// on, with the credentials of a cluster file.
var execPlugins = map[string]func(cluster, region string, by config.Cloud) execPlugin{
	string(config.AWS): awsPlugin, string(config.Azure): azurePlugin,
}

// execPluginVersion is that of the protocol between a client and a program, which never asks
// a person.
const (
	execPluginVersion = "client.authentication.k8s.io/v1beta1"
	neverInteractive  = "Never"
)

// awsPlugin is the AWS CLI, whose tokens last for 15 minutes.
func awsPlugin(cluster, region string, by config.Cloud) execPlugin {
	plugin := execPlugin{APIVersion: execPluginVersion, InteractiveMode: neverInteractive}
	plugin.Command, plugin.Args = awscli.Command(by, "eks", "get-token", "--cluster-name", cluster, "--region", region, "--output", "json")
	return plugin
}

// aksServer is the application of Entra that all AKS clusters with Entra are. Source:
// https://learn.microsoft.com/azure/aks/kubelogin-authentication
const aksServer = "6dae42f8-4368-4678-94ff-3960e28e3630"

// azurePlugin is kubelogin. Without --login, its variable AAD_LOGIN_METHOD says how it signs
// in: Azure's own kubeconfig asks for a code on a device, at which a pipeline waits forever.
// Source: https://azure.github.io/kubelogin/cli/get-token.html
func azurePlugin(_, _ string, by config.Cloud) execPlugin {
	return execPlugin{
		APIVersion: execPluginVersion, InteractiveMode: neverInteractive, Command: "kubelogin",
		Args: []string{"get-token", "--server-id", aksServer, "--environment", "AzurePublicCloud", "--tenant-id", by.Tenant},
	}
}

// Kubeconfig renders a kubeconfig whose credentials come from a program of the
// cloud's, as whom the cluster file says: by its profile and its role, or of its tenant. The
// certificate authority is base64 of PEM.
func Kubeconfig(cloud, cluster, region, endpoint, ca string, by config.Cloud) ([]byte, error) {
	if cluster == "" || region == "" || endpoint == "" || ca == "" {
		return nil, fmt.Errorf("kubeconfig of cluster %q: name, region, endpoint and certificate authority are required", cluster)
	}
	newPlugin, ok := execPlugins[cloud]
	if !ok {
		return nil, fmt.Errorf("kubeconfig of cluster %q: no program is known that gets tokens on cloud %q", cluster, cloud)
	}
	if cloud == string(config.Azure) && by.Tenant == "" {
		return nil, fmt.Errorf("kubeconfig of cluster %q: the tenant of Entra is required: set cloud.tenant", cluster)
	}
	plugin := newPlugin(cluster, region, by)
	u := namedUser{Name: cluster}
	u.User.Exec = &plugin
	return render(cluster, endpoint, ca, u)
}

// TokenKubeconfig renders a kubeconfig with a bearer token, which is a secret by that. It
// starts no program. The certificate authority is base64 of PEM.
func TokenKubeconfig(cluster, endpoint, ca, token string) ([]byte, error) {
	if cluster == "" || endpoint == "" || ca == "" || token == "" {
		return nil, fmt.Errorf("kubeconfig of cluster %q: name, endpoint, certificate authority and token are required", cluster)
	}
	u := namedUser{Name: cluster}
	u.User.Token = token
	return render(cluster, endpoint, ca, u)
}

func render(cluster, endpoint, ca string, u namedUser) ([]byte, error) {
	c := namedCluster{Name: cluster}
	c.Cluster.Server, c.Cluster.CA = endpoint, ca
	x := namedContext{Name: cluster}
	x.Context.Cluster, x.Context.User = cluster, cluster
	text, err := yaml.Marshal(kubeconfig{
		APIVersion: "v1", Kind: "Config", CurrentContext: cluster,
		Clusters: []namedCluster{c}, Contexts: []namedContext{x}, Users: []namedUser{u},
	})
	if err != nil {
		return nil, fmt.Errorf("render kubeconfig of cluster %s: %w", cluster, err)
	}
	return text, nil
}
