package standin

import (
	"context"
	"errors"
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/peer"
)

// ErrCancelled ends the requests of an engine that gave up.
var ErrCancelled = errors.New("the operation was cancelled")

// session is one configured provider. Engines share the process; each of their
// providers has a connection of its own, and that tells them apart.
type session struct {
	Region      string
	defaultTags map[string]string
	// Caller is who acts, "" for the one of the credentials.
	Caller string
	// Settings are the provider's. Nobody's own tools have any.
	Settings Props
	// cancelled is done when the engine gave up.
	cancelled context.Context
	cancel    context.CancelCauseFunc
}

func connection(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr.String()
	}
	return ""
}

func (p *provider) session(ctx context.Context) (*session, error) {
	s, ok := p.cloud.sessions.Load(connection(ctx))
	if !ok {
		return nil, fmt.Errorf("the %s stand-in has no configuration for this connection: the lab was restarted in the middle; run again", p.cloud.catalogue.Cloud)
	}
	return s.(*session), nil
}

// scope is a context that also ends when the session is cancelled.
func (s *session) scope(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.cancelled, func() { cancel(context.Cause(s.cancelled)) })
	return ctx, func() { stop(); cancel(nil) }
}

// provider speaks Pulumi's provider protocol for a Cloud.
type provider struct {
	pulumirpc.UnimplementedResourceProviderServer
	cloud *Cloud
}
