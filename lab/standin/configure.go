package standin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/types/known/structpb"
)

// Configure gives this connection a configuration.
func (p *provider) Configure(ctx context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	config, err := p.config(req.Args)
	if err != nil {
		return nil, err
	}
	account := p.leadsTo(config)
	if problems := account.checkConfig(config); len(problems) > 0 {
		return nil, fmt.Errorf("%s", problems[0].Reason)
	}
	s := &session{cloud: account, Settings: config}
	s.Region, s.defaultTags = account.catalogue.Configuration.Session(config)
	s.Region = cmp.Or(s.Region, account.Region)
	if s.Caller, err = account.caller(config); err != nil {
		return nil, err
	}
	s.Caller = cmp.Or(s.Caller, p.caller)
	// The session outlives the request: it is as long as its connection.
	s.cancelled, s.cancel = context.WithCancelCause(context.Background())
	p.sessions.Store(connection(ctx), s)
	return &pulumirpc.ConfigureResponse{SupportsPreview: true}, nil
}

// CheckConfig validates a provider's configuration.
func (p *provider) CheckConfig(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	config, err := p.config(req.News)
	if err != nil {
		return nil, err
	}
	var out []*pulumirpc.CheckFailure
	for _, problem := range p.leadsTo(config).checkConfig(config) {
		out = append(out, &pulumirpc.CheckFailure{Property: problem.Path, Reason: problem.Reason})
	}
	return &pulumirpc.CheckResponse{Inputs: req.News, Failures: out}, nil
}

// DiffConfig compares configurations.
func (p *provider) DiffConfig(_ context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	olds, err := p.config(req.OldInputs)
	if err != nil {
		return nil, err
	}
	news, err := p.config(req.News)
	if err != nil {
		return nil, err
	}
	config := &Type{ForceNew: p.home.catalogue.Configuration.Replaces, schema: &schema{}}
	return config.diff(nil, olds, news, req.IgnoreChanges), nil
}

// config reads a configuration. Nested values arrive as JSON in a string.
func (p *provider) config(s *structpb.Struct) (Props, error) {
	config, err := Unmarshal(s, "the provider's configuration")
	if err != nil {
		return nil, err
	}
	fields := shapeOf(p.home.catalogue.Configuration.Settings)
	for key, value := range config {
		text, ok := value.(string)
		if t := fields.fields[key]; ok && t != nil && !isString(t) {
			var decoded any
			if json.Unmarshal([]byte(text), &decoded) == nil {
				config[key] = decoded
			}
		}
	}
	delete(config, "version")
	delete(config, "pluginDownloadURL")
	return config, nil
}

func isString(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.String
}

// caller is who a provider with a configuration acts as; "" for Options.Caller.
func (c *Cloud) caller(config Props) (string, error) {
	if c.catalogue.Configuration.Caller == nil {
		return "", nil
	}
	return c.catalogue.Configuration.Caller(c, config)
}

// checkConfig refuses settings that do not exist or have wrong values.
func (c *Cloud) checkConfig(config Props) []Problem {
	known := c.catalogue.Configuration
	problems := append(shapeOf(known.Settings).check("", config), known.Check(c, config)...)
	if _, err := c.caller(config); err != nil {
		problems = append(problems, Problem{Reason: err.Error()})
	}
	return problems
}

// ErrCancelled ends the requests of an engine that gave up.
var ErrCancelled = errors.New("the operation was cancelled")

// session is one configured provider. Engines share the process; each of their
// providers has a connection of its own, and that tells them apart.
type session struct {
	// cloud is the account that the configuration leads to.
	cloud       *Cloud
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
	s, ok := p.sessions.Load(connection(ctx))
	if !ok {
		return nil, fmt.Errorf("the %s stand-in has no configuration for this connection: the lab was restarted in the middle; run again", p.home.catalogue.Cloud)
	}
	return s.(*session), nil
}

// scope is a context that also ends when the session is cancelled.
func (s *session) scope(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.cancelled, func() { cancel(context.Cause(s.cancelled)) })
	return ctx, func() { stop(); cancel(nil) }
}

// provider speaks Pulumi's provider protocol for accounts of a cloud. A connection works in
// the account that its configuration leads to.
type provider struct {
	pulumirpc.UnimplementedResourceProviderServer
	// home is the account of the credentials.
	home     *Cloud
	accounts map[string]*Cloud
	// caller is who acts where the settings say nothing; "" for the one of the credentials.
	caller string
	// sessions are the configured providers, by connection.
	sessions sync.Map
}

// Organisation returns a provider for several accounts: home is that of the credentials,
// and the others are reached by roles in them.
func Organisation(home *Cloud, others ...*Cloud) pulumirpc.ResourceProviderServer {
	p := &provider{home: home, accounts: map[string]*Cloud{}}
	for _, other := range others {
		p.accounts[other.Account] = other
	}
	return p
}

// leadsTo is the account that a configuration leads to. A role of an account that is not
// there is refused as one that does not exist.
func (p *provider) leadsTo(config Props) *Cloud {
	return cmp.Or(p.accounts[p.home.catalogue.Configuration.Account(config)], p.home)
}
