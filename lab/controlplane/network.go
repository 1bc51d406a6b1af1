package controlplane

import (
	"context"
	"fmt"
	"strings"
)

// Cut makes a cluster's API silent, as a network does that loses everything:
// connections are taken and nothing is answered. Restore ends it.
func (m *Manager) Cut(cluster string) error {
	defer m.lock(cluster)()
	if err := m.o.Supervisor.Pause(apiServer(cluster)); err != nil {
		return fmt.Errorf("cut cluster %s off: %w", cluster, err)
	}
	return nil
}

// Restore lets a cluster's API answer again. What was sent to it meanwhile, and
// not given up, arrives.
func (m *Manager) Restore(cluster string) error {
	defer m.lock(cluster)()
	if err := m.o.Supervisor.Resume(apiServer(cluster)); err != nil {
		return fmt.Errorf("restore cluster %s: %w", cluster, err)
	}
	return nil
}

// Restart ends a cluster's API server, which refuses connections from then on,
// and returns when it serves again. Its data stays.
func (m *Manager) Restart(ctx context.Context, cluster string) error {
	defer m.lock(cluster)()
	m.mu.Lock()
	spec, known := m.specs[cluster]
	m.mu.Unlock()
	if !known || spec.ID == "" && spec.Version == "" {
		return fmt.Errorf("restart the API server of cluster %s: there is no such cluster", cluster)
	}
	m.o.Supervisor.Stop(apiServer(cluster))
	if _, err := m.start(ctx, spec); err != nil {
		return fmt.Errorf("restart the API server of cluster %s: %w", cluster, err)
	}
	if err := m.establish(ctx, cluster); err != nil {
		return fmt.Errorf("restart the API server of cluster %s: %w", cluster, err)
	}
	return nil
}

func apiServer(cluster string) string { return cluster + "-kube-apiserver" }

// privateDomain is of the names of private endpoints. No resolver knows it, by RFC 6761.
const privateDomain = ".k8s.lab.test"

// PrivateHost is the name of a cluster's private endpoint, which its API has a certificate for.
func PrivateHost(cluster string) string { return strings.ToLower(cluster) + privateDomain }

// ClusterOf is the cluster with the private endpoint of a name.
func ClusterOf(host string) (string, bool) { return strings.CutSuffix(host, privateDomain) }
