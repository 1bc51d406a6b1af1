package kube

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"tombolo/internal/debuglog"
	"tombolo/stacks/handoff"
)

// requestTimeout bounds each call of the Kubernetes API.
const requestTimeout = 15 * time.Second

// Connect makes clients from core's outputs. The kubeconfig's credentials plugin
// runs with env in addition to this process's environment; when it is not
// installed, the error is a *handoff.MissingPluginError.
func Connect(values handoff.Values, env map[string]string) (Cluster, error) {
	kubeconfig, err := values.Kubeconfig()
	if err != nil {
		return Cluster{}, err
	}
	return ConnectWith(kubeconfig, env)
}

// ConnectWith makes clients with a kubeconfig, as Connect does.
func ConnectWith(kubeconfig []byte, env map[string]string) (Cluster, error) {
	cfg, err := restConfig(kubeconfig, env)
	if err != nil {
		return Cluster{}, err
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return Cluster{}, fmt.Errorf("make Kubernetes client: %w", err)
	}
	disco, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return Cluster{}, fmt.Errorf("make Kubernetes client: %w", err)
	}
	return Cluster{Client: client, Discover: func() (meta.RESTMapper, error) {
		groups, err := restmapper.GetAPIGroupResources(disco)
		if err != nil {
			return nil, err
		}
		return restmapper.NewDiscoveryRESTMapper(groups), nil
	}}, nil
}

func restConfig(kubeconfig []byte, env map[string]string) (*rest.Config, error) {
	cfg, err := handoff.RESTConfig(kubeconfig, env)
	if err != nil {
		return nil, err
	}
	cfg.Timeout = requestTimeout
	cfg.Wrap(debuglog.Transport)
	// The callers pace their polls; throttling in the client would only hide them.
	cfg.QPS, cfg.Burst = 50, 100
	return cfg, nil
}
