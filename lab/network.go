package lab

import (
	"context"
	"net/http"
)

// Cut makes a cluster's Kubernetes API silent, as a network does that loses
// everything: connections are taken and nothing is answered.
func (l *Lab) Cut(ctx context.Context, cluster string) error {
	return l.daemon().Ask(ctx, http.MethodPost, "/cut", clusterRequest{cluster}, nil)
}

// Restore ends what Cut began.
func (l *Lab) Restore(ctx context.Context, cluster string) error {
	return l.daemon().Ask(ctx, http.MethodPost, "/restore", clusterRequest{cluster}, nil)
}

// Restart ends a cluster's API server, which refuses connections from then on,
// and returns when it serves again, with all that it had.
func (l *Lab) Restart(ctx context.Context, cluster string) error {
	return l.daemon().Call(ctx, http.MethodPost, "/restart", clusterRequest{cluster}, nil)
}

type clusterRequest struct {
	Cluster string `json:"cluster"`
}

// serveNetwork answers Cut, Restore and Restart.
func (d *daemon) serveNetwork(mux *http.ServeMux) {
	done := struct{}{}
	handle(mux, "POST /cut", func(_ context.Context, r clusterRequest) (struct{}, error) {
		return done, d.clusters.planes.Cut(r.Cluster)
	})
	handle(mux, "POST /restore", func(_ context.Context, r clusterRequest) (struct{}, error) {
		return done, d.clusters.planes.Restore(r.Cluster)
	})
	handle(mux, "POST /restart", func(ctx context.Context, r clusterRequest) (struct{}, error) {
		return done, d.clusters.planes.Restart(ctx, r.Cluster)
	})
}
