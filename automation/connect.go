package automation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"tombolo/stacks/handoff"
)

// requestTimeout bounds each call of the Kubernetes API.
const requestTimeout = 15 * time.Second

// connect makes clients from core's outputs.
func (d *Driver) connect(values handoff.Values) (cluster, error) {
	kubeconfig, err := values.Kubeconfig()
	if err != nil {
		return cluster{}, err
	}
	cfg, err := d.restConfig(kubeconfig)
	if err != nil {
		return cluster{}, err
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return cluster{}, fmt.Errorf("make Kubernetes client: %w", err)
	}
	disco, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return cluster{}, fmt.Errorf("make Kubernetes client: %w", err)
	}
	return cluster{dynamic: client, mapper: func() (meta.RESTMapper, error) {
		groups, err := restmapper.GetAPIGroupResources(disco)
		if err != nil {
			return nil, err
		}
		return restmapper.NewDiscoveryRESTMapper(groups), nil
	}}, nil
}

// restConfig reads a kubeconfig, and has its exec plugin run in the driver's
// environment: client-go would look for it in this process's PATH alone.
func (d *Driver) restConfig(kubeconfig []byte) (*rest.Config, error) {
	cfg, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	cfg.Timeout = requestTimeout
	// The polls are ours to pace; throttling in the client would only hide them.
	cfg.QPS, cfg.Burst = 50, 100
	plugin := cfg.ExecProvider
	if plugin == nil {
		return cfg, nil
	}
	plugin.InteractiveMode = api.NeverExecInteractiveMode
	for _, kv := range environ(d.env) {
		name, value, _ := strings.Cut(kv, "=")
		// The state's passphrase and the like are no business of the plugin's.
		if strings.HasPrefix(name, "PULUMI_") || slices.ContainsFunc(plugin.Env, func(e api.ExecEnvVar) bool { return e.Name == name }) {
			continue
		}
		plugin.Env = append(plugin.Env, api.ExecEnvVar{Name: name, Value: value})
	}
	if strings.ContainsRune(plugin.Command, '/') {
		return cfg, nil
	}
	path, err := lookPath(plugin.Command, d.opts.lookupEnv("PATH"))
	if err != nil {
		return nil, &PreconditionError{
			What:   fmt.Sprintf("%s, which gets tokens for the cluster, is not in PATH", plugin.Command),
			Remedy: fmt.Sprintf("install %s, or set PATH", plugin.Command),
			Err:    err,
		}
	}
	plugin.Command = path
	return cfg, nil
}
