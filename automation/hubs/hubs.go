// Package hubs registers clusters with hubs, whose Argo CD manages them, and has hubs forget them:
// hubs that are clusters beside them, and hubs that others run.
package hubs

import (
	"tombolo/automation/backend"
	"tombolo/automation/connect"
	"tombolo/automation/kube"
	"tombolo/automation/operation"
	"tombolo/config"
)

// Hubs are those that clusters register with. All fields are required.
type Hubs struct {
	Backend   *backend.Backend
	Runner    *operation.Runner
	Connector connect.Connector
	// DialHub makes clients for a hub that others run.
	DialHub func(kubeconfig []byte) (kube.Cluster, error)
	// LoadHub loads the cluster file of a spoke's hub.
	LoadHub func(*config.Cluster) (*config.Cluster, error)
}
