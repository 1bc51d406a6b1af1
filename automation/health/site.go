package health

import (
	"context"
	"fmt"
	"time"

	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/stacks/handoff"
)

// Observer is told what is waited for.
type Observer interface {
	// Waiting says what is waited for now; "" when it is over.
	Waiting(cluster, what string)
	// Note reports something that people should know.
	Note(cluster, message string)
}

// Site is a cluster to look at, and where its engine is.
type Site struct {
	// Cluster is its file, which names the engine.
	Cluster *config.Cluster
	// Own is the cluster's API, and At that of the cluster that the engine is in:
	// a spoke's is its hub.
	Own, At kube.Cluster
	// Values are what core has handed off.
	Values handoff.Values
	// Observer of what is waited for.
	Observer Observer
}

// Fetch asks the engine to look at the platform's repository now: what was
// pushed a moment ago is what should be verified. Without the permission to ask
// there is a note, and what the engine has fetched by itself is verified.
func (s Site) Fetch(ctx context.Context) {
	e := engineOf(s.Cluster)
	if err := e.fetch(ctx, s.At, time.Now(), false); err != nil && ctx.Err() == nil {
		s.Observer.Note(s.Cluster.Name, fmt.Sprintf("verifying what %s fetched last, as it cannot be asked to fetch now: %v", e.name(), err))
	}
}

// engineOf is the engine that a cluster's file names.
func engineOf(c *config.Cluster) engine {
	if c.HasExternalHub() {
		return external{argo{cluster: c}}
	}
	if c.GitOps.Engine == config.ArgoCD {
		return argo{cluster: c}
	}
	return flux{others: c.GitOps.TakeOver, monitoring: c.Monitoring()}
}
