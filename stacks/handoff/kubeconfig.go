package handoff

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"tombolo/config"
	"tombolo/internal/awscli"
)

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
