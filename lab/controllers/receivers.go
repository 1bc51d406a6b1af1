package controllers

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/internal/names"
)

// Receivers are the addresses at which engines hear of pushes, of the clusters with the Secret
// names.PlatformWebhook: those that the Git host was told of. The token is the host's.
func (a *Agent) Receivers(ctx context.Context, token string) (addresses []string, failed error) {
	for _, w := range a.watches.All() {
		for _, p := range w.plans() {
			port, address := p.receiver(token)
			if port == "" {
				continue
			}
			_, err := w.client.CoreV1().Secrets(p.namespace).Get(ctx, names.PlatformWebhook, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				continue
			}
			at, errPort := w.o.Ports.Get(p.process + port)
			failed = errors.Join(failed, err, errPort)
			addresses = append(addresses, address(at))
		}
	}
	return addresses, failed
}

// plans are those of the controllers that run.
func (w *watch) plans() []plan {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []plan
	for _, r := range w.running {
		out = append(out, r.plan)
	}
	return out
}

// receiver is the end of the name of the port at which a controller hears of pushes, "" for none, and
// the address there.
func (p plan) receiver(token string) (port string, at func(port int) string) {
	path, scheme := names.ArgoCDWebhook, "http://"
	switch p.tool {
	case notificationController:
		port, path = "-receiver", names.FluxWebhook(token)
	case argocdServer:
		port, scheme = "-main", "https://"
	case applicationSetController:
		port = "-webhook"
	}
	return port, func(port int) string { return scheme + address(port) + path }
}
