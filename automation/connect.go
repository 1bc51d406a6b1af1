package automation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/stacks/handoff"
)

// requestTimeout bounds each call of the Kubernetes API.
const requestTimeout = 15 * time.Second

// reach makes clients for a cluster, by its core's outputs.
func (d *Driver) reach(ctx context.Context, c *config.Cluster) (cluster, handoff.Values, error) {
	values, err := d.Outputs(ctx, c)
	if err != nil {
		return cluster{}, values, err
	}
	k, err := d.dial(values)
	if err != nil {
		return cluster{}, values, fmt.Errorf("connect to cluster %s: %w", c.Name, err)
	}
	return k, values, nil
}

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

// restConfig reads a kubeconfig, with its credentials plugin in the driver's
// environment.
func (d *Driver) restConfig(kubeconfig []byte) (*rest.Config, error) {
	cfg, err := handoff.RESTConfig(kubeconfig, d.env)
	if missing := new(handoff.MissingPluginError); errors.As(err, &missing) {
		return nil, &fault.Precondition{What: missing.Error(), Err: missing}
	}
	if err != nil {
		return nil, err
	}
	cfg.Timeout = requestTimeout
	// The polls are ours to pace; throttling in the client would only hide them.
	cfg.QPS, cfg.Burst = 50, 100
	return cfg, nil
}
