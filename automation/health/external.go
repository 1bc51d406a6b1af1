package health

import (
	"context"
	"time"

	"tombolo/automation/argocd"
	"tombolo/automation/kube"
)

// external is an Argo CD that others run. Its Applications are not ours to read: all
// that is looked at there is the cluster's registration.
type external struct{ argo }

func (e external) look(ctx context.Context, k kube.Cluster) (*platform, error) {
	own, err := (argocd.Hub{Client: k.Client}).Registration(ctx, e.cluster.Name)
	if err != nil {
		return nil, err
	}
	e.registrations = nil
	if own != nil {
		e.registrations = []argocd.Registration{*own}
	}
	return newPlatform(e, nil), nil
}

// fetch asks for nothing: when Argo CD looks at its repository is for its owners to say.
func (external) fetch(context.Context, kube.Cluster, time.Time, bool) error { return nil }

// missing says whether the hub knows the cluster.
func (e external) missing(*platform) []Check { return []Check{e.registered()} }

// releases are not known.
func (external) releases(context.Context, kube.Cluster, []string) ([]string, error) { return nil, nil }
