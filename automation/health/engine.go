package health

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/automation/kube"
	"tombolo/config"
)

// engine is what verify has to know of a GitOps engine.
type engine interface {
	// name for people.
	name() string
	// look finds the engine's objects for the cluster that is verified; k is the
	// cluster that the engine is in.
	look(ctx context.Context, k kube.Cluster) (*platform, error)
	// fetch asks the engine to look at the platform's repository now.
	fetch(ctx context.Context, k kube.Cluster, at time.Time) error
	// repository is the object whose revision is the repository's.
	repository() ref
	// check judges one object.
	check(p *platform, o *unstructured.Unstructured) Check
	// missing are checks about what is not there.
	missing(p *platform) []Check
	// releases lists what the engine has for addons of the cluster.
	releases(ctx context.Context, k kube.Cluster, addons []string) ([]string, error)
	// needs lists what an object waits for.
	needs(o *unstructured.Unstructured) []ref
}

// engineOf is the engine that a cluster's file names.
func engineOf(c *config.Cluster) engine {
	if c.GitOps.Engine == config.ArgoCD {
		return argo{cluster: c}
	}
	return flux{}
}
