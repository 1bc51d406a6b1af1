package kube

import (
	"fmt"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

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
	web, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return Cluster{}, fmt.Errorf("make Kubernetes client: %w", err)
	}
	client, err := dynamic.NewForConfigAndClient(cfg, web)
	if err != nil {
		return Cluster{}, fmt.Errorf("make Kubernetes client: %w", err)
	}
	discover, err := discoverer(cfg, web)
	if err != nil {
		return Cluster{}, fmt.Errorf("make Kubernetes client: %w", err)
	}
	return Cluster{Client: client, Discover: discover}, nil
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
